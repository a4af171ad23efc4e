"""Random faults over a job of five stages: what completes has the same bytes, and what fails says why.

Half of the schedules run by MapReduce's rules, half by Spark's, every second one with speculation (and Spark with
exclusion), each with one to five faults: nodes that crash, restart, slow down, are cut off or full, tasks that are
killed or fail, the driver or master lost. The job sums up one input, joins it with the other, groups and sorts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import add
from random import Random
from typing import Any

from benchmarks.results import Row
from gnomon.control.batch.play import played
from gnomon.dataflow import Dataflow
from gnomon.engine.log import Log
from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import Resources
from gnomon.model.scenario import Limits, Scenario
from gnomon.systems.mapreduce.read import read_configuration
from gnomon.systems.mapreduce.scenario import scenario_of
from gnomon.systems.spark.conf import Conf
from gnomon.systems.spark.scenario import Settings, of_job

SYSTEMS = ("spark", "mapreduce")
NODES = 4
MS = 1_000_000
END_NS = 40 * 3_600_000 * MS
"""Long after the last time-out of either engine."""


def five_stages() -> Dataflow:
    """A job that Spark cuts into five stages, beside the one that samples for the sort."""
    flow = Dataflow("five")
    sold = flow.source([[(n * 7 % 23, n) for n in range(part, 400, 4)] for part in range(4)], name="sold")
    names = flow.source([[(n % 23, f"item {n % 23}") for n in range(part, 46, 3)] for part in range(3)], name="names")
    totals = sold.reduce_by_key(add, partitions=3, combine=True, name="totals")
    joined = totals.join(names, partitions=3, name="joined")
    lengths = joined.map(lambda pair: (len(pair[1][1]), pair[1][0]), name="lengths").group_by_key(partitions=2)
    lengths.map_values(sorted, name="ordered").sort_by_key(partitions=2, name="sorted").collect(name="out")
    return flow


def scenario(system: str, seed: int) -> Scenario:
    """The job on four nodes of two slots, undisturbed."""
    machine = Machine(disk_bytes=1 << 30)
    nodes = Cluster(tuple(Node(f"n{n}", Resources(cpu_milli=2000), machine=machine) for n in range(NODES)))
    graph = five_stages().graph()
    if system == "mapreduce":
        copies = str(seed % 4 < 2).lower()
        said = {"mapreduce.map.speculative": copies, "mapreduce.reduce.speculative": copies}
        made = scenario_of(graph, nodes, read_configuration([], said), seed=seed)
    else:
        both = "spark.speculation", "spark.excludeOnFailure.enabled"
        conf = Conf({name: str(seed % 4 < 2).lower() for name in both})
        made = replace(of_job(graph, nodes, Settings(conf)), seed=seed)
    return replace(made, limits=Limits(until_ns=END_NS))


KINDS: tuple[tuple[Fault, Callable[[Random], int]], ...] = (
    (Fault.CRASH, lambda draw: 0),
    (Fault.REBOOT, lambda draw: 0),
    (Fault.PARTITION, lambda draw: 0),
    (Fault.SLOW, lambda draw: draw.choice((1_000, 5_000))),
    (Fault.DISK_FULL, lambda draw: draw.choice((0, 200))),
    (Fault.KILL, lambda draw: 0),
    (Fault.FAIL, lambda draw: draw.choice((1_000, 4_000))),
    (Fault.LEADER, lambda draw: 0),
)


def schedule(draw: Random, makespan_ns: int) -> tuple[Failure, ...]:
    """One to five faults within the time of the run and a half, of a kind one a target."""
    faults = [_fault(draw, makespan_ns) for _ in range(draw.randint(1, 5))]
    down = (Fault.CRASH, Fault.REBOOT)
    return tuple({(Fault.CRASH if one.kind in down else one.kind, one.targets): one for one in faults}.values())


def _fault(draw: Random, makespan_ns: int) -> Failure:
    kind, amount = draw.choice(KINDS)
    at, length = draw.randrange(makespan_ns * 3 // 2), draw.choice((makespan_ns // 10, makespan_ns, 30 * makespan_ns))
    targets: tuple[str, ...] = (f"node/n{draw.randrange(NODES)}",)
    if kind is Fault.LEADER:
        targets = ()
    elif kind in (Fault.KILL, Fault.FAIL):
        targets = ("task/*",)
    return Failure(
        kind, at_ns=at, for_ns=0 if kind is Fault.KILL else max(length, 1), targets=targets, amount=amount(draw)
    )


@dataclass(frozen=True)
class Outcome:
    """``output``: the bytes of the result, None if the job did not end; ``why``: what is said then."""

    output: bytes | None
    why: str
    end_ns: int


def outcome(made: Scenario) -> Outcome:
    """Run a scenario, and look at what came of its jobs."""
    log, driver = played(made)
    end = int(log.t_ns[-1]) if len(log) else 0
    failed = [str(facts["message"]) for facts in log.details.values() if facts.get("reason") == "JobFailed"]
    if failed:
        return Outcome(None, failed[0], end)
    if driver.unfinished:
        return Outcome(None, _stands(log, driver), end)
    execution: Any = driver.execution
    return Outcome(repr(execution.records()).encode(), "", end)


def _stands(log: Log, driver: Any) -> str:
    """Why a job that has neither ended nor failed does not go on: the driver is away, or no node can be used."""
    if driver.away:
        return "the driver is lost"
    if all(driver.board.w.closed[node] or not driver.hands.is_up(node) for node in driver.node_at):
        return "no node is left"
    return ""


def reason(why: str) -> str:
    """The kind of a failure, without its numbers."""
    for known in (
        "No space left",
        "DiskErrorException",
        "driver is lost",
        "no node is left",
        "could not fetch",
        "may not run",
    ):
        if known in why:
            return known
    return "failed too often" if " failed " in why else why or "says nothing"


SCHEDULES = 1_000
COLUMNS = {"what": ("", "{}"), "spark": ("Spark", "{:,}"), "mapreduce": ("MapReduce", "{:,}")}
WORDS = {
    "the same bytes": "complete, the same bytes",
    "OTHER BYTES": "complete, other bytes",
    "says nothing": "fail, and do not say why",
    "driver is lost": "fail: the driver is lost (MapReduce: another master takes over)",
    "failed too often": "fail: a task failed four times",
    "No space left": "fail: a disk was full four times",
    "DiskErrorException": "fail: a disk was full four times",
    "may not run": "fail: nowhere to run, after exclusion (MapReduce: a third of the nodes is never left out)",
    "no node is left": "fail: no node is left",
    "could not fetch": "fail: outputs could not be fetched",
}


def rows() -> Iterator[Row]:
    calm = {system: outcome(scenario(system, 0)) for system in SYSTEMS}
    found: Counter[tuple[str, str]] = Counter()
    for seed in range(SCHEDULES):
        system = SYSTEMS[seed % 2]
        faults = schedule(Random(seed), calm[system].end_ns)
        ended = outcome(replace(scenario(system, seed), faults=faults))
        kind = reason(ended.why) if ended.output is None else "the same bytes"
        if ended.output is not None and ended.output != calm[system].output:
            kind = "OTHER BYTES"
        if kind in ("OTHER BYTES", "says nothing"):
            print(f"seed {seed} ({system}): {kind}: {faults}")
        found[system, WORDS.get(kind, kind)] += 1
    for what in dict.fromkeys((*WORDS.values(), *(kind for _, kind in found))):
        if any(found[system, what] for system in SYSTEMS) or what == WORDS["OTHER BYTES"]:
            yield {"what": what} | {system: found[system, what] for system in SYSTEMS}
