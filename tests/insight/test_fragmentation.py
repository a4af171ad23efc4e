"""What free capacity nobody could use, against the published definition evaluated second by second."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind
from gnomon.insight.fragmentation import fragmentation, fragmented, task_classes
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import E4, Resources
from gnomon.model.work import Shape, Work
from tests.insight.stories import S, Story, cpus, stories, task


def gpu(share: float = 1.0, count: int = 1) -> Shape:
    return cpus(0, gpus=count, gpu_share_e4=int(share * E4))


TWO_GPUS = Cluster((Node("n", Resources(8000, gpus=2)),))


@pytest.mark.unit
def test_a_pool_is_never_fragmented() -> None:
    story = Story(Cluster.of_processors(4), [task("a", cpus(3)), task("b", cpus(2))]).arrive(0, 1).run(0, 0, 5)
    assert fragmentation(story.past) == 0


@pytest.mark.unit
def test_halves_of_two_devices_hold_no_whole() -> None:
    # Two halves on two devices leave 2 x 0.5 free, of which tasks that need a whole device can use nothing.
    tasks = [task("a", gpu(0.5)), task("b", gpu(0.5)), *(task(f"whole{i}", gpu()) for i in range(98))]
    apart = Story(TWO_GPUS, tasks).arrive(*range(100))
    apart.tell(0, Kind.START, 0, node=0, value=0b01).tell(0, Kind.START, 1, node=0, value=0b10)
    assert fragmentation(apart.tell(10, Kind.STOP).past) == pytest.approx(1.0)

    together = Story(TWO_GPUS, tasks).arrive(*range(100))
    together.tell(0, Kind.START, 0, node=0, value=0b01).tell(0, Kind.START, 1, node=0, value=0b01)
    assert fragmentation(together.tell(10, Kind.STOP).past) == 0


@pytest.mark.unit
def test_it_is_averaged_over_time_and_classes() -> None:
    # For 4 of 10 s one device is half free: then 1.5 of 2 are free, and the class of wholes (half the mix) loses 0.5.
    story = Story(TWO_GPUS, [task("a", gpu(0.5)), task("b", gpu())]).arrive(0, 1)
    story.run(0, 0, 4, node=0, devices=0b01).tell(10, Kind.STOP)
    assert fragmentation(story.past) == pytest.approx((0.5 * 0.5 * 4) / (1.5 * 4 + 2 * 6))


@pytest.mark.unit
def test_over_time_it_is_a_part_of_all_there_is() -> None:
    story = Story(TWO_GPUS, [task("a", gpu(0.5)), task("b", gpu())]).arrive(0, 1)
    past = story.run(0, 2, 6, node=0, devices=0b01).tell(10, Kind.STOP).past
    seconds = np.array([0, 2, 6, 10]) * S
    assert fragmented(past).binned(seconds).tolist() == pytest.approx([0, 0.5 * 0.5 / 2, 0])
    only_wholes = Work.from_tasks([task("c", gpu())])
    assert fragmented(past, only_wholes).binned(seconds).tolist() == pytest.approx([0, 0.5 / 2, 0])


@pytest.mark.unit
def test_free_processors_without_memory_are_lost() -> None:
    cluster = Cluster((Node("n", Resources(8000, 100)), Node("m", Resources(8000, 10))))
    story = Story(cluster, [task("a", Shape(Resources(1000, 50)))]).arrive(0).run(0, 0, 5, node=0)
    assert fragmentation(story.past) == pytest.approx(8 / 15)


@pytest.mark.unit
def test_the_classes_cover_95_percent_of_the_tasks() -> None:
    shapes = [gpu()] * 60 + [gpu(0.5)] * 35 + [gpu(1, 2)] * 5
    found = task_classes(Work.from_tasks([task(str(i), shape) for i, shape in enumerate(shapes)]), "gpu")
    assert [(one.shape, one.weight) for one in found] == [(gpu(0.5), 35 / 95), (gpu(), 60 / 95)]


def lost(cluster: Cluster, node: int, shape: Shape, cpu: int, memory: int, devices: list[int]) -> int:
    """PUBLISHED definition, one node and class; without devices in the cluster, the same of processors."""
    request, facts = shape.request, cluster.nodes[node]
    by_gpu = cluster.total("gpu") > 0
    free = sum(devices) if by_gpu else cpu
    usable = (not shape.node_kinds or facts.kind in shape.node_kinds) and set(shape.node_labels) <= set(facts.labels)
    enough = (
        sum(left >= request.gpu_share_e4 for left in devices) >= request.gpus
        if by_gpu
        else memory >= request.memory_bytes
    )
    if not usable or not enough or cpu < request.cpu_milli or not request.amount("gpu" if by_gpu else "cpu"):
        return free
    return sum(left for left in devices if left < request.gpu_share_e4) if by_gpu else 0


@pytest.mark.property
@given(stories())
def test_fragmentation_is_the_weighted_loss_second_by_second(story: Story) -> None:
    past, cluster = story.past, story.cluster
    by_gpu = cluster.total("gpu") > 0
    counts: Counter[Shape] = Counter()
    for one in story.tasks:
        r = one.shape.request
        kept = (
            Resources(r.cpu_milli, gpus=r.gpus, gpu_share_e4=r.gpu_share_e4)
            if by_gpu
            else Resources(r.cpu_milli, r.memory_bytes)
        )
        counts[Shape(kept, one.shape.node_kinds, one.shape.node_labels)] += 1
    free_area = lost_area = 0.0
    for second in range(past.begin_ns // S, past.end_ns // S):
        for n, node in enumerate(cluster.nodes):
            cpu, memory, devices = node.capacity.cpu_milli, node.capacity.memory_bytes, [E4] * node.capacity.gpus
            for stay in story.stays:
                if stay.node == n and stay.holds_at(second):
                    r = story.tasks[stay.task].shape.request
                    cpu, memory = cpu - r.cpu_milli, memory - r.memory_bytes
                    devices = [d - r.gpu_share_e4 * (stay.devices >> k & 1) for k, d in enumerate(devices)]
            free_area += sum(devices) if by_gpu else cpu
            for shape, count in counts.items():
                lost_area += count / len(story.tasks) * lost(cluster, n, shape, cpu, memory, devices)
    expected = 0.0 if cluster.pool or not story.stays or not free_area else lost_area / free_area
    assert fragmentation(past) == pytest.approx(expected)
    if expected:
        held = fragmented(past).mean(past.begin_ns, past.end_ns)
        total = cluster.total("gpu" if by_gpu else "cpu")
        assert held * total * past.span_ns == pytest.approx(lost_area * S)
