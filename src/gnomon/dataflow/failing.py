"""What went wrong in a function of the user: which operator, which record, which of the user's own lines."""

from __future__ import annotations

import traceback
from types import FrameType, TracebackType
from typing import Any, Final

from gnomon.dataflow.comparing import shown
from gnomon.dataflow.layout import function_name
from gnomon.dataflow.stage import Operator, Stage
from gnomon.model.errors import GnomonError, InputError

_SHOWN_MAX: Final = 200
_OURS: Final = __name__.partition(".")[0] + "."


_KEYED: Final = frozenset(
    {
        Operator.MAP_VALUES,
        Operator.FLAT_MAP_VALUES,
        Operator.AGGREGATE,
        Operator.GROUP,
        Operator.COGROUP,
        Operator.JOIN,
        Operator.REPARTITION,
    }
)


class UserError(InputError):
    """A function of the job raised. ``operator`` is the name of the stage, ``record`` what it was given, as a text;
    ``cause`` is the exception as a text, ``lines`` the traceback from the user's function on."""

    def __init__(
        self, operator: str, function: str, record: str | None, partition: int, cause: str, lines: tuple[str, ...]
    ) -> None:
        self.operator, self.function, self.record, self.partition = operator, function, record, partition
        self.cause, self.lines = cause, lines
        on = "" if record is None else f" on the record {record}"
        super().__init__("\n".join([f"{function} failed{on} (partition {partition}): {cause}", *lines]), field=operator)

    def __reduce__(self) -> tuple[object, ...]:
        return UserError, (self.operator, self.function, self.record, self.partition, self.cause, self.lines)


class EndlessError(GnomonError):
    """A function of the job does not come back. ``caller``: the frame that called it; ``spent``: for how long it has
    worked on one record, as a text. Unlike what a function raises it is not an attempt that failed: the run is over."""

    exit_code = 2

    def __init__(self, caller: FrameType, spent: str) -> None:
        stage, record = _at(caller)
        assert stage is not None
        on = f" on the record {shown(record[0], _SHOWN_MAX)}" if record else ""
        said = f"{stage.name}: {_who(stage, self, None)} has worked for {spent}{on}, and does not seem to end"
        super().__init__(f"{said}; to run it for as long as it takes: gnomon run")


def working_on(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of ours that calls a function of the user: that of an operator."""
    while frame is not None and not (_is_ours(frame) and isinstance(frame.f_locals.get("stage"), Stage)):
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    return bool(frame.f_globals.get("__name__", "").startswith(_OURS))


def _at(frame: FrameType) -> tuple[Stage | None, list[Any]]:
    """The stage that a frame of ours is at, if it is at one, and the record, if it is known."""
    names = frame.f_locals
    stage = names.get("stage")
    if not isinstance(stage, Stage):
        return None, []
    return stage, [names["record"]] if "record" in names else list(names.get("held") or [])[:1]


def failed(error: BaseException, stage: Stage, index: int) -> GnomonError:
    """The error of a task as one that says where it happened. ``stage`` is named where nothing better is known."""
    if isinstance(error, EndlessError):
        return error
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
        error = error.__cause__  # what a generator makes of it
    frames = _frames(error.__traceback__)
    ours = [place for place, (frame, _) in enumerate(frames) if _is_ours(frame)]
    record: list[Any] = []
    for place in reversed(ours):
        found, record = _at(frames[place][0])
        if found is not None:
            stage = found
            break
    theirs = frames[(ours[-1] + 1) if ours else 0 :]
    if isinstance(error, InputError) and not theirs:
        return error.at(field=stage.name)
    summary = traceback.StackSummary.extract(iter((frame, line) for frame, line in theirs))
    lines = tuple(line.rstrip() for entry in summary.format() for line in entry.rstrip().splitlines())
    cause = _cause(error)
    if not theirs and record and stage.operator in _KEYED and not _is_pair(record[0]):
        cause = f"not a pair (key, value): {cause}"
    name = _who(stage, error, theirs[0][0] if theirs else None)
    return UserError(stage.name, name, shown(record[0], _SHOWN_MAX) if record else None, index, cause, lines)


def _who(stage: Stage, error: BaseException, first: FrameType | None) -> str:
    """The function that failed: the one of the stage whose code it is, else the first that may be; Python's hash where
    it is a key that has none."""
    aggregate, own = stage.aggregate, (stage.function, stage.combine, stage.partition.function)
    functions = [one for one in ((aggregate.add, *own) if aggregate is not None else own) if callable(one)]
    if first is None and isinstance(error, TypeError) and "unhashable type" in str(error):
        return hash.__name__
    if aggregate is not None:
        functions += [one for one in (aggregate.create, aggregate.merge) if callable(one)]
    code = None if first is None else first.f_code
    mine = [one for one in functions if code is not None and getattr(one, "__code__", None) is code]
    return next((function_name(one) for one in (*mine, *functions)), stage.operator.value)


def _cause(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except Exception:
        return type(error).__name__


def _is_pair(record: Any) -> bool:
    return isinstance(record, tuple | list) and len(record) == 2


def _frames(trace: TracebackType | None) -> list[tuple[FrameType, int]]:
    return list(traceback.walk_tb(trace))
