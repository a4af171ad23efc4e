"""Random faults over a job of five shuffles, under different options: who completes has the records of a run without
faults, and who does not says why."""

import random
from dataclasses import replace
from operator import add
from typing import Any

import pytest

from gnomon.api import simulate
from gnomon.control.batch.driver import Driver
from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import collect
from gnomon.model.cluster import Cluster, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import Resources
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.execution import Tasks
from gnomon.systems.spark.scenario import read_job

MS = 1_000_000
QUICK = {"spark.network.timeout": "20ms", "spark.executor.heartbeatInterval": "5ms"}
EAGER_COPIES = {
    "spark.speculation": True,
    "spark.speculation.minTaskRuntime": "1ms",
    "spark.speculation.interval": "1ms",
    "spark.speculation.quantile": 0.5,
    "spark.speculation.multiplier": 1,
    "spark.speculation.efficiency.enabled": False,
}
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    QUICK,
    {**QUICK, **EAGER_COPIES},
    {**QUICK, "spark.excludeOnFailure.enabled": True},
    {**QUICK, "spark.sql.adaptive.enabled": True},
    {**QUICK, "spark.shuffle.service.enabled": True},
    {**QUICK, "spark.dynamicAllocation.enabled": True},
    {**QUICK, "spark.driver.supervise": True},
)
NODES = (Fault.CRASH, Fault.REBOOT, Fault.PARTITION, Fault.SLOW, Fault.DRAIN)


def job() -> Dataflow:
    flow = Dataflow("five")
    numbers = flow.source([list(range(start, 200, 4)) for start in range(4)])
    by_ten = numbers.map(lambda n: (n % 10, n)).reduce_by_key(add, partitions=3)
    by_three = by_ten.map(lambda pair: (pair[0] % 3, pair[1])).group_by_key(partitions=2)
    by_three.map_values(len).join(by_ten.map_values(str), partitions=2).sort_by_key(partitions=2).collect()
    return flow


EXPECTED = collect(job())


def drawn(scenario: Scenario, draws: random.Random) -> tuple[Failure, ...]:
    """Up to four faults, those of a node one after the other."""
    found, at_ns = [], 0
    for _ in range(draws.randint(0, 4)):
        at_ns += draws.randint(1, 30) * MS
        for_ns = draws.randint(1, 20) * MS
        task = (f"task/{scenario.work.id(draws.randrange(len(scenario.work)))}",)
        kind = draws.choice((*NODES, Fault.KILL, Fault.FAIL, Fault.LEADER))
        if kind is Fault.FAIL:
            found.append(Failure(kind, targets=task, amount=draws.randint(1_000, 9_000)))
        elif kind is Fault.KILL:
            found.append(Failure(kind, at_ns=at_ns, for_ns=0, targets=task))
        elif kind is Fault.LEADER:
            found.append(Failure(kind, at_ns=at_ns, for_ns=for_ns))
        else:
            amount = draws.randint(1_000, 9_000) if kind is Fault.SLOW else 0
            node = (f"node/e{draws.randrange(3)}",)
            found.append(Failure(kind, at_ns=at_ns, for_ns=for_ns, targets=node, amount=amount))
        at_ns += for_ns
    return tuple(found)


@pytest.mark.parametrize("seed", range(72))
def test_records_are_right_or_the_job_says_why_not(seed: int) -> None:
    draws = random.Random(seed)
    executors = Cluster(tuple(Node(f"e{n}", Resources(cpu_milli=2000)) for n in range(3)))
    options = OPTIONS[seed % len(OPTIONS)]
    scenario = read_job(job().graph(), lambda each: ({}, {}), executors, [], options=options, seed=seed)
    run = simulate(replace(scenario, faults=drawn(scenario, draws)), invariants=True)
    driver = run.native_state
    assert isinstance(driver, Driver)
    assert isinstance(driver.execution, Tasks)
    failed = [str(facts["message"]) for facts in run.log.details.values() if facts.get("reason") == "JobFailed"]
    if failed:
        assert any(why in failed[0] for why in ("failed 4 times", "may not run on any node", "the driver is lost"))
    else:
        assert not driver.unfinished
        assert driver.execution.records() == EXPECTED


def test_the_same_seed_gives_the_same_log() -> None:
    executors = Cluster(tuple(Node(f"e{n}", Resources(cpu_milli=2000)) for n in range(3)))
    scenario = read_job(job().graph(), lambda each: ({}, {}), executors, [], options=QUICK, seed=3)
    scenario = replace(scenario, faults=drawn(scenario, random.Random(3)))
    assert simulate(scenario).log.digest() == simulate(scenario, compiled=False).log.digest()
