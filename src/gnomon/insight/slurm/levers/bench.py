"""Where changes are tried: the model is run again with each, and what does not help is not told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from gnomon.insight.explain.changes import Change, cost_of
from gnomon.insight.explain.phrases import Plain, span
from gnomon.insight.slurm.course import begun
from gnomon.insight.slurm.moment import SOON_NS, Moment
from gnomon.insight.slurm.rehearsal import RESTARTS_MAX, Act, Rehearsal
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster.job import OVER
from gnomon.systems.slurm.inputs.native import Native

_WORK: Final = 20_000
"""So many starts are simulated for all changes together, about, and at least :data:`_TRIALS_MIN` changes tried."""
_TRIALS_MIN: Final = 8
_STEPS: Final = 2_000
"""A trial is given up after so much without a start (see :data:`~gnomon.insight.slurm.rehearsal.STEPS_MAX`)."""
_TRIALS_MAX: Final = 120


@dataclass(frozen=True, kw_only=True)
class Lever:
    """One thing that can be changed: its kind, object, field and present value, and by value (the smallest change
    first) what is done. ``acts``: to the running controller, one for each value; ``natives``: or another configuration
    from the beginning. ``values``, ``shown``, ``sizes`` and ``phrases`` go with them."""

    kind: int
    object: str
    field: str
    before: Plain | None
    values: tuple[Plain | None, ...]
    sizes: tuple[float, ...]
    phrases: tuple[str, ...]
    acts: tuple[Act, ...] = ()
    natives: tuple[Native, ...] = ()


@dataclass
class Bench:
    """Tries changes of one job at one moment."""

    moment: Moment
    trials: int = field(init=False)

    def __post_init__(self) -> None:
        self.trials = max(_TRIALS_MIN, min(_TRIALS_MAX, _WORK // max(1, self.moment.course.starts)))
        course, now = self.moment.course, self.moment.now_ns
        self.latest_ns = NEVER
        if course.ran:
            wait = course.start_ns - now
            self.latest_ns = now + (SOON_NS if wait <= 2 * SOON_NS else wait * 2 // 3)
            self.latest_ns = min(self.latest_ns, course.start_ns - 1)

    def start(self, act: Act | None, native: Native | None) -> int | None:
        """When the job starts with a change, None: not in time to speak of."""
        self.trials -= 1
        moment = self.moment
        old = moment.played
        acts = [*old.acts, *([(moment.now_ns, act)] if act is not None else [])]
        played = Rehearsal(old.scenario, native or old.native, acts, old.more)
        task = moment.job.task
        try:
            played.run(max(moment.now_ns, played.last_ns if native is not None else moment.now_ns))
            job = played.job(task)
            if job is None:
                return None
            most = job.restarts + RESTARTS_MAX
            played.run_while(
                lambda: not begun(job) and job.state not in OVER and job.restarts < most, self.latest_ns, most=_STEPS
            )
        except InputError:
            return None
        if not begun(job) or not job.stints:
            return None
        start = job.stints[-1].start_ns
        return start if start <= self.latest_ns else None

    def is_soon(self, start_ns: int) -> bool:
        """Whether a start is as good as at once."""
        return start_ns - self.moment.now_ns <= SOON_NS

    def told(self, start_ns: int) -> str:
        """A start in words."""
        return "it starts at once" if self.is_soon(start_ns) else f"it starts at {span(start_ns)}"


def search(levers: Iterable[Lever], bench: Bench) -> tuple[list[Change], bool]:
    """The smallest value of each lever that helps (lets it start at once, if any of its values does), the cheapest
    first; and whether all could be tried."""
    found: list[Change] = []
    complete = True
    for lever in levers:
        if bench.trials <= 0:
            complete = False
            break
        one = _smallest(lever, bench)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda change: change.cost), complete


def _smallest(lever: Lever, bench: Bench) -> Change | None:
    last = len(lever.values) - 1
    tried: dict[int, int | None] = {}

    def works(place: int) -> bool:
        if place not in tried:
            act = lever.acts[place] if lever.acts else None
            native = lever.natives[place] if lever.natives else None
            tried[place] = bench.start(act, native) if bench.trials > 0 else None
        return tried[place] is not None

    def soon(place: int) -> bool:
        return works(place) and bench.is_soon(tried[place] or 0)

    if last < 0 or not works(last):
        return None
    wanted = soon if soon(last) else works
    low, high = -1, last
    while high - low > 1 and bench.trials > 0:
        middle = (low + high) // 2
        low, high = (low, middle) if wanted(middle) else (middle, high)
    return _change(lever, high, tried[high], bench)


def _change(lever: Lever, place: int, start_ns: int | None, bench: Bench) -> Change:
    cost = cost_of(lever.kind, lever.sizes[place])
    text = f"{lever.phrases[place]}: {bench.told(start_ns or 0)}"
    return Change(text, lever.object, lever.field, lever.before, lever.values[place], cost, confirmed=True)
