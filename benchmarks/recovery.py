"""What the other two loops cost, and what they say.

- idle: the 100,000 jobs of ``batch`` under EASY, alone and with usage and faults that never matter, in one process, in
  turn; CPU seconds of the simulation, the best of six each.
- retries: 100,000 tasks whose attempts fail with a chance of 10 %, three retries: the part that is done, against
  1 - 0.1^4 and its 99.9 % interval.
- checkpoints: waste over a grid of intervals, MTBF 24 h, cost 5 min, the same failures for each; and by Daly's formula.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

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


def main() -> None:
    idle()
    retries()
    checkpoints()


def idle() -> None:
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
    print(f"idle         {best['plain']:.3f} s alone, {best['idle']:.3f} s with usage and faults at rest", end="")
    print(f": x {best['idle'] / best['plain']:.2f}")


def retries() -> None:
    tasks = 100_000
    one, three = Shape(Resources(cpu_milli=1_000)), Recovery((Retry(("exit",), limit=3),))
    work = Work.from_tasks(Task(str(i), one, duration_ns=60 * SECOND, recovery=three) for i in range(tasks))
    fails = (Failure(Fault.FAIL, targets=("task/*",), amount=1_000),)
    run = simulate(Scenario(Cluster.of_processors(1_000), work, faults=fails), compiled=True)
    done, expected = run.metrics()["done"] / tasks, retry_survival(0.9, 3)
    interval = 3.29 * sqrt(expected * (1 - expected) / tasks)
    print(f"retries      {done:.5f} done, expected {expected:.5f} +- {interval:.5f}; {run.timings['simulate']:.1f} s")


def checkpoints() -> None:
    cost, mtbf, restart, work_ns = HOUR // 12, 24 * HOUR, HOUR // 6, 10_000 * 24 * HOUR
    daly, waste = daly_ns(cost, mtbf), {}
    print(f"checkpoints  Daly's interval {daly / SECOND:.0f} s")
    for part in (0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5):
        every = round(daly * part)
        task = Task("train", Shape(Resources(cpu_milli=1_000)), duration_ns=work_ns)
        work = Work.from_tasks([replace(task, recovery=Recovery(checkpoint=Checkpoint(every, cost, restart)))])
        kills = (FailureProcess(Fault.KILL, ("task/train",), mtbf),)
        run = simulate(Scenario(Cluster.of_processors(1), work, faults=kills, seed=5), compiled=False)
        waste[part] = 1 - work_ns / int(run.outcome.end_ns[0])
        formula = 1 - 1 / expected_factor(every, cost, restart, mtbf)
        bar = "#" * int(400 * waste[part])
        print(f"             x {part:<4} {waste[part]:7.3%} wasted, by formula {formula:7.3%}  {bar}")
    print(f"             at Daly's interval {waste[1.0] / min(waste.values()) - 1:.2%} above the least of the grid")


if __name__ == "__main__":
    main()
