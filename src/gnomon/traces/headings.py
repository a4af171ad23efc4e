"""What the columns of a table of tasks mean: found from their names, with the unit that a name says.

``submit_time``, ``SubmitTime`` and ``submitted (s)`` are all the submit time; ``memory_gb`` and ``mem [GiB]`` are
memory with a unit. A table may also give ``start`` and ``end`` instead of the duration and the recorded wait.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.model.errors import InputError

NAME_CHARACTERS_MAX = 200
"""The longest name of a column that is looked at."""

FIELDS: dict[str, str] = {
    "id": "id taskid name task jobid jobnumber number job",
    "job": "job jobid jobname gang",
    "user": "user userid uid username owner tenant account",
    "queue": "queue queuename partition pool vc virtualcluster",
    "submit": "submit submittime submitted submissiontime submission arrival arrivaltime arrived creationtime created"
    " createtime timestamp submittedat submitat createdat arrivedat",
    "duration": "duration runtime run length servicetime executiontime elapsed elapsedtime",
    "start": "start starttime started begin begintime scheduledtime startedat",
    "end": "end endtime ended finish finishtime finished completed completiontime deletiontime endedat finishedat"
    " completedat",
    "wait": "wait waittime waited waitingtime queuetime queuingtime queueingtime queuedelay",
    "estimate": "estimate estimatedtime estimatedruntime walltime timelimit limit requestedtime reqtime maxruntime",
    "deadline": "deadline due duetime duedate",
    "cpus": "cpus cpu cores core ncpus ncpu numcpus numcpu cpunum cpucount cpurequest reqcpus requestedcpus vcpus"
    " processors procs nprocs numprocessors numprocs reqprocs requestedprocessors ncores numcores",
    "memory": "memory mem ram memoryrequest memrequest reqmem requestedmemory mempernode",
    "gpus": "gpus gpu ngpus ngpu numgpus numgpu gpunum gpucount gpurequest reqgpus requestedgpus accelerators",
    "gpu_share": "gpushare gpufraction gpupart",
    "node_kinds": "nodekinds nodekind kinds kind gputype gpuspec gpumodel nodetype machinetype",
    "priority": "priority prio",
}
"""Each field of a task with the names that it goes by, without their underscores; the first is the likeliest."""

TIMES = ("submit", "duration", "start", "end", "wait", "estimate", "deadline")
"""Fields that are times."""

_TIME_UNITS = {
    **dict.fromkeys("ns nanoseconds".split(), "ns"),
    **dict.fromkeys("us µs microseconds".split(), "us"),
    **dict.fromkeys("ms millis milliseconds msec".split(), "ms"),
    **dict.fromkeys("s sec secs second seconds".split(), "s"),
    **dict.fromkeys("min mins minute minutes".split(), "m"),
    **dict.fromkeys("h hr hrs hour hours".split(), "h"),
    **dict.fromkeys("d day days".split(), "d"),
}
_MEMORY_UNITS = {
    **dict.fromkeys("b byte bytes".split(), "B"),
    **{f"{unit}b": f"{unit.upper() if unit != 'k' else unit}" for unit in "kmgtp"},
    **{f"{unit}ib": f"{unit.upper()}i" for unit in "kmgtp"},
    **{f"{unit}i": f"{unit.upper()}i" for unit in "kmgtp"},
}
_CPU_UNITS = {"m": "m", "milli": "m", "millicores": "m", "cores": ""}
_SHARE_UNITS = {"milli": "milli", "percent": "%", "%": "%", "pct": "%"}
_UNITS = {
    **dict.fromkeys(TIMES, _TIME_UNITS),
    "memory": _MEMORY_UNITS,
    "cpus": _CPU_UNITS,
    "gpu_share": _SHARE_UNITS,
}
_WITH_UNIT = {"gpumilli": ("gpu_share", "milli"), "gpupercent": ("gpu_share", "%"), "millicores": ("cpus", "m")}


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: its position and name, the field that it is, and the unit that its name says (None: none).

    ``guess``: it goes by another name than the field's own.
    """

    index: int
    name: str
    field: str
    unit: str | None = None
    guess: bool = True


def understood(names: Sequence[str], file: str) -> tuple[dict[str, Heading], list[str]]:
    """The columns by field, and the names of those that are not understood.

    Raises InputError when two columns could be the same field.

    >>> found, unknown = understood(["JobID", "SubmitTime", "memory_gb", "colour"], "a.csv")
    >>> [(field, heading.unit) for field, heading in found.items()], unknown
    ([('submit', None), ('memory', 'G'), ('id', None)], ['colour'])
    """
    candidates = [found for index, name in enumerate(names) for found in _candidates(index, name)]
    chosen: dict[str, Heading] = {}
    named = sorted((c for c in candidates if c.field == "id"), key=_rank)
    taken = {named[0].index} if named else set()
    for heading in candidates:
        if heading.field == "id" or heading.index in taken:
            continue
        if heading.field in chosen:
            both = f"{chosen[heading.field].name}, {heading.name}"
            raise InputError(
                f"two columns for the {heading.field}", file=file, line=1, found=both, allowed="one of them"
            )
        chosen[heading.field] = heading
    if named:
        chosen["id"] = named[0]
    known = {heading.index for heading in chosen.values()}
    return chosen, [name for index, name in enumerate(names) if index not in known]


def _candidates(index: int, name: str) -> list[Heading]:
    """What a column may be: a name by which two fields go gives both."""
    if len(name) > NAME_CHARACTERS_MAX:
        return []
    words, bracket = _words(name)
    whole = "".join(words)
    if whole in _WITH_UNIT:
        return [Heading(index, name, *_WITH_UNIT[whole])]
    found = []
    for field, synonyms in FIELDS.items():
        stem, said = whole, bracket
        units = _UNITS.get(field, {})
        if bracket is None and whole not in synonyms.split() and words[-1:] and words[-1] in units:
            stem, said = "".join(words[:-1]), words[-1]
        if stem in synonyms.split() and (said is None or said in units):
            unit = None if said is None else units[said]
            found.append(Heading(index, name, field, unit, guess=stem != field.replace("_", "")))
    return found


def _words(name: str) -> tuple[list[str], str | None]:
    """A column's name as lower-case words, and what stands in brackets behind it."""
    bracket = re.fullmatch(r"(.*?)\s*[(\[]\s*([^)\]]*?)\s*[)\]]\s*", name)
    text, unit = (bracket[1], bracket[2].lower()) if bracket else (name, None)
    text = re.sub(r"(?<=[KMGTP])iB\b", "ib", text)
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return re.findall(r"[^\W_]+|%", parted.lower()), unit


def _rank(heading: Heading) -> int:
    whole = "".join(_words(heading.name)[0])
    return FIELDS["id"].split().index(whole)
