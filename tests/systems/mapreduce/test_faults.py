"""Random faults over a job of five stages, under random options: who completes has the files of a run without faults,
which are those of the plan run without a cluster; who does not says why."""

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
from gnomon.systems.mapreduce.execution import Tasks
from gnomon.systems.mapreduce.scenario import read_job

OPTIONS: dict[str, tuple[Any, ...]] = {
    "mapreduce.map.speculative": (True, False),
    "mapreduce.reduce.speculative": (True, False),
    "mapreduce.job.speculative.retry-after-no-speculate": (10, 1000),
    "mapreduce.job.reduce.slowstart.completedmaps": (0, 0.05, 1),
    "mapreduce.map.maxattempts": (1, 4),
    "mapreduce.task.io.sort.factor": (2, 10),
    "mapreduce.map.combine.minspills": (1, 3),
    "mapreduce.job.ubertask.enable": (False, False, False, True),
    "mapreduce.fileoutputcommitter.algorithm.version": (1, 2),
    "mapreduce.am.max-attempts": (1, 2),
    "yarn.nm.liveness-monitor.expiry-interval-ms": (100, 5_000, 600_000),
    "mapreduce.reduce.shuffle.maxfetchfailures": (1, 10),
    "mapreduce.reduce.shuffle.input.buffer.percent": (0.0, 0.7),
}
NODES = (Fault.CRASH, Fault.REBOOT, Fault.PARTITION, Fault.SLOW, Fault.DRAIN)


def job(*, combine: bool) -> Dataflow:
    """The key 0 has two fifths of the records; a shuffle is joined with what was made of it, and united with it."""
    flow = Dataflow("five")
    numbers = flow.source([list(range(start, 200, 4)) for start in range(4)])
    keyed = numbers.map(lambda n: (0 if n % 5 < 2 else n % 10 + 1, n))
    sums = keyed.reduce_by_key(add, partitions=3, combine=combine)
    most = sums.map(lambda pair: (pair[0] % 3, pair[1])).aggregate(0, max, max, partitions=2, combine=combine)
    both = most.join(sums.map_values(str), how="full", partitions=2).map_values(repr)
    texts = both.union(sums.map_values(repr)).group_by_key(partitions=3)
    texts.map_values(lambda found: "|".join(sorted(found))).sort_by_key(partitions=2).sink("out")
    return flow


WANTED = collect(job(combine=False))


def drawn(scenario: Scenario, draws: random.Random, span_ns: int) -> tuple[Failure, ...]:
    """Up to four faults, one after the other; one of a node may be of all nodes at once."""
    found, at_ns = [], 0
    names = [node.name for node in scenario.cluster.nodes]
    for _ in range(draws.randint(1, 4)):
        at_ns += draws.randint(0, span_ns)
        for_ns = draws.choice([1, span_ns // 10 + 1, draws.randint(1, span_ns), 2 * span_ns])
        task = (f"task/{scenario.work.id(draws.randrange(len(scenario.work)))}",)
        kind = draws.choice((*NODES, Fault.KILL, Fault.FAIL, Fault.LEADER))
        if kind is Fault.FAIL:
            found.append(Failure(kind, targets=task, amount=draws.randint(0, 10_000)))
        elif kind is Fault.KILL:
            found.append(Failure(kind, at_ns=at_ns, for_ns=0, targets=task))
        elif kind is Fault.LEADER:
            found.append(Failure(kind, at_ns=at_ns, for_ns=for_ns))
        else:
            nodes = draws.sample(names, draws.choice([1, 1, 1, min(2, len(names)), len(names)]))
            amount = draws.randint(1_000, 9_000) if kind is Fault.SLOW else 0
            found.append(Failure(kind, at_ns, for_ns, tuple(f"node/{name}" for name in nodes), amount=amount))
        at_ns += for_ns
    return tuple(found)


def files(driver: object) -> dict[str, Any]:
    assert isinstance(driver, Driver)
    assert isinstance(driver.execution, Tasks)
    return driver.execution.outputs[max(driver.execution.outputs)].visible


@pytest.mark.parametrize("seed", [*range(48), 73, 122])
def test_files_are_right_or_the_job_says_why_not(seed: int) -> None:
    draws = random.Random(seed)
    nodes = Cluster(tuple(Node(f"e{n}", Resources(cpu_milli=1000)) for n in range(draws.choice([1, 2, 3, 4, 6]))))
    options = {name: draws.choice(values) for name, values in OPTIONS.items() if draws.random() < 0.7}
    graph = job(combine=draws.choice([False, True])).graph()
    scenario = read_job(graph, lambda each: ({}, {}), nodes, [], options=options, seed=seed)
    calm = simulate(scenario)
    parts = files(calm.native_state)
    assert [record for name in sorted(parts) if name != "_SUCCESS" for record in parts[name]] == WANTED
    span_ns = max(1, int(calm.log.t_ns[-1])) // draws.choice([1, 2, 5])
    run = simulate(replace(scenario, faults=drawn(scenario, draws, span_ns)))
    driver = run.native_state
    assert isinstance(driver, Driver)
    failed = [str(facts["message"]) for facts in run.log.details.values() if facts.get("reason") == "JobFailed"]
    if failed:
        assert any(why in failed[0] for why in (" times", "the driver is lost", "too many fetch failures"))
    else:
        assert not driver.unfinished
        assert files(driver) == parts
    assert not driver.sets, "nothing is offered slots when all is over"
