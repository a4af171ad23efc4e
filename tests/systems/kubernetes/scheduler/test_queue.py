"""The queue: order, back-off, what is set aside and comes back (sheet §3, example E9)."""

from gnomon.systems.kubernetes.api.objects import Pod, PodSpec
from gnomon.systems.kubernetes.scheduler.queue import ASIDE_NS, SECOND, Queued, SchedulingQueue
from tests.systems.kubernetes.build import pod


def drained(queue: SchedulingQueue, now: int) -> list[str]:
    found = []
    while (entry := queue.pop(now)) is not None:
        found.append(entry.pod.name)
    return found


def popped(queue: SchedulingQueue, now: int) -> Queued:
    entry = queue.pop(now)
    assert entry is not None
    return entry


def test_higher_priority_first_then_who_came_first() -> None:
    queue = SchedulingQueue()
    for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", -1)):
        queue.add(pod(name, priority=priority), 0)
    assert drained(queue, 0) == ["b", "a", "c", "d"]


def test_e9_back_offs_double_up_to_ten_seconds() -> None:
    queue, now, lengths = SchedulingQueue(pop_early=False), 0, []
    queue.add(pod("p"), now)
    for _ in range(6):
        queue.refuse(popped(queue, now), now, ("NodeResourcesFit",), events=True)
        expiry = queue.next_expiry_ns()
        assert expiry is not None
        lengths.append((expiry - now) // SECOND)
        now = expiry
    assert lengths == [1, 2, 4, 8, 10, 10]


def test_who_returns_sorts_behind_those_who_came_meanwhile() -> None:
    queue = SchedulingQueue()
    queue.add(pod("old"), 0)
    entry = popped(queue, 0)
    queue.add(pod("new"), SECOND)
    queue.refuse(entry, 2 * SECOND, ["NodeResourcesFit"])
    queue.wake(["default/old"], 9 * SECOND)
    assert drained(queue, 9 * SECOND) == ["new", "old"]


def test_back_off_counts_in_whole_seconds_and_ends_after_the_second() -> None:
    queue = SchedulingQueue(pop_early=True)
    queue.add(pod("a"), 0)
    queue.refuse(popped(queue, 0), SECOND // 2, ["NodeResourcesFit"], events=True)
    assert queue.next_expiry_ns() == SECOND  # 0.5 s + 1 s, cut to the second
    queue.add(pod("b"), SECOND)
    assert popped(queue, SECOND).pod.name == "b"
    queue.add(pod("b"), 2 * SECOND)
    assert drained(queue, 2 * SECOND) == ["a", "b"]  # over: it sorts by when it was refused


def test_an_idle_scheduler_does_not_honour_back_off() -> None:
    for early, expected in ((True, ["a"]), (False, [])):
        queue = SchedulingQueue(pop_early=early)
        queue.add(pod("a"), 0)
        queue.refuse(popped(queue, 0), 0, ["NodeResourcesFit"], events=True)
        assert drained(queue, SECOND // 2) == expected


def test_set_aside_until_an_event_or_five_minutes() -> None:
    queue = SchedulingQueue()
    queue.add(pod("a"), 0)
    queue.refuse(popped(queue, 0), 0, ["NodeResourcesFit"])
    assert queue.pop(100 * SECOND) is None
    queue.flush(ASIDE_NS)
    assert queue.pop(ASIDE_NS) is None
    queue.flush(ASIDE_NS + 1)
    assert drained(queue, ASIDE_NS + 1) == ["a"]


def test_gated_pods_wait_for_their_gates_alone() -> None:
    queue = SchedulingQueue()
    gated = Pod("g", spec=PodSpec(scheduling_gates=("x",)))
    queue.add(gated, 0)
    queue.flush(10 * ASIDE_NS)
    queue.wake([gated.key], 0, at_once=True)
    assert queue.pop(10 * ASIDE_NS) is None
    queue.add(Pod("g"), 1)
    assert drained(queue, 1) == ["g"]


def test_removed_pods_are_never_popped() -> None:
    queue = SchedulingQueue()
    for name in "ab":
        queue.add(pod(name), 0)
    queue.remove("default/a")
    assert [entry.pod.name for entry in queue.waiting()] == ["b"]
    assert drained(queue, 0) == ["b"]
