"""Plain YAML: what an entry means in the model, and what is refused with file, line, field and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gnomon.formats.yaml import Located, parse_yaml
from gnomon.model.cluster import Cluster, Machine, Node, Reservation
from gnomon.model.errors import InputError
from gnomon.model.recovery import Recovery, Retry
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.scenario import Tenant
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Note, Shape, Task
from gnomon.systems.plain.read import read_cluster, read_reservations, read_tenants, read_work

S = 10**9
ONE_NODE = Cluster((Node("a", Resources(cpu_milli=8000)),))


def document(text: str) -> Located:
    (found,) = parse_yaml(text, file="f.yaml")
    return found


def nodes(entry: str) -> tuple[Node, ...]:
    return read_cluster(document(f"nodes: [{{{entry}}}]")).nodes


def tasks(entry: str) -> list[Task]:
    work = read_work(document(f"[{{{entry}}}]"))
    return [work.task(index) for index in range(len(work))]


def reservations(entry: str) -> tuple[Reservation, ...]:
    return read_reservations(document(f"[{{{entry}}}]"), ONE_NODE)


def tenants(entry: str) -> tuple[Tenant, ...]:
    return read_tenants(document(f"[{{{entry}}}]"))


MEANS: dict[str, tuple[Callable[[str], Any], str, Any]] = {
    "a node with all it can have": (
        nodes,
        "name: a, cpu: 8, memory: 32Gi, gpus: 4, kind: a100, labels: {zone: west, disk: ssd}, "
        "resources: {licence: 1.5}",
        (
            Node(
                "a",
                Resources(8000, 32 * 2**30, 4, named=(("licence", 15_000),)),
                kind="a100",
                labels=(("disk", "ssd"), ("zone", "west")),
            ),
        ),
    ),
    "what a node really has": (
        nodes,
        "name: a, cpu: 8, memory: 8Gi, "
        "machine: {cpu: 16, memory: 16Gi, used: 1Gi, disk: 100G, disk_rate: 200M, store: 2Gi}",
        (
            Node(
                "a",
                Resources(8000, 8 * 2**30),
                machine=Machine(16_000, 16 * 2**30, 2**30, 100 * 10**9, 200 * 10**6, 2 * 2**30),
            ),
        ),
    ),
    "what it does not say is as the model has it": (
        nodes,
        "name: a, cpu: 8, memory: 8Gi, machine: {used: 1Gi, disk_rate: 1Gi/s}",
        (Node("a", Resources(8000, 8 * 2**30), machine=Machine(used_bytes=2**30, disk_rate=2**30)),),
    ),
    "limits of a task": (
        tasks,
        "id: t, cpu: 1, duration: 90, limits: {cpu: 2, memory: 1Gi, resources: {licence: 1}}",
        [
            Task(
                "t",
                Shape(Resources(1000), limit=Resources(2000, 2**30, named=(("licence", E4),))),
                duration_ns=90 * S,
                estimate_ns=90 * S,
            )
        ],
    ),
    "what a task uses, and what is done for it": (
        tasks,
        "id: t, cpu: 1, duration: 90, usage: {memory: 1Gi}, recovery: {retries: 2}",
        [
            Task(
                "t",
                Shape(Resources(1000)),
                duration_ns=90 * S,
                estimate_ns=90 * S,
                usage=Usage((("memory", Profile(((0, 2**30),))),)),
                recovery=Recovery((Retry(limit=2),)),
            )
        ],
    ),
    "nothing is said of its use": (
        tasks,
        "id: t, cpu: 1, duration: 90, usage: {}, recovery: {}, needs: []",
        [Task("t", Shape(Resources(1000)), duration_ns=90 * S, estimate_ns=90 * S)],
    ),
    "a node that is counted": (
        nodes,
        "name: n, cpu: 1, count: 2",
        (Node("n-0", Resources(1000)), Node("n-1", Resources(1000))),
    ),
    "a count of one is a count": (nodes, "name: n, cpu: 1, count: 1", (Node("n-0", Resources(1000)),)),
    "a task with all it can say": (
        tasks,
        "id: t, cpu: 500m, memory: 1G, gpus: 2, resources: {licence: 1}, submit: 1m, duration: 2h, estimate: 3h, "
        "deadline: 1d, user: ann, queue: batch, priority: -5, job: j, kinds: [a100, h100], labels: {zone: west}",
        [
            Task(
                "t",
                Shape(Resources(500, 10**9, 2, named=(("licence", E4),)), ("a100", "h100"), (("zone", "west"),)),
                submit_ns=60 * S,
                duration_ns=7200 * S,
                estimate_ns=10_800 * S,
                user="ann",
                queue="batch",
                priority=-5,
                deadline_ns=86_400 * S,
                job="j",
            )
        ],
    ),
    "a task with little: the estimate is its duration, the rest is nothing": (
        tasks,
        "id: t, cpu: 1, duration: 90",
        [Task("t", Shape(Resources(1000)), duration_ns=90 * S, estimate_ns=90 * S)],
    ),
    "with an estimate alone it runs as long as it said": (
        tasks,
        "id: t, cpu: 1, estimate: 90",
        [Task("t", Shape(Resources(1000)), duration_ns=90 * S, estimate_ns=90 * S)],
    ),
    "with neither it runs for ever": (
        tasks,
        "id: t, cpu: 1",
        [Task("t", Shape(Resources(1000)), duration_ns=NEVER, estimate_ns=NEVER)],
    ),
    "a part of a device": (
        tasks,
        "id: t, gpu_share: 0.25, duration: 1",
        [Task("t", Shape(Resources(gpus=1, gpu_share_e4=2500)), duration_ns=S, estimate_ns=S)],
    ),
    "a job's tasks take its name": (
        tasks,
        "job: train, gpus: 1, count: 2, duration: 1",
        [Task(f"train-{n}", Shape(Resources(gpus=1)), duration_ns=S, estimate_ns=S, job="train") for n in range(2)],
    ),
    "an id may look like a number": (
        tasks,
        "id: 007, cpu: 1, duration: 1",
        [Task("007", Shape(Resources(1000)), duration_ns=S, estimate_ns=S)],
    ),
    "maintenance of everything": (
        reservations,
        "name: m, start: 1h, for: 2h",
        (Reservation("m", 3600 * S, 10_800 * S),),
    ),
    "a part of a node for somebody, without end": (
        reservations,
        "name: m, node: a, amount: {cpu: 2}, users: [ann]",
        (Reservation("m", 0, NEVER, "a", Resources(2000), ("ann",)),),
    ),
    "a tenant with a share and limits": (
        tenants,
        "name: q, share: 0.6, limit: {cpu: 10, gpus: 2}, max_running: 3",
        (Tenant("q", 0.6, Resources(10_000, gpus=2), 3),),
    ),
    "weight is another word for share": (tenants, "name: q, weight: 2", (Tenant("q", 2.0),)),
    "a tenant that is only named": (tenants, "name: q", (Tenant("q"),)),
}

TASK_FIELDS = (
    "count, cpu, deadline, duration, estimate, gpu_share, gpus, id, job, kinds, labels, limits, memory, needs, "
    "priority, queue, recovery, resources, submit, usage, user"
)

REFUSED: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "a field misspelt": (
        tasks,
        "id: t, cpus: 1",
        f"[0].cpus: unknown field (did you mean 'cpu'?); allowed: {TASK_FIELDS}",
    ),
    "a node without a name": (nodes, "cpu: 1", "nodes[0].name: this is missing"),
    "a negative size": (nodes, "name: a, memory: -1", "nodes[0].memory: not an amount of memory (as in 512Mi, 2Gi, 4G"),
    "its value is shown": (nodes, "name: a, memory: 2Gj", "or plain bytes), found '2Gj'"),
    "10^400 bytes": (nodes, "name: a, memory: 1" + "0" * 399, "or plain bytes): too large, found 1000000000"),
    "not a number": (nodes, "name: a, cpu: NaN", "not a number of CPUs (as in 2, 1.5, 500m), found 'NaN'"),
    "nothing": (nodes, "name: a, cpu: ", "not a number of CPUs (as in 2, 1.5, 500m), found nothing"),
    "half a device of a node": (nodes, "name: a, gpu_share: 0.5", "a node has whole devices: gpus, found 0.5"),
    "half a device as a count": (
        tasks,
        "id: t, gpus: 0.5",
        "gpus: devices are counted; a part of one is gpu_share: 0.5",
    ),
    "parts of several devices": (
        tasks,
        "id: t, gpus: 2, gpu_share: 0.5",
        "gpu_share: a part of a device can be asked of",
    ),
    "a named resource that has a field": (nodes, "name: a, resources: {cpu: 1}", "cpu is a field of its own, beside"),
    "no nodes": (lambda text: read_cluster(document(text)), "nodes: []", "line 1, nodes: a cluster needs a node"),
    "nodes missing": (
        lambda text: read_cluster(document(text)),
        "tasks: []",
        "line 1: nodes are missing; allowed: nodes",
    ),
    "another section": (
        lambda text: read_cluster(document(text)),
        "node: []",
        "line 1, node: unknown field (did you mean 'nodes'?); allowed: nodes, reservations, tasks",
    ),
    "a list where sections are wanted": (
        lambda text: read_cluster(document(text)),
        "[]",
        "line 1: a mapping is wanted",
    ),
    "a task that asks for nothing": (tasks, "id: t, duration: 1", "[0]: this task asks for nothing: say how much cpu"),
    "a task without a name": (tasks, "cpu: 1", "[0]: a task needs an id, or the job that it belongs to"),
    "a count of nothing": (
        tasks,
        "id: t, cpu: 1, count: 0",
        "[0].count: a whole number from 1 to 1000000 is wanted, found 0",
    ),
    "a count without end": (tasks, "id: t, cpu: 1, count: 1000001", "a whole number from 1 to 1000000 is wanted"),
    "counts that are too much together": (
        tasks,
        "id: t, cpu: 1, count: 1000000}, {id: u, cpu: 1, count: 1000000",
        "more than 1000000, counts included",
    ),
    "an id twice": (
        tasks,
        "id: t, cpu: 1}, {id: t, cpu: 1",
        "[1].id: this id is there twice (first in line 1), found 't'",
    ),
    "an id twice by counting": (
        tasks,
        "id: t-1, cpu: 1}, {id: t, cpu: 1, count: 2",
        "[1].id: this id is there twice (first in line 1), found 't-1'",
    ),
    "a job twice without ids": (tasks, "job: j, cpu: 1}, {job: j, cpu: 2", "[1].job: this job is there twice"),
    "a node twice": (nodes, "name: a, cpu: 1}, {name: a, cpu: 1", "nodes[1].name: this name is there twice"),
    "a time before the start": (tasks, "id: t, cpu: 1, submit: -5", "[0].submit: not a duration"),
    "a priority beyond bounds": (
        tasks,
        "id: t, cpu: 1, priority: 9999999999",
        "[0].priority: a whole number from -1000000000 to 1000000000 is wanted, found 9999999999",
    ),
    "a truth value as priority": (tasks, "id: t, cpu: 1, priority: true", "[0].priority: a whole number from"),
    "one kind that is no list": (tasks, "id: t, cpu: 1, kinds: a100", "[0].kinds: a list is wanted, found 'a100'"),
    "a reservation of an unknown node": (
        reservations,
        "name: m, nodes: [aa]",
        "[0].nodes: unknown node (did you mean 'a'?), found 'aa'",
    ),
    "a reservation that ends first": (
        reservations,
        "name: m, start: 2h, end: 1h",
        "this reservation ends before it begins",
    ),
    "two ends": (reservations, "name: m, end: 1h, for: 1h", "end and for say the same; give one"),
    "nodes in two ways": (reservations, "name: m, node: a, nodes: [a]", "node and nodes say the same; give one"),
    "a limit of nothing": (tenants, "name: q, limit: {gpus: 0}", "[0].limit: a limit is above zero; gpus is not"),
    "a limit of no licence": (
        tenants,
        "name: q, limit: {resources: {licence: 0}}",
        "a limit is above zero; licence is not",
    ),
    "a share of nothing": (
        tenants,
        "name: q, share: 0",
        "[0].share: a number above 0, at most 1000000000, is wanted, found 0",
    ),
    "two shares": (tenants, "name: q, share: 1, weight: 2", "share and weight are two words for the same; give one"),
    "a machine that the system uses up": (
        nodes,
        "name: a, memory: 1Gi, machine: {used: 1Gi}",
        "nodes[0].machine: the system itself uses all memory that there is (used)",
    ),
    "a rate that is none": (
        nodes,
        "name: a, memory: 1Gi, machine: {disk_rate: fast}",
        "nodes[0].machine.disk_rate: not an amount a second (as in 100M, 1Gi, or plain bytes), found 'fast'",
    ),
    "a part of a machine misspelt": (
        nodes,
        "name: a, memory: 1Gi, machine: {disk_rat: 1}",
        "nodes[0].machine.disk_rat: unknown field (did you mean 'disk_rate'?)",
    ),
    "a limit below the request": (
        tasks,
        "id: t, cpu: 2, limits: {cpu: 1.5}",
        "[0].limits.cpu: less than what the task asks for, found 1.5",
    ),
    "a limit of a named resource below the request": (
        tasks,
        "id: t, resources: {licence: 2}, limits: {resources: {licence: 1}}",
        "[0].limits.resources.licence: less than what the task asks for, found 1",
    ),
    "a limit of devices below the request": (
        tasks,
        "id: t, gpus: 2, limits: {gpus: 1}",
        "[0].limits.gpus: less than what the task asks for, found 1",
    ),
    "a limit of nothing at all": (tasks, "id: t, cpu: 1, limits: {cpu: 0}", "[0].limits: a limit is above zero"),
    "a tenant twice": (
        tenants,
        "name: q}, {name: q",
        "[1].name: this name is there twice (first in line 1), found 'q'",
    ),
}


@pytest.mark.unit
@pytest.mark.parametrize("case", MEANS)
def test_means(case: str) -> None:
    read, entry, expected = MEANS[case]
    assert read(entry) == expected


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    read, entry, problem = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read(entry)
    assert str(caught.value).startswith("f.yaml, line 1")
    assert problem in str(caught.value)


@pytest.mark.unit
def test_the_line_is_that_of_the_field() -> None:
    text = "nodes:\n- name: a\n  cpu: 8\n- name: b\n  cpu: 8\n  memory: 32Gb\n"
    with pytest.raises(InputError, match=r"f.yaml, line 6, nodes\[1\].memory: not an amount of memory"):
        read_cluster(document(text))


@pytest.mark.unit
def test_reservations_stand_beside_the_nodes_one_for_each_node() -> None:
    cluster = read_cluster(
        document("nodes: [{name: n, cpu: 1, count: 3}]\nreservations: [{name: m, nodes: [n-0, n-2]}]")
    )
    assert [window.node for window in cluster.reservations] == ["n-0", "n-2"]
    assert cluster.source == "f.yaml"


@pytest.mark.unit
def test_what_was_assumed_is_noted_once() -> None:
    work = read_work(document("[{id: a, cpu: 1, count: 2}, {id: b, cpu: 1, duration: 1}]"))
    text = "a task without duration or estimate runs on until the end of the simulation"
    assert work.notes == (Note("default", "tasks.duration", text, 2),)
    work = read_work(document("[{id: a, memory: 16, count: 2, duration: 1}, {id: b, memory: 16Gi, duration: 1}]"))
    assert work.notes == (Note("guess", "tasks.memory", "less than 1Mi: a number without a unit is bytes", 2),)


@pytest.mark.unit
def test_tasks_stand_alone_or_beside_the_nodes() -> None:
    text = "tasks: [{id: a, cpu: 1}]"
    assert list(read_work(document(f"nodes: [{{name: n, cpu: 1}}]\n{text}")).ids) == ["a"]
    with pytest.raises(InputError, match="line 1: tasks are missing; allowed: nodes, reservations, tasks"):
        read_work(document("nodes: [{name: n, cpu: 1}]"))


@pytest.mark.unit
def test_tasks_of_one_job_belong_together() -> None:
    work = read_work(document("[{job: j, id: boss, cpu: 1}, {job: j, cpu: 2, count: 2}, {id: other, cpu: 1}]"))
    assert [work.job_name(index) for index in range(4)] == ["j", "j", "j", "other"]
