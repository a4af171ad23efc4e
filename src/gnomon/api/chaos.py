"""Exploring what faults do to a scenario: which schedules of faults break what is demanded of it, made small."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gnomon.api import simulating
from gnomon.api.chaos_state import State
from gnomon.backends.processes import Submit, side_by_side
from gnomon.control.faults.checks import check
from gnomon.engine.log import Log, Reason
from gnomon.insight.chaos.explore import Bounds, Exploration, Result, explore, result_of
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.generate import Space, kinds_of, space_of
from gnomon.insight.chaos.properties import DEFAULTS, Property, parse_property, properties_of
from gnomon.insight.chaos.rules import Verdict
from gnomon.insight.chaos.schedules import Schedule, fault_data, told
from gnomon.insight.chaos.shrink import shrink
from gnomon.insight.explain.chain import CAUSES_MAX, Link, chain
from gnomon.insight.explain.ground import Ground
from gnomon.insight.history import history
from gnomon.model.errors import GnomonError, InputError, InvariantError
from gnomon.model.fault import Failure, Fault
from gnomon.model.scenario import Scenario

Simulate = Callable[[Scenario], Log]

PARALLEL_FROM: Final = 300_000
"""Explorations with fewer events than that, as far as the first run tells, are over before other processes begin."""

_MORE_EVENTS: Final = 100
"""A run may have so many times the events of the run without faults (and some): one that goes round in circles is cut
off, so that it can be judged."""


@dataclass(frozen=True)
class Violation:
    """A property that does not hold, and the smallest schedule found that shows it.

    ``run``: the number of the run that broke it first, with the schedule ``found``; ``schedule``: that schedule made
    small in ``trials`` further runs; ``minimal``: without any one of its faults the property holds. ``verdict``,
    ``log``: of the last run of ``scenario``, which has the small schedule after the faults that it had before.
    """

    property: str
    run: int
    found: Schedule
    schedule: Schedule
    trials: int
    minimal: bool
    verdict: Verdict
    scenario: Scenario
    log: Log

    def chain(self) -> list[Link]:
        """How it came to be: the rows of the log about the task, those that show the violation, and their causes."""
        facts = Facts(history(self.scenario, self.log))
        shown = [cause for row in self.verdict.rows for cause in (row, *islice(facts.causes(row), CAUSES_MAX))]
        tasks = (self.verdict.task,) if self.verdict.task >= 0 else ()
        return chain(Ground(facts.past), tasks, also=[row for row in shown if row >= 0])


@dataclass(frozen=True)
class Chaos:
    """What an exploration found. ``holds``: none of the ``properties`` was violated in any run.

    ``runs``: how many schedules were tried, the empty one included; ``features``: how many different things they hit
    (:mod:`gnomon.insight.chaos.coverage`); ``broken``: how many of the runs broke each property.
    """

    scenario: Scenario
    properties: tuple[str, ...]
    kinds: tuple[Fault, ...]
    runs: int
    features: int
    broken: tuple[int, ...]
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """Whether no property was violated."""
        return not self.violations


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to explore: at most ``runs`` runs with at most ``max_faults`` faults each, of these ``kinds`` (names; none:
    all that apply but those an operator or user makes), until all logs have ``events`` rows, or (unless
    ``to_the_end``) until a property is violated.

    ``properties``: texts (none: the scenario's own, else :data:`~gnomon.insight.chaos.properties.DEFAULTS`). ``state``:
    a file in which finished runs are kept, and from which a rerun goes on. ``workers``: processes side by side (None:
    one a core, or none for what is over soon); results do not depend on it.
    """

    properties: Sequence[str] = ()
    runs: int = 200
    max_faults: int = 5
    kinds: Sequence[str] = ()
    events: int = 2**62
    to_the_end: bool = False
    state: Path | None = None
    workers: int | None = None


def chaos(
    scenario: Scenario,
    options: Options | None = None,
    *,
    progress: simulating.Progress | None = None,
    simulate: Simulate | None = None,
) -> Chaos:
    """Look for fault schedules that break properties of a scenario, and make them small.

    What is tried follows from the scenario's seed. Faults that the scenario has itself stay in every run.
    ``progress(done, total, 0)`` is called now and then; if it is False, KeyboardInterrupt is raised, and what was done
    is in the state file. ``simulate``: what runs a scenario (None: :func:`gnomon.api.simulate`).

    Raises InputError for a property or kind that makes no sense in this scenario, or a state of another one.

    >>> from gnomon.api import Cluster, Node, Resources, Shape, Task, Work
    >>> nodes = Cluster(tuple(Node(name, Resources(cpu_milli=1000)) for name in "ab"))
    >>> work = Work.from_tasks([Task("t", Shape(Resources(cpu_milli=1000)), duration_ns=60 * 10**9)])
    >>> found = chaos(Scenario(nodes, work), Options(properties=["no work lost"], kinds=["crash"]))
    >>> [(len(one.schedule), one.minimal) for one in found.violations]
    [(1, True)]
    """
    options = options or Options()
    demanded = _demanded(scenario, options.properties)
    kinds = kinds_of(options.kinds, scenario, field="--kinds")
    with ExitStack() as stack:
        state = State(options.state, scenario, [one.text for one in demanded])
        stack.callback(state.close)
        bench = stack.enter_context(_Bench(scenario, demanded, state, options, progress, simulate))
        space = space_of(bench.base, kinds, options.max_faults, partial(_accepts, scenario))
        bounds = Bounds(options.runs, options.events, options.to_the_end)
        found = explore(space, bench, bounds, scenario.seed)
        violations = tuple(_violation(bench, space, found, index) for index in _broken(found, demanded))
    return Chaos(
        scenario=scenario,
        properties=tuple(one.text for one in demanded),
        kinds=kinds,
        runs=len(found.results),
        features=len(found.hits),
        broken=tuple(len(found.violations(index)) for index in range(len(demanded))),
        violations=violations,
    )


def with_faults(scenario: Scenario, schedule: Schedule) -> Scenario:
    """A scenario with more faults than it has."""
    return replace(scenario, faults=(*scenario.faults, *schedule))


def _demanded(scenario: Scenario, said: Sequence[str]) -> tuple[Property, ...]:
    declared: Sequence[str] = getattr(scenario, "properties", ())
    if said or declared:
        return properties_of(said or declared, scenario, field="--property" if said else "properties")
    usual = [parse_property(text) for text in DEFAULTS]
    found = tuple(one for one in usual if not one.rule.objection(scenario))
    return found or properties_of(DEFAULTS, scenario)


def _accepts(scenario: Scenario, schedule: Schedule) -> bool:
    try:
        check(with_faults(scenario, schedule))
    except InputError:
        return False
    return True


def _broken(found: Exploration, demanded: Sequence[Property]) -> list[int]:
    return [index for index in range(len(demanded)) if found.violations(index)]


def _violation(bench: _Bench, space: Space, found: Exploration, index: int) -> Violation:
    """The first violation of a property, made small, and run once more."""
    run = found.violations(index)[0]
    schedule = found.schedules[run]

    def breaks(tried: Schedule) -> bool:
        return space.accepts(tried) and not bench([tried])[0].verdicts[index].holds

    small = shrink(schedule, breaks, grain_ns=space.grain_ns)
    scenario = with_faults(bench.scenario, small.schedule)
    log = bench.simulate(scenario)
    verdict = bench.demanded[index].judge(Facts(history(scenario, log)))
    if verdict.holds:
        raise GnomonError(f"a second run of the same scenario went otherwise: {bench.demanded[index].text}")
    text = bench.demanded[index].text
    return Violation(text, run, schedule, small.schedule, small.trials, small.minimal, verdict, scenario, log)


# ------------------------------------------------------------------ running


@dataclass(slots=True)
class _Bench:
    """Runs schedules, here or in other processes; each only once."""

    scenario: Scenario
    demanded: tuple[Property, ...]
    state: State
    options: Options
    progress: simulating.Progress | None
    given: Simulate | None
    base: Facts = field(init=False)
    _submit: Submit | None = None
    _open: ExitStack = field(default_factory=ExitStack)
    _done: int = 0

    def __enter__(self) -> _Bench:
        log = self.simulate(self.scenario)
        self.base = Facts(history(self.scenario, log))
        most = _MORE_EVENTS * len(log) + 10_000
        limits = replace(self.scenario.limits, events=min(self.scenario.limits.events, most))
        self.scenario = replace(self.scenario, limits=limits)
        if () not in self.state.known:
            self.state.add((), result_of(self.scenario, log, self.demanded))
        if self._workers(len(log)) > 1:
            texts = [one.text for one in self.demanded]
            self._submit = self._open.enter_context(side_by_side(self._workers(len(log)), _begin, self.scenario, texts))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._open.__exit__(*raised)

    def _workers(self, rows: int) -> int:
        if self.given or not simulating.can_be_sent(self.scenario):
            return 1
        if self.options.workers is None and rows * self.options.runs < PARALLEL_FROM:
            return 1
        return self.options.workers or os.cpu_count() or 1

    def __call__(self, schedules: Sequence[Schedule]) -> list[Result]:
        """The results of schedules, in their order."""
        known = self.state.known
        missing = [one for one in dict.fromkeys(schedules) if one not in known]
        for schedule, result in self._run(missing):
            self.state.add(schedule, result)
            self._done += 1
            self._report()
        return [known[schedule] for schedule in schedules]

    def _run(self, schedules: Sequence[Schedule]) -> Iterator[tuple[Schedule, Result]]:
        if self._submit is None or len(schedules) < 2:
            for schedule in schedules:
                scenario = with_faults(self.scenario, schedule)
                with _told(scenario):
                    result = result_of(scenario, self.simulate(scenario), self.demanded)
                yield schedule, result
            return
        futures = {self._submit(_result, schedule): schedule for schedule in schedules}
        pending: set[Future[Result]] = set(futures)
        while pending:
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                with _told(with_faults(self.scenario, futures[future])):
                    result = future.result()
                yield futures[future], result
            self._report()

    def simulate(self, scenario: Scenario) -> Log:
        """One run, here. Raises KeyboardInterrupt when it is to stop."""
        if self.given:
            return self.given(scenario)
        run = simulating.simulate(scenario, progress=lambda *_: self._goes_on())
        if run.stopped is Reason.INTERRUPTED:
            raise KeyboardInterrupt
        return run.log

    def _goes_on(self) -> bool:
        return self.progress is None or self.progress(min(self._done, self.options.runs), self.options.runs, 0)

    def _report(self) -> None:
        if not self._goes_on():
            raise KeyboardInterrupt


@contextmanager
def _told(scenario: Scenario) -> Iterator[None]:
    """What goes wrong in Gnomon itself is told with the faults that bring it about."""
    try:
        yield
    except BrokenProcessPool:
        raise GnomonError("a simulating process was ended from outside; was there enough memory?") from None
    except (GnomonError, OSError, MemoryError):
        raise
    except Exception as error:
        faults = [told(fault_data(one)) for one in scenario.faults if isinstance(one, Failure)]
        raise InvariantError(f"{type(error).__name__}: {error}", story=faults, seed=scenario.seed) from error


_at_work: list[tuple[Scenario, tuple[Property, ...]]] = []
"""In a process of the pool: what it runs."""


def _begin(scenario: Scenario, texts: Sequence[str]) -> None:
    _at_work[:] = [(scenario, tuple(parse_property(text) for text in texts))]


def _result(schedule: Schedule) -> Result:
    scenario, demanded = _at_work[0]
    scenario = with_faults(scenario, schedule)
    return result_of(scenario, simulating.simulate(scenario).log, demanded)
