"""Values as Slurm's commands print them: moments, lengths of time, sizes, states, job ids.

Source: ``slurm_make_time_str``, ``secs2time_str``, ``mins2time_str`` of ``src/common/parse_time.c``,
``convert_num_unit`` of ``src/common/slurm_protocol_api.c``, ``job_state_string`` of
``src/common/slurm_protocol_defs.c``; sacct(1), squeue(1), scontrol(1), Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_AMOUNT

NO_TIME: Final = -1
"""A moment that never came, or that nobody knows."""
NOTHING: Final = frozenset(("", "(null)", "N/A", "n/a", "None", "NONE", "Unknown", "UNKNOWN", "INVALID", "NOT_SET"))
"""What stands where there is nothing."""
UNLIMITED: Final = -1
BY_PARTITION: Final = -2
"""A time limit that is not the job's own, or that is not known."""

WHOLE_MAX: Final = 2**32 - 1
"""Job ids, priorities and moments are of 32 bits, or stay below."""
UNKNOWN_S: Final = WHOLE_MAX - 1
"""From here on a moment is none: NO_VAL and INFINITE of ``slurm.h``."""
NO_AMOUNTS: Final = frozenset((2**64 - 1, 2**64 - 2))
"""``INFINITE64`` and ``NO_VAL64``: energy that nobody measures."""
COUNT_MAX: Final = 2**33
"""CPUs, nodes and devices that anybody has, and the MiB of :data:`MAX_AMOUNT` bytes."""

_EPOCH: Final = datetime(1970, 1, 1)
_LENGTH: Final = re.compile(r"(-?)(?:(\d+)-)?(?:(\d+):)?(?:(\d+):)?(-?\d+)(?:\.\d+)?\Z", re.ASCII)
_DIGITS_MAX: Final = 10
_AMOUNT_DIGITS: Final = 30
_NOT_MEASURED: Final = frozenset(map(str, NO_AMOUNTS))
_COUNTED: Final = ("cpu", "node", "gres/", "license/")
_WHOLE: Final = re.compile(r"-?\d{1,20}\Z", re.ASCII)
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)[iB]*([nc]?)\Z", re.ASCII | re.IGNORECASE)
_ID: Final = re.compile(r"(\d+)(?:_(?:(\d+)|\[([^\]]*)\]?))?(?:\+(\d+))?(?:\.(\S+))?\Z", re.ASCII)
_MIB: Final = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3, "E": 1024**4}
_COUNT: Final = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4, "P": 1024**5, "E": 1024**6}


def moment(text: str) -> int:
    """Seconds since 1970 on the clock that the command used; :data:`NO_TIME` for none. Raises InputError.

    >>> moment("1970-01-02T00:00:10"), moment("1796000455"), moment("Unknown")
    (86410, 1796000455, -1)
    """
    if text in NOTHING:
        return NO_TIME
    if text.isascii() and text.isdigit():
        seconds = whole(text)
        return NO_TIME if seconds == 0 or seconds >= UNKNOWN_S else seconds
    try:
        seconds = int((datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH).total_seconds())
    except ValueError:
        raise InputError("not a time", found=text, allowed="YYYY-MM-DDTHH:MM:SS, seconds, Unknown, None") from None
    if not 0 <= seconds < UNKNOWN_S:
        raise InputError("not a time", found=text, allowed="of 1970 to 2105")
    return seconds


def whole(text: str) -> int:
    """A whole number, below 0 or not, of at most 32 bits. Raises InputError.

    >>> whole("07"), whole("-5")
    (7, -5)
    """
    if _WHOLE.match(text) is None or abs(int(text)) > WHOLE_MAX:
        raise InputError("not a number", found=text, allowed=f"whole numbers up to {WHOLE_MAX}")
    return int(text)


def length(text: str) -> int | None:
    """Seconds of a length of time: ``[days-][hours:]minutes:seconds``; None for none. Below 0 as it is written.

    >>> [length(text) for text in ("1-02:00:00", "0:27", "00:00:04.512", "-00:00:05", "INVALID", "UNLIMITED")]
    [93600, 27, 4, -5, None, None]
    """
    if text in NOTHING or text.upper() in ("UNLIMITED", "PARTITION_LIMIT"):
        return None
    found = _LENGTH.match(text)
    if found is None or any(part is not None and len(part) > _DIGITS_MAX for part in found.groups()):
        raise InputError("not a length of time", found=text, allowed="[D-]HH:MM:SS")
    sign, days, first, second, last = found.groups()
    hours, minutes = (first, second) if second is not None else (None, first)
    if days is not None and second is None:  # 1-02:03 does not stand in any output, but days and hours do
        hours, minutes = first or last, last if first else "0"
        last = "0"
    total = int(days or 0) * 86_400 + int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(last)
    return -total if sign else total


def limit_s(text: str) -> int:
    """Seconds of a time limit, :data:`UNLIMITED`, or :data:`BY_PARTITION`.

    >>> limit_s("10:00"), limit_s("UNLIMITED"), limit_s("Partition_Limit")
    (600, -1, -2)
    """
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return UNLIMITED
    seconds = length(text)
    return BY_PARTITION if seconds is None else max(0, seconds)


def size_mb(text: str) -> int | None:
    """MiB of a size, rounded up; None for none. An ``n`` or ``c`` behind it (a node's, a CPU's) is not looked at.

    >>> size_mb("4000M"), size_mb("62.50G"), size_mb("2Gn"), size_mb("512K"), size_mb("N/A")
    (4000, 64000, 2048, 1, None)
    """
    if text in NOTHING:
        return None
    found = _SIZE.match(text)
    if found is None:
        raise InputError("not a size", found=text, allowed="for instance 4000M, 62.50G")
    return _within(COUNT_MAX, -int(-float(found[1][:_AMOUNT_DIGITS]) * _MIB[found[2].upper()] // 1), text)


def _within(most: int, amount: int, text: str) -> int:
    if amount > most:
        raise InputError("more than any cluster has", found=text)
    return amount


def tres(text: str) -> dict[str, int]:
    """Trackable resources, memory in MiB.

    >>> tres("billing=4,cpu=4,gres/gpu:a100=2,mem=62.50G,node=1")
    {'billing': 4, 'cpu': 4, 'gres/gpu:a100': 2, 'mem': 64000, 'node': 1}
    """
    if text in NOTHING:
        return {}
    found = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError("not a list of resources", found=text, allowed="for instance cpu=4,mem=4000M,node=1")
        if value not in _NOT_MEASURED:
            most = COUNT_MAX if name.startswith(_COUNTED) else MAX_AMOUNT
            found[name] = (size_mb(value) or 0) if name == "mem" else count(value, most)
    return found


def count(text: str, most: int = COUNT_MAX) -> int:
    """A number, perhaps with a unit, up to ``most``. Raises InputError.

    >>> count("12"), count("2K"), count("1-4")
    (12, 2048, 1)
    """
    found = _SIZE.match(text.partition("-")[0])
    if found is None:
        raise InputError("not a number", found=text)
    return _within(most, int(float(found[1][:_AMOUNT_DIGITS]) * _COUNT[found[2].upper()]), text)


class JobId(NamedTuple):
    """``job``: the number (of an array: the array's); ``task``: of an array, ``tasks``: several that are still
    together, as written; ``offset``: of a heterogeneous job; ``step``: "" is the job itself. -1: none."""

    job: int
    task: int = -1
    offset: int = -1
    tasks: str = ""
    step: str = ""


def job_id(text: str) -> JobId:
    """A job id as it is printed. Raises InputError.

    >>> job_id("5_1.batch"), job_id("2+0").offset, job_id("5_[1-3%2]").tasks
    (JobId(job=5, task=1, offset=-1, tasks='', step='batch'), 0, '1-3%2')
    """
    found = _ID.match(text)
    if found is None:
        raise InputError("not a job id", found=text, allowed="for instance 5, 5_1, 5_[1-3], 2+0, 5.batch")
    number, task, tasks, offset, step = found.groups()
    return JobId(
        whole(number),
        -1 if task is None else whole(task),
        -1 if offset is None else whole(offset),
        tasks or "",
        step or "",
    )


STATES: Final = {
    "PD": "PENDING",
    "R": "RUNNING",
    "S": "SUSPENDED",
    "CD": "COMPLETED",
    "CA": "CANCELLED",
    "F": "FAILED",
    "TO": "TIMEOUT",
    "NF": "NODE_FAIL",
    "PR": "PREEMPTED",
    "BF": "BOOT_FAIL",
    "DL": "DEADLINE",
    "OOM": "OUT_OF_MEMORY",
    "CG": "COMPLETING",
    "CF": "CONFIGURING",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "RH": "REQUEUE_HOLD",
    "RF": "REQUEUE_FED",
    "SI": "SIGNALING",
    "SE": "SPECIAL_EXIT",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
}
"""States by their short forms."""
_FULL: Final = frozenset(STATES.values())


def state(text: str) -> str:
    """The state of a job in full, without who cancelled it; what is cut (``CANCELLED+``, ``COMPLETI``) is filled up.

    >>> state("CANCELLED by 1001"), state("R"), state("CANCELLED+"), state("COMPLETI"), state("OUT_OF_ME+")
    ('CANCELLED', 'RUNNING', 'CANCELLED', 'COMPLETING', 'OUT_OF_MEMORY')
    """
    word = text.partition(" ")[0].rstrip("+")
    if word in _FULL:
        return word
    if word in STATES:
        return STATES[word]
    begins = [one for one in STATES.values() if len(word) >= 4 and one.startswith(word)]
    if len(begins) == 1 or (begins and all(one.startswith(begins[0]) for one in begins)):
        return begins[0]
    raise InputError("not a state of a job", found=text, allowed=", ".join(STATES.values()))
