"""Values of slurm.conf: numbers, YES and NO, counts with a suffix, weights.

Source: ``src/common/parse_value.c``, ``suffix_mult`` of ``src/common/proc_args.c``, ``_tres_weight_item`` of
``src/common/slurm_protocol_api.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from typing import Final

from gnomon.model.errors import InputError

UNLIMITED: Final = ("unlimited", "infinite")
_YES: Final = frozenset({"yes", "up", "true", "1"})
_NO: Final = frozenset({"no", "down", "false", "0"})
_NUMBER: Final = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)([kK]?)\Z", re.ASCII)
_LEADING: Final = re.compile(r"\s*[+-]?[0-9]{1,18}", re.ASCII)
_COUNT: Final = re.compile(r"([0-9]{1,19})([A-Za-z]*)\Z", re.ASCII)
_WEIGHT: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?)([A-Za-z]?)\Z", re.ASCII)
_STEPS: Final = "kmgtp"


def number(value: str, key: str, bits: int = 32) -> int | None:
    """A number that is not negative; None: UNLIMITED or INFINITE. Hexadecimal and octal are read as in C; ``k`` is 1024
    where the number has 32 bits. Raises :class:`InputError` in slurmctld's words.

    >>> number("16", "CPUs", 16), number("INFINITE", "MaxNodes"), number("010", "MaxNodes"), number("2k", "MaxNodes")
    (16, None, 8, 2048)
    """
    matched = _NUMBER.match(value) if len(value) < 40 else None
    if matched is None or (matched[3] and bits == 16):
        if value.lower() in UNLIMITED:
            return None
        raise InputError(f'{key} value "{value}" is not a valid number', field=key)
    digits = matched[2]
    octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
    if octal and set(digits) & set("89"):
        raise InputError(f'{key} value "{value}" is not a valid number', field=key)
    amount = int(digits, 16 if digits[:2].lower() == "0x" else 8 if octal else 10) * (1024 if matched[3] else 1)
    if matched[1] == "-":
        raise InputError(f"{key} value ({value}) is less than zero", field=key)
    if amount >= 2**bits:
        raise InputError(f"{key} value ({value}) is greater than {2**bits - 1}", field=key)
    return amount


def leading_number(text: str) -> int:
    """The number that a text begins with, 0 where it begins with none, as ``strtol`` reads it.

    >>> leading_number("12x"), leading_number("-3"), leading_number("x")
    (12, -3, 0)
    """
    matched = _LEADING.match(text)
    return int(matched[0]) if matched else 0


def boolean(value: str, key: str) -> bool:
    """YES or NO, in the ways of slurm.conf. Raises :class:`InputError` in slurmctld's words."""
    lowered = value.lower()
    if lowered not in _YES and lowered not in _NO:
        raise InputError(f'"{value}" is not a valid option for "{key}"', field=key, allowed="YES or NO")
    return lowered in _YES


def count(text: str) -> int | None:
    """A count with a suffix; None where it is none. K, M, G, T, P and KiB … are powers of 1024, KB … of 1000.

    >>> count("4"), count("2K"), count("1kb"), count("a100")
    (4, 2048, 1000, None)
    """
    matched = _COUNT.match(text)
    if matched is None:
        return None
    suffix = matched[2].lower()
    if not suffix:
        return int(matched[1])
    step = _STEPS.find(suffix[0]) + 1
    if step == 0 or suffix[1:] not in ("", "ib", "b"):
        return None
    return int(matched[1]) * int((1000 if suffix[1:] == "b" else 1024) ** step)


def weight(text: str, base: str = "") -> float | None:
    """A weight for one unit of what Slurm counts (``base`` "m": a MiB), None where it is none: ``0.25G`` is a quarter
    for a GiB.

    >>> weight("0.25G", "m"), weight("2"), weight("1x")
    (0.000244140625, 2.0, None)
    """
    matched = _WEIGHT.match(text)
    if matched is None:
        return None
    if not matched[2]:
        return float(matched[1])
    step = _STEPS.find(matched[2].lower()) + 1
    if step == 0:
        return None
    above = max(0, step - (_STEPS.find(base) + 1 if base else 0))
    return float(matched[1]) / float(1024**above)


def parts_of(text: str) -> tuple[str, ...]:
    """The parts of a list with commas, without blanks around them, and without empty ones.

    >>> parts_of("a, b,,c ")
    ('a', 'b', 'c')
    """
    return tuple(word for part in text.split(",") if (word := part.strip()))
