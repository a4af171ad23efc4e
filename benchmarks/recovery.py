"""What the other two loops cost, and what they say.

- idle: the 100,000 jobs of ``batch`` under EASY, alone and with usage and faults that never matter, in one process, in
  turn; CPU seconds of the simulation, the best of six each.
- retries: 100,000 tasks whose attempts fail with a chance of 10 %, three retries: the part that is done, against
  1 - 0.1^4 and its 99.9 % interval.
- checkpoints: waste over a grid of intervals, MTBF 24 h, cost 5 min, the same failures for each; and by Daly's formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

from benchmarks.results import Row
from gnomon.api import (
    Checkpoint,
    Cluster,
    Failure,
    FailureProcess,
    Fault,
    Heartbeat,
    Operation,
    Profile,
    Recovery,
    Resources,
    Retry,
    Scenario,
    Shape,
    Task,
    Usage,
    Work,
    parse_policy,
    simulate,
)
from gnomon.recovery.arithmetic import retry_survival
from gnomon.recovery.checkpoint import daly_ns, expected_factor
from gnomon.traces.synthetic import common

SECOND = 10**9
HOUR = 3_600 * SECOND


COLUMNS = {"what": ("what is run", "{}"), "found": ("what is found", "{}")}
PARTS = (0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5)


def rows() -> Iterator[Row]:
    for what, find in RUNS.items():
        yield {"what": what, "found": find()}


def idle() -> str:
    work, pool = common(100_000), Cluster.of_processors(1024)
    usages = tuple(Usage((("cpu", Profile(((0, shape.request.cpu_milli),))),)) for shape in work.shapes)
    plain = Scenario(pool, work, parse_policy("easy"))
    idling = replace(
        plain,
        work=replace(work, usages=usages, usage=work.shape.copy()),
        faults=(Failure(Fault.CRASH, 2**60, SECOND, ("pool",)),),
        operation=Operation(detection=Heartbeat(10 * SECOND, 5 * SECOND, 50 * SECOND)),
    )
    best = {"plain": 1e9, "idle": 1e9}
    digests = set()
    for _ in range(6):
        for name, scenario in (("plain", plain), ("idle", idling)):
            run = simulate(scenario, compiled=True)
            best[name] = min(best[name], sum(run.timings.values()))
            digests.add(run.log.digest())
    assert len(digests) == 1, "idle faults changed the log"
    return f"{best['idle'] / best['plain']:.2f} × the CPU time of all parts of a run; the log is the same to the byte"


def retries() -> str:
    tasks = 100_000
    one, three = Shape(Resources(cpu_milli=1_000)), Recovery((Retry(("exit",), limit=3),))
    work = Work.from_tasks(Task(str(i), one, duration_ns=60 * SECOND, recovery=three) for i in range(tasks))
    fails = (Failure(Fault.FAIL, targets=("task/*",), amount=1_000),)
    run = simulate(Scenario(Cluster.of_processors(1_000), work, faults=fails), compiled=True)
    done, expected = run.metrics()["done"] / tasks, retry_survival(0.9, 3)
    interval = 3.29 * sqrt(expected * (1 - expected) / tasks)
    return f"{done:.5f} done, {expected:.5f} ± {interval:.5f} expected (99.9 %); {run.timings['simulate']:.1f} s"


def checkpoints() -> str:
    cost, mtbf, restart, work_ns = HOUR // 12, 24 * HOUR, HOUR // 6, 10_000 * 24 * HOUR
    daly, waste = daly_ns(cost, mtbf), {}
    for part in PARTS:
        every = round(daly * part)
        task = Task("train", Shape(Resources(cpu_milli=1_000)), duration_ns=work_ns)
        work = Work.from_tasks([replace(task, recovery=Recovery(checkpoint=Checkpoint(every, cost, restart)))])
        kills = (FailureProcess(Fault.KILL, ("task/train",), mtbf),)
        run = simulate(Scenario(Cluster.of_processors(1), work, faults=kills, seed=5), compiled=False)
        waste[part] = 1 - work_ns / int(run.outcome.end_ns[0])
    least = min(waste, key=lambda part: waste[part])
    formula = 1 - 1 / expected_factor(daly, cost, restart, mtbf)
    return (
        f"the least waste at {least:g} × Daly's interval ({daly / SECOND:,.0f} s); there {100 * waste[1.0]:.2f} %, "
        f"{100 * formula:.2f} % by formula"
    )


RUNS = {
    "100,000 jobs under EASY with usage and faults that never matter, against the same alone": idle,
    "100,000 tasks whose attempts fail with a chance of 10 %, three retries": retries,
    "10,000 days of one task, MTBF 24 h, a checkpoint costs 5 min, ten intervals": checkpoints,
}
