"""What comes of use: who is killed, sent away, slowed down, and which rows tell of it."""

from gnomon.api import Kind, Resources, Run, Shape, State, Task
from gnomon.model.cluster import Machine, Node
from gnomon.model.fault import Fault
from gnomon.model.operation import Enforcement, Eviction, Operation, Pressure
from gnomon.model.recovery import Recovery, Retry
from gnomon.model.resources import NOTHING
from gnomon.model.usage import Profile, Usage
from tests.builders import GI, S, amount, nodes
from tests.control.reading import fault, play, seen, times, values

Points = tuple[tuple[float, int], ...]


def uses(name: str, run: float, asks: int = 0, *, limit: Resources = NOTHING, **use: Points) -> Task:
    """A task that asks for a CPU and GiB of memory, and uses what the profiles say: pairs of (second, amount)."""
    profiles = tuple(
        (what.replace("_", "-"), Profile(tuple((round(second * S), used) for second, used in points)))
        for what, points in use.items()
    )
    return Task(name, Shape(amount(1, memory=asks), limit=limit), duration_ns=round(run * S), usage=Usage(profiles))


def grows(per_s: int, until: float = 1_000) -> Points:
    """Use that begins at 0 and grows."""
    return ((0, 0), (until, round(per_s * until)))


def one(**machine: int) -> Node:
    """A node of 4 CPUs and 8 GiB."""
    return Node("n0", amount(4, memory=8), machine=Machine(**machine))


def details(run: Run, kind: Kind) -> list[dict[str, int | str]]:
    """The details of rows of a kind."""
    rows = (run.log.kind == kind).nonzero()[0].tolist()
    return [dict(run.log.details.get(row, {})) for row in rows]


# ------------------------------------------------------------------ memory


def test_who_uses_more_memory_than_his_limit_dies() -> None:
    leaking = uses("t", 100, 1, limit=Resources(memory_bytes=2 * GI), memory=grows(GI // 16))
    run = play([leaking], cluster=nodes(one()))
    (second,) = times(run, Kind.FAIL)
    assert 32 <= second < 32.000001  # 2 GiB at 1/16 GiB a second
    (told,) = details(run, Kind.FAIL)
    assert (told["limit"], told["request"], told["final"]) == (2 * GI, GI, 1)
    assert 0 < int(told["used"]) - 2 * GI <= 1


def test_a_check_now_and_then_kills_later() -> None:
    operation = Operation(enforcement=Enforcement(memory_check_ns=10 * S))
    leaking = uses("t", 100, 1, limit=Resources(memory_bytes=2 * GI), memory=grows(GI // 16))
    assert times(play([leaking], (), operation, cluster=nodes(one())), Kind.FAIL) == [40]


def test_a_memory_kill_is_tried_again_as_often_as_its_rule_says() -> None:
    leaking = uses("t", 100, 1, limit=Resources(memory_bytes=2 * GI), memory=((0, 3 * GI),))
    task = Task("t", leaking.shape, duration_ns=S, usage=leaking.usage, recovery=Recovery((Retry(("memory",), 2),)))
    assert len(times(play([task], cluster=nodes(one())), Kind.FAIL)) == 3


def test_when_a_nodes_memory_is_used_up_somebody_dies() -> None:
    tasks = [uses("a", 100, 2, memory=((0, 2 * GI),)), uses("b", 100, 2, memory=grows(GI // 8))]
    run = play(tasks, cluster=nodes(one()))
    assert [line[2:] for line in seen(run, Kind.FAIL)] == [("b@n0", "NODE_MEMORY")]
    assert 48 <= times(run, Kind.FAIL)[0] < 48.000001
    cause = int(run.log.cause[run.log.kind == Kind.FAIL][0])
    assert run.log.kind[cause] == Kind.PRESSURE


def test_a_leak_beside_the_tasks_kills_too() -> None:
    tasks = [uses("a", 100, 2, memory=((0, 4 * GI),))]
    run = play(tasks, [fault(Fault.LEAK, 10, 60, "n0", amount=GI // 8)], cluster=nodes(one()))
    assert 42 <= times(run, Kind.FAIL)[0] < 42.000001


def test_two_leaks_add_up_and_the_memory_is_back_when_the_last_is_over() -> None:
    faults = [fault(Fault.LEAK, 10, 60, "n0", amount=GI // 16), fault(Fault.LEAK, 10, 20, "n0", amount=GI // 16)]
    late = [uses("a", 100, 2, memory=((0, 4 * GI),))]
    second = times(play(late, faults, cluster=nodes(one())), Kind.FAIL)[0]
    assert 54 <= second < 54.00001  # 2.5 GiB by 30 s, then 1/16 GiB/s


def test_pressure_closes_a_node_and_sends_tasks_away() -> None:
    rule = Pressure("memory", GI, check_ns=10 * S, grace_ns=5 * S, calm_ns=20 * S)
    tasks = [uses("a", 100, 1, memory=((0, GI),)), uses("b", 100, 1, memory=grows(GI // 8))]
    operation = Operation(enforcement=Enforcement(pressures=(rule,)))
    run = play(tasks, (), operation, cluster=nodes(one(), amount(1, memory=8)))
    first = seen(run, Kind.PRESSURE, Kind.CLOSE, Kind.FAIL)
    assert (
        first
        == [
            (50, "PRESSURE", "@n0", "NODE_MEMORY"),  # 7 GiB are used at 48 s
            (50, "CLOSE", "@n0", "UNDER_PRESSURE"),
            (55, "FAIL", "b@n0", "EVICTED"),
            *first[3:],
        ]
    )
    assert times(run, Kind.CALM)[0] >= 55 + 20


def test_a_task_that_ends_in_its_time_of_grace_was_not_sent_away() -> None:
    rule = Pressure("memory", GI, check_ns=10 * S, grace_ns=15 * S)
    tasks = [uses("b", 70, 1, memory=grows(GI // 8, 64))]
    run = play(tasks, (), Operation(enforcement=Enforcement(pressures=(rule,))), cluster=nodes(one()))
    assert list(run.outcome.state) == [State.DONE]


# ------------------------------------------------------------------ processors


def test_a_quota_slows_whoever_wants_more() -> None:
    run = play([_wants(4_000, limit=Resources(cpu_milli=2_000))], cluster=nodes(one()))
    assert times(run, Kind.END) == [200]
    assert seen(run, Kind.SPEED) == [(0, "SPEED", "t@n0", "QUOTA")]
    assert values(run, Kind.SPEED) == [5_000]


def _wants(cpu: int, name: str = "t", limit: Resources = NOTHING) -> Task:
    usage = Usage((("cpu", Profile(((0, cpu),))),))
    return Task(name, Shape(amount(1), limit=limit), duration_ns=100 * S, usage=usage)


def test_who_wants_more_than_there_is_shares_with_the_others() -> None:
    run = play([_wants(4_000, "a"), _wants(4_000, "b")], cluster=nodes(one()))
    assert times(run, Kind.END) == [200, 200]
    assert {line[3] for line in seen(run, Kind.SPEED)} == {"CPU"}


def test_who_stays_alone_goes_at_full_speed_again() -> None:
    short = Task("b", _wants(1).shape, duration_ns=50 * S, usage=_wants(4_000).usage)
    run = play([_wants(4_000, "a"), short], cluster=nodes(one()))
    assert times(run, Kind.END) == [100, 150]
    assert seen(run, Kind.SPEED)[-1] == (100, "SPEED", "a@n0", "FULL_SPEED")


# ------------------------------------------------------------------ disk


def test_a_full_disk_fails_whoever_writes() -> None:
    writes = uses("t", 100, disk=grows(GI // 8))
    run = play([writes], [fault(Fault.DISK_FULL, 10, 60, "n0", amount=GI)], cluster=nodes(one(disk_bytes=100 * GI)))
    assert [line[3] for line in seen(run, Kind.FAIL)] == ["DISK"]
    assert 18 <= times(run, Kind.FAIL)[0] < 18.00001


def test_too_slow_a_disk_fails_the_worst_off() -> None:
    """Two of 80 B/s share 100 B/s: 50 each, which is 62.5 % of what they want; the least is 70 %."""
    writes = [uses(name, 20, disk_io=((0, 80),)) for name in "ab"]
    least = Operation(Enforcement(disk_fails_below_e4=7_000))
    run = play(writes, (), least, cluster=nodes(one(disk_rate=100)))
    assert seen(run, Kind.FAIL) == [(0, "FAIL", "a@n0", "DISK")]
    (facts,) = details(run, Kind.FAIL)
    assert (facts["part_e4"], facts["least_e4"]) == (6_250, 7_000)
    assert run.log.kind[run.log.cause[run.log.kind == Kind.FAIL]] == [Kind.START]
    assert times(run, Kind.END) == [20]


def test_behind_a_partition_a_death_is_heard_of_later() -> None:
    leaking = uses("t", 100, 1, limit=Resources(memory_bytes=2 * GI), memory=grows(GI // 16))
    stay = Operation(eviction=Eviction(after_ns=1_000 * S))
    run = play([leaking], [fault(Fault.PARTITION, 10, 60, "n0")], stay, cluster=nodes(one()))
    assert times(run, Kind.FAIL)[0] == 70
    assert 32 * S <= values(run, Kind.FAIL)[0] < 32.00001 * S
