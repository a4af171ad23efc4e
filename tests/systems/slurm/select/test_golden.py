"""Each start of the recorded cases, asked of the selector with what was taken at that time."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.systems.slurm.config.conf import PartitionConf
from gnomon.systems.slurm.sbatch.features import choices, matches, parse
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.select import Allocation
from tests.shared import ROOT
from tests.systems.slurm.select.replaying import Cluster, Place, conf_in, requests_of

pytestmark = pytest.mark.golden

CASES = sorted((ROOT / "tests" / "golden" / "slurm").glob("*.json"))

DOWN = "nodes were down or drained, or were taken by a run that ended early"
PLANNED = "backfill kept a node for a job that waited"
RESERVED = "a reservation had nodes or cores"
OF_USERS = "nodes are exclusive to users"
ORDER = "jobs that started together, in another order than their numbers"

NOT_OF_PLACEMENT: dict[tuple[str, str], str] = {
    ("all-nodes-down-reason", "3"): DOWN,
    ("gpu-gres-pack", "7"): PLANNED,
    ("hetjob-partitions", "3+0"): PLANNED,
    ("mf-jobsize-big-first", "2"): ORDER,
    ("mf-jobsize-small-first", "3"): ORDER,
    ("node-fail-requeue", "2"): DOWN,
    ("node-fail-restart", "1"): DOWN,
    ("node-fail-restart", "2"): DOWN,
    ("part-limits-enforce-no", "3"): "MaxNodes was changed while the job waited",
    ("part-maxcpuspernode-defmem", "4"): PLANNED,
    ("place-exclusive-user", "2"): OF_USERS,
    ("place-exclusive-user", "4"): OF_USERS,
    ("preempt-qos-requeue", "2"): DOWN,
    ("resv-cores-flex", "1"): RESERVED,
    ("resv-cores-flex", "4"): RESERVED,
    ("resv-partial-future", "1"): RESERVED,
    ("topology-tree", "4"): PLANNED,
}
"""Starts that depend on what the selector is not told here: the model of the controller is held to them."""


def requests_in(case: dict[str, Any]) -> dict[str, tuple[JobRequest, ...]]:
    """What each job asked for, by its number."""
    found = {}
    for reply in case["outcome"]["replies"]:
        step = case["steps"][reply["step"]]
        if step["do"] == "sbatch" and "Submitted batch job" in reply["text"]:
            found[reply["text"].split()[-1]] = requests_of([str(arg) for arg in step["args"]], step.get("script"))
    return found


def request_for(job: dict[str, Any], requests: dict[str, tuple[JobRequest, ...]]) -> JobRequest | None:
    base, _, component = job["id"].split("_")[0].partition("+")
    if base not in requests or not job["alloc"] or job["start_s"] is None:
        return None
    return requests[base][int(component or 0)]


def usable_for(cluster: Cluster, job: dict[str, Any], request: JobRequest, partition: PartitionConf) -> Any:
    """Nodes of the partition that are not excluded and have the features of those that the job got."""
    usable = cluster.mask(partition.nodes) & ~cluster.mask(request.exclude)
    if not request.features:
        return usable
    for choice in choices(parse(request.features)):
        having = np.array([matches(choice, node.features) for node in cluster.conf.nodes])
        if all(having[cluster.number[node]] for node in job["nodes"]):
            return usable & having
    return usable


def as_numbers(tres: str) -> dict[str, int]:
    return {name: int(count.rstrip("M")) for name, _, count in (part.partition("=") for part in tres.split(","))}


def places_in(job: dict[str, Any]) -> list[Place]:
    per_node = job["alloc"]["per_node"]
    return [(node, one["cpu_ids"], one["mem_mb"], one["gres"]) for one in per_node for node in one["nodes"]]


def events_of(case: dict[str, Any]) -> list[tuple[float, int, int, dict[str, Any], JobRequest]]:
    """Starts (1) and ends (0) in order."""
    requests, found = requests_in(case), []
    for place, job in enumerate(case["outcome"]["jobs"]):
        request = request_for(job, requests)
        if request is not None:
            number = int(job["id"].split("_")[0].split("+")[0]) * 1000 + place
            found.append((job["start_s"], 1, number, job, request))
            if job["end_s"] is not None:
                found.append((job["end_s"], 0, number, job, request))
    return sorted(found, key=lambda event: event[:3])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_jobs_start_where_they_started(path: Path) -> None:
    case = json.loads(path.read_text())
    cluster = Cluster(conf_in(case))
    partitions = {partition.name: partition for partition in cluster.conf.partitions}
    held: dict[str, Allocation] = {}
    otherwise = set()
    for _, starts, _, job, request in events_of(case):
        if not starts:
            if job["id"] in held:
                cluster.occupancy.give(held.pop(job["id"]))
            continue
        partition = partitions.get(job["partition"], cluster.partition)
        demand = cluster.selector.demand_of(request, partition)
        usable, required = usable_for(cluster, job, request, partition), cluster.mask(request.node_list)
        found = cluster.selector.select(cluster.occupancy, demand, usable, required)
        places, tres = places_in(job), as_numbers(job["alloc"]["tres"])
        counted = cluster.selector.tres(found, partition) if found else {}
        if cluster.places(found) != places or {name: count for name, count in counted.items() if count} != tres:
            otherwise.add(job["id"])
        held[job["id"]] = cluster.recorded(
            sorted(places, key=lambda place: cluster.number[place[0]]), demand, job["alloc"]["cpus"]
        )
        cluster.occupancy.take(held[job["id"]])
    assert otherwise == {job for name, job in NOT_OF_PLACEMENT if name == path.stem}
