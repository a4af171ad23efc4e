"""``sacct``: the jobs of accounting in columns, from ``-P`` tables with any columns.

Rows are allocations: steps (``5.batch``) are passed over. Moments are seconds since 1970 on the clock that sacct used.
Source: sacct(1), ``src/sacct/print.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.formats.files import Path
from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.read.parsable import Block, Parsable
from gnomon.systems.slurm.read.words import (
    BY_PARTITION,
    NO_TIME,
    NOTHING,
    UNKNOWN_S,
    job_id,
    length,
    limit_s,
    moment,
    size_mb,
    state,
    tres,
    whole,
)

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

FREE: Final = ("JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Reason", "Extra")
_MOMENTS: Final = {"Submit": "submit_s", "Eligible": "eligible_s", "Start": "start_s", "End": "end_s"}
_WORDS: Final = (
    *("JobName", "User", "Account", "Partition", "QOS", "ReqMem", "ReqTRES", "AllocTRES", "Constraints", "Reservation"),
    "ExitCode",
)
_COUNTS: Final = ("AllocCPUS", "NCPUS", "ReqCPUS", "AllocNodes", "NNodes", "ReqNodes", "Priority")
_OTHERS: Final = ("SubmitLine", "JobID", "JobIDRaw", "State", "Elapsed", "ElapsedRaw", "Timelimit", "TimelimitRaw")
_ARRAY: Final = re.compile(r"\s(?:--array(?:=|\s+)|-a\s*)[\d,:\-]+%(\d{1,9})", re.ASCII)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\Z|\d*\Z|Unknown\Z|None\Z|INVALID\Z|N/A\Z", re.ASCII)
_STATE: Final = re.compile(r"[A-Z_]+(?: by \S+)?\+?\Z")
_WHOLE: Final = re.compile(r"-?\d+\Z", re.ASCII)
_CODE: Final = re.compile(r"(\d+:\d+)?\Z")
_CLOCK: Final = re.compile(r"[-\d:.]*\Z|UNLIMITED\Z|Partition_Limit\Z|INVALID\Z")
_NUMBER: Final = re.compile(r"\d*\Z")
_NODES: Final = re.compile(r"[^ ]*\Z|None assigned\Z")
_TRES: Final = re.compile(r"([\w/:.-]+=[\w.:]+(,[\w/:.-]+=[\w.:]+)*)?\Z")
LOOKS: Final[Mapping[str, Callable[[str], bool]]] = {
    **dict.fromkeys(_MOMENTS, lambda text: _TIME.match(text) is not None),
    **dict.fromkeys(("State",), lambda text: _STATE.match(text) is not None),
    **dict.fromkeys(("ExitCode", "DerivedExitCode"), lambda text: _CODE.match(text) is not None),
    **dict.fromkeys(("Elapsed", "Timelimit", "CPUTime"), lambda text: _CLOCK.match(text) is not None),
    **dict.fromkeys((*_COUNTS, "ElapsedRaw", "TimelimitRaw", "UID", "GID"), lambda t: _NUMBER.match(t) is not None),
    **dict.fromkeys(("ReqTRES", "AllocTRES"), lambda text: _TRES.match(text) is not None),
    **dict.fromkeys(("NodeList",), lambda text: _NODES.match(text) is not None),
}


@dataclass(frozen=True)
class Texts:
    """A column of texts: each row's place in ``values``."""

    codes: Codes
    values: tuple[str, ...]

    def __getitem__(self, row: int) -> str:
        return self.values[int(self.codes[row])]


@dataclass(frozen=True)
class Jobs:
    """Jobs in columns, a row for each allocation, in the order of the file.

    - ``job``, ``task`` (of an array), ``offset`` (of a heterogeneous job), -1: none; ``raw``: the id of its own record.
    - ``submit_s``, ``eligible_s``, ``start_s``, ``end_s``: moments, -1: never, or not known.
    - ``elapsed_s``: -1 not known; ``limit_s``: -1 unlimited, -2 not known, or the partition's.
    - ``state``: in full, without who cancelled it.
    - ``words``: the other columns as texts; ``counts``: numbers, -1 not known. Columns that are not there are absent.
    - ``exclusive``: whether ``--exclusive`` stands in the command that submitted it; ``throttle``: how many tasks of
      its array may run at once by that command, 0: not told.
    - ``pending``: of rows that stand for several tasks of an array, which (``1-3%2``).
    """

    job: Ints
    task: Ints
    offset: Ints
    raw: Ints
    submit_s: Ints
    eligible_s: Ints
    start_s: Ints
    end_s: Ints
    elapsed_s: Ints
    limit_s: Ints
    state: Texts
    words: Mapping[str, Texts]
    counts: Mapping[str, Ints]
    exclusive: npt.NDArray[np.bool_]
    throttle: Ints
    pending: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.job)

    def word(self, name: str, row: int) -> str:
        """A text of a row, "" where nothing stands."""
        column = self.words.get(name)
        text = "" if column is None else column[row]
        return "" if text in NOTHING else text

    def name(self, row: int) -> str:
        """The job as it is shown: ``5``, ``5_1``, ``2+0``."""
        job, task, offset = int(self.job[row]), int(self.task[row]), int(self.offset[row])
        if row in self.pending:
            return f"{job}_[{self.pending[row]}]"
        return f"{job}_{task}" if task >= 0 else f"{job}+{offset}" if offset >= 0 else str(job)


def read_parsable(path: Path) -> Jobs:
    """The jobs of ``sacct -P`` (or ``-p``). Raises InputError with file, line and field."""
    table = Parsable(path, FREE, LOOKS, wanted=frozenset((*_MOMENTS, *_WORDS, *_COUNTS, *_OTHERS)))
    parts = Parts()
    for block in table.blocks():
        if not parts.names:
            parts.names = table.names
            if "JobID" not in parts.names:
                raise InputError(
                    "a column is missing: JobID", file=table.file, line=1, found="|".join(table.names)[:80]
                )
        try:
            parts.add(block)
        except FieldError as error:
            line = block.line_of(table.names, error.column, error.value)
            raise InputError(
                error.problem, file=table.file, line=line, field=error.column, found=error.value, allowed=error.allowed
            ) from None
    return parts.jobs(_notes(table))


def _notes(table: Parsable) -> list[Note]:
    told, found = table.told, []
    if told.cut:
        found.append(Note("not modelled", "sacct", "the last line is cut off: left out", told.cut))
    if told.joined:
        found.append(Note("guess", "sacct", "rows with the delimiter in a free text, put together again", told.joined))
    if told.other_bytes:
        found.append(Note("guess", "sacct", "lines that are not UTF-8, taken for Latin-1", told.other_bytes))
    return found


class FieldError(Exception):
    """A value that its column cannot have."""

    def __init__(self, column: str, value: str, problem: str, allowed: str | None = None) -> None:
        super().__init__(problem)
        self.column, self.value, self.problem, self.allowed = column, value, problem, allowed


class _Dictionary:
    """The distinct texts of a column over all blocks, and what each stands for."""

    def __init__(self, column: str, meaning: Callable[[str], Any] | None = None) -> None:
        self.column, self._meaning = column, meaning
        self.places: dict[str, int] = {}
        self.meanings: list[Any] = []
        self.codes: list[Codes] = []

    def add(self, values: Any) -> None:
        encoded = values.dictionary_encode()
        places = np.array([self._place(text) for text in encoded.dictionary.to_pylist()] or [0], np.int32)
        self.codes.append(places[encoded.indices.to_numpy(zero_copy_only=False)].astype(np.int32))

    def _place(self, text: str) -> int:
        place = self.places.get(text)
        if place is None:
            try:
                self.meanings.append(text if self._meaning is None else self._meaning(text))
            except InputError as error:
                raise FieldError(self.column, text, error.problem, error.allowed) from None
            place = self.places[text] = len(self.places)
        return place

    def texts(self) -> Texts:
        """What each row has."""
        return Texts(_joined(self.codes, np.int32), tuple(self.meanings))

    def ints(self) -> Ints:
        """The numbers that they stand for."""
        found: Ints = np.array(self.meanings or [0], np.int64)[_joined(self.codes, np.int32)]
        return found


def _joined(parts: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


class Parts:
    """The columns, block by block."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.ids: list[npt.NDArray[np.int64]] = []
        self.raw: list[Ints] = []
        self.moments: dict[str, list[Ints]] = {name: [] for name in _MOMENTS}
        self.words = {name: _Dictionary(name, _CHECKED.get(name)) for name in _WORDS}
        self.counts = {name: _Dictionary(name, _count) for name in _COUNTS}
        self.state = _Dictionary("State", state)
        self.lengths = {
            "Elapsed": _Dictionary("Elapsed", _elapsed),
            "ElapsedRaw": _Dictionary("ElapsedRaw", _count),
            "Timelimit": _Dictionary("Timelimit", limit_s),
            "TimelimitRaw": _Dictionary("TimelimitRaw", _raw_limit),
        }
        self.exclusive: list[npt.NDArray[np.bool_]] = []
        self.throttle: list[Ints] = []
        self.pending: dict[int, str] = {}
        self.rows = 0

    def add(self, block: Block) -> None:
        """The allocations of a block."""
        flat = {name: pa.concat_arrays(values.chunks) for name, values in block.columns.items()}
        ids = flat["JobID"]
        keep = pc.invert(pc.match_substring(ids, "."))
        columns = {name: values.filter(keep) for name, values in flat.items()}
        count = len(columns["JobID"])
        if not count:
            return
        self.ids.append(self._ids(columns["JobID"]))
        if "JobIDRaw" in columns:
            self.raw.append(self._ids(columns["JobIDRaw"], "JobIDRaw")[:, 0])
        for name, parts in self.moments.items():
            if name in columns:
                parts.append(_moments(columns[name], name))
        for kind in (self.words, self.counts, self.lengths):
            for name, dictionary in kind.items():
                if name in columns:
                    dictionary.add(columns[name])
        if "State" in columns:
            self.state.add(columns["State"])
        if "SubmitLine" in columns:
            said = pc.match_substring_regex(columns["SubmitLine"], r" --exclusive(?:=node| |$)")
            self.exclusive.append(said.to_numpy(zero_copy_only=False))
            self.throttle.append(_throttles(columns["SubmitLine"]))
        self.rows += count

    def _ids(self, texts: Any, column: str = "JobID") -> npt.NDArray[np.int64]:
        """Job, task and offset of each row."""
        found = np.full((len(texts), 3), -1, np.int64)
        plain = pc.match_substring_regex(texts, r"^[0-9]{1,9}$").to_numpy(zero_copy_only=False)
        found[plain, 0] = pc.cast(texts.filter(pa.array(plain)), pa.int64()).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(~plain).tolist():
            text = texts[row].as_py()
            try:
                said = job_id(text)
            except InputError as error:
                raise FieldError(column, text, error.problem, error.allowed) from None
            found[row] = said.job, said.task, said.offset
            if said.tasks and column == "JobID":
                self.pending[self.rows + row] = said.tasks
        return found

    def jobs(self, notes: list[Note]) -> Jobs:
        """All of it."""
        ids = np.concatenate(self.ids) if self.ids else np.empty((0, 3), np.int64)
        nowhere = np.full(len(ids), NO_TIME, np.int64)
        times = {_MOMENTS[name]: _joined(parts, np.int64) if parts else nowhere for name, parts in self.moments.items()}
        elapsed = self._length("ElapsedRaw", "Elapsed", -1)
        if (negative := int((elapsed < -1).sum())) > 0:
            notes.append(Note("guess", "Elapsed", "lengths of time below 0, taken for 0", negative))
            elapsed = np.where(elapsed < -1, 0, elapsed)
        known = Texts(np.zeros(len(ids), np.int32), ("",)) if not self.state.codes else self.state.texts()
        return Jobs(
            ids[:, 0],
            ids[:, 1],
            ids[:, 2],
            _joined(self.raw, np.int64) if self.raw else ids[:, 0],
            **times,
            elapsed_s=elapsed,
            limit_s=self._length("TimelimitRaw", "Timelimit", BY_PARTITION),
            state=known,
            words={name: one.texts() for name, one in self.words.items() if one.codes},
            counts={name: one.ints() for name, one in self.counts.items() if one.codes},
            exclusive=_joined(self.exclusive, np.bool_) if self.exclusive else np.zeros(len(ids), np.bool_),
            throttle=_joined(self.throttle, np.int64) if self.throttle else np.zeros(len(ids), np.int64),
            pending=self.pending,
            notes=tuple(notes),
        )

    def _length(self, raw: str, shown: str, missing: int) -> Ints:
        for name in (shown, raw) if raw == "TimelimitRaw" else (raw, shown):
            if self.lengths[name].codes:
                return self.lengths[name].ints()
        return np.full(self.rows, missing, np.int64)


def _moments(texts: Any, column: str) -> Ints:
    """Seconds of a column of moments."""
    iso = pc.match_substring_regex(texts, r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$")
    plain = iso.to_numpy(zero_copy_only=False)
    found = np.full(len(texts), NO_TIME, np.int64)
    try:
        seconds = pc.cast(texts.filter(iso), pa.timestamp("s")).cast(pa.int64())
        found[plain] = seconds.to_numpy(zero_copy_only=False)
        plain &= (found >= 0) & (found < UNKNOWN_S)
    except pa.ArrowInvalid:
        plain = np.zeros(len(texts), np.bool_)
    rest = np.flatnonzero(~plain)
    known: dict[str, int] = {}
    for row, text in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
        if text not in known:
            try:
                known[text] = moment(text)
            except InputError as error:
                raise FieldError(column, text, error.problem, error.allowed) from None
        found[row] = known[text]
    return found


def _throttles(lines: Any) -> Ints:
    """The number behind ``%`` in --array of command lines, 0 where none stands."""
    found = np.zeros(len(lines), np.int64)
    some = np.flatnonzero(pc.match_substring(lines, "%").to_numpy(zero_copy_only=False))
    for row, line in zip(some.tolist(), lines.take(pa.array(some)).to_pylist(), strict=True):
        if (said := _ARRAY.search(line)) is not None:
            found[row] = int(said[1])
    return found


def _count(text: str) -> int:
    """A number; -1 where there is none."""
    if text in NOTHING:
        return -1
    return whole(text)


def _checked(read: Callable[[str], object]) -> Callable[[str], str]:
    """The text, which is looked at when the job is submitted."""

    def check(text: str) -> str:
        read(text)
        return text

    return check


_CHECKED: Final = {"ReqMem": _checked(size_mb), "ReqTRES": _checked(tres), "AllocTRES": _checked(tres)}


def _elapsed(text: str) -> int:
    seconds = length(text)
    return -1 if seconds is None else -2 if seconds < 0 else seconds


def _raw_limit(text: str) -> int:
    """A limit in minutes."""
    return max(0, whole(text)) * 60 if _WHOLE.match(text) else limit_s(text)
