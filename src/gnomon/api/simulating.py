"""Running scenarios: one, several side by side, and one against what its trace recorded."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, Final

import numpy as np

from gnomon.api.endless import functions_end
from gnomon.api.run import Run
from gnomon.api.systems import SYSTEMS
from gnomon.backends.processes import side_by_side
from gnomon.control.batch.plan import batch_of
from gnomon.control.control import Control, controlled
from gnomon.engine.invariants import check
from gnomon.engine.log import Log
from gnomon.engine.run import Ports, log_of, run
from gnomon.engine.world import ARRIVED, ASK, DECIDED, NOW, WAITING, World
from gnomon.insight.calibrate import Calibration
from gnomon.model.errors import GnomonError
from gnomon.model.scenario import Scenario
from gnomon.scheduling.compose import Composition
from gnomon.scheduling.custom import ask_order, ask_placement
from gnomon.scheduling.queueing import list_waiting, relink

Progress = Callable[[int, int, int], bool]
"""``progress(done, total, now_ns)``: tasks that have arrived, all tasks, simulated time; False stops the run."""


def simulate(
    scenario: Scenario,
    *,
    invariants: bool = False,
    compiled: bool | None = None,
    native_state: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run a scenario to its end, or to one of its limits.

    - ``invariants``: check the world after every instant (slow).
    - ``compiled``: use the compiled kernels (None: when the run is large enough to be worth it); the log is the same,
      to the byte.
    - ``native_state``: what the system's own scheduler holds at the end is wanted, which the fastest way of a system
      may not have.
    - ``progress(done, total, now_ns)``: called now and then; where it is False, the run stops.

    Raises InputError for a scenario that makes no sense, InvariantError when Gnomon is at fault.

    >>> from gnomon.api import Cluster, Resources, Shape, Task, Work
    >>> one = Shape(Resources(cpu_milli=1_000))
    >>> jobs = Work.from_tasks(Task(name, one, duration_ns=60 * 10**9) for name in ("a", "b"))
    >>> simulate(Scenario(Cluster.of_processors(1), jobs)).metrics()["wait_s"]["max"]
    60.0
    """
    begun = process_time()
    fast = _worth_compiling(scenario) if compiled is None else compiled
    if fast and not invariants and not native_state and (done := _replayed(scenario, progress)) is not None:
        return done
    parts, control = controlled(scenario, SYSTEMS[scenario.system].make_placer())
    advance, list_units, link, enter = _forms(parts, fast=fast)
    if control and fast:
        _speed_up(control)
    laid_out = process_time()
    ports = Ports(
        next_time=parts.next_time,
        order=partial(_put_in_order, parts, list_units, link) if parts.order else None,
        place=partial(_place, parts) if parts.placement else None,
        check=partial(_check, scenario.seed, control) if invariants else None,
        progress=partial(_report, progress) if progress else None,
        events=control.events if control else None,
        stuck=control.is_stuck if control else None,
    )
    with _few_looks_for_garbage(scenario), _functions_watched(scenario):
        world, stopped = run(parts.world, advance, scenario.limits, ports, enter)
    ran = process_time()
    log = log_of(world).renumbered(parts.node_of)
    if control:
        log = replace(log, details=control.details)
    timings = {"compile": laid_out - begun, "simulate": ran - laid_out, "log": process_time() - ran}
    return Run(scenario, log, timings, stopped, scenario.work.notes, control.native_state if control else None)


_OBJECTS: Final = 200_000


@contextmanager
def _few_looks_for_garbage(scenario: Scenario) -> Iterator[None]:
    """Records of jobs stay until they are read: to look for garbage among them at every 700 new ones is a quarter of
    the time."""
    before = gc.get_threshold()
    if batch_of(scenario) is not None and 0 < before[0] < _OBJECTS:
        gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _functions_watched(scenario: Scenario) -> AbstractContextManager[None]:
    """Functions of the user run in this process: one that never ends is not to hang it."""
    batch = batch_of(scenario)
    return functions_end() if batch is not None and batch.execution.has_functions else nullcontext()


def _replayed(scenario: Scenario, progress: Progress | None) -> Run | None:
    """A run as the system does it fastest, None if it is for the loop."""
    replay = SYSTEMS[scenario.system].make_replayer()
    begun = process_time()
    found = replay(scenario, progress) if replay is not None else None
    if found is None:
        return None
    log, stopped, laid_out = found
    timings = {"compile": laid_out, "simulate": process_time() - begun - laid_out, "log": 0.0}
    return Run(scenario, log, timings, stopped, scenario.work.notes)


def _check(seed: int, control: Control | None, world: World) -> None:
    check(world, seed=seed)
    if control:
        control.check()


def compare(
    scenarios: Sequence[Scenario], *, workers: int | None = None, progress: Progress | None = None
) -> list[Run]:
    """Run scenarios side by side; the runs come in the order of the scenarios.

    - ``workers``: how many processes (None: one a core). Scenarios with functions of the user's, which cannot be sent
      to another process, run in this one.
    - ``progress(done, total, 0)``: runs that are done; where it is False, KeyboardInterrupt is raised.

    Raises what :func:`simulate` raises, and GnomonError when a process was ended from outside.

    >>> from dataclasses import replace
    >>> from gnomon.api import Cluster, Policy, Resources, Shape, Task, Work
    >>> one = Shape(Resources(cpu_milli=1_000))
    >>> jobs = Work.from_tasks(Task(f"{s} s", one, duration_ns=s * 10**9) for s in (90, 10))
    >>> first = Scenario(Cluster.of_processors(1), jobs)
    >>> runs = compare([first, replace(first, policy=Policy("sjf"))], workers=1)
    >>> [run.metrics()["wait_s"]["mean"] for run in runs]
    [45.0, 5.0]
    """
    workers = min(workers or os.cpu_count() or 1, len(scenarios))
    warm_up({scenario.system for scenario in scenarios if _worth_compiling(scenario)})
    if workers <= 1 or not all(can_be_sent(scenario) for scenario in scenarios):
        return [simulate(scenario, progress=progress) for scenario in scenarios]
    with side_by_side(workers) as submit:
        futures = [submit(_simulate_log, scenario) for scenario in scenarios]
        _await(futures, progress)
    found = zip(scenarios, (future.result() for future in futures), strict=True)
    return [Run(scenario, log, timings, stopped, scenario.work.notes) for scenario, (log, timings, stopped) in found]


def can_be_sent(scenario: Scenario) -> bool:
    """Whether another process can run a scenario: no function of the user is in it."""
    batch = batch_of(scenario)
    ours = batch is None or not batch.execution.has_functions
    return ours and not (callable(scenario.policy.order) or callable(scenario.policy.placement))


def _await(futures: Sequence[Future[Any]], progress: Progress | None) -> None:
    """Wait until all are done. Raises what one of them raised, or KeyboardInterrupt when ``progress`` says stop."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION)
        for future in done:
            try:
                future.result()
            except BrokenProcessPool:
                raise GnomonError("a simulating process was ended from outside; was there enough memory?") from None
        if progress and not progress(len(futures) - len(pending), len(futures), 0):
            raise KeyboardInterrupt


def calibrate(what: Run | Scenario) -> Calibration:
    """Set simulated waits against those that the trace recorded; a scenario is simulated first.

    >>> from gnomon.api import Cluster, Task, Work
    >>> calibrate(Scenario(Cluster.of_processors(1), Work.from_tasks([Task("a")]))).compared  # no wait was recorded
    0
    """
    from gnomon.insight.calibrate import calibrate as calibration

    done = what if isinstance(what, Run) else simulate(what)
    return calibration(done.scenario, done.log)


def _simulate_log(scenario: Scenario) -> tuple[Log, Any, Any]:
    done = simulate(scenario)
    return done.log, done.timings, done.stopped


def _worth_compiling(scenario: Scenario) -> bool:
    """Whether it is not done before the compiled kernels are even loaded."""
    tasks, nodes, enough = len(scenario.work), len(scenario.cluster.nodes), SYSTEMS[scenario.system].compile_from
    return tasks >= enough or tasks * nodes >= 100 * enough


def _forms(parts: Composition, *, fast: bool) -> tuple[Any, Any, Any, Callable[[World], Any]]:
    """The kernels that the loop calls, and how the world enters them."""
    if not fast:
        return parts.advance, list_waiting, relink, lambda world: world
    from gnomon.engine.fast import Block, compiled

    return compiled(parts.advance), compiled(list_waiting), compiled(relink), Block


def _speed_up(control: Control) -> None:
    from gnomon.engine.fast import Block, compiled

    control.speed_up(compiled, Block)


def warm_up(systems: Collection[str]) -> None:
    """Compile the kernels by which large runs of these systems are done: once, here, rather than in each of several
    processes. Those that an earlier process compiled are read."""
    if not systems:
        return
    from gnomon.engine.compiling import KERNELS
    from gnomon.engine.fast import compiled

    for system in systems:
        SYSTEMS[system].make_replayer()  # its kernels are known when it is loaded
    others = tuple(f"gnomon.systems.{name}." for name in SYSTEMS if name not in systems)
    for kernel in [one for one in KERNELS if not one.__module__.startswith(others)]:
        compiled(kernel)


def _put_in_order(parts: Composition, list_units: Any, link: Any, world: World, state: Any) -> None:
    """Ask a dynamic order about the waiting units, and relink the queue by (key, rank)."""
    if world.at[WAITING] < 2 or parts.order is None:
        return
    units = world.victims[: list_units(state)].copy()
    keys = ask_order(parts.order, parts.view, world.member[world.first[units]].astype(np.int64))
    link(state, units[np.lexsort((world.rank[units], keys))])


def _place(parts: Composition, world: World) -> None:
    """Ask a placement written in Python for the node of one task."""
    nodes = np.flatnonzero(world.feasible)
    assert parts.placement is not None
    world.decided[world.at[DECIDED]] = ask_placement(parts.placement, parts.view, int(world.at[ASK]), nodes)


def _report(progress: Progress, world: World) -> bool:
    return progress(int(world.at[ARRIVED]), len(world.arrivals), int(world.at[NOW]))
