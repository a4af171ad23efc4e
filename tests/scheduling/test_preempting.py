"""Preemption: who gives way, and what it costs."""

from __future__ import annotations

import pytest

from gnomon.api import Kind, Node, Reason, Run, Task, simulate
from gnomon.engine.run import Ports, log_of
from gnomon.engine.run import run as drive
from gnomon.engine.world import HEADS, NEED_SPACE, PHASE, World
from gnomon.scheduling.compose import compose
from tests.builders import amount, by_id, ends, nodes, run, scenario, starts, task, window

pytestmark = pytest.mark.unit


def preempted(done: Run) -> list[str]:
    """Who had to give way, in order."""
    return [
        done.scenario.work.id(int(i)) for i, k in zip(done.log.subject, done.log.kind, strict=True) if k == Kind.PREEMPT
    ]


def victims(running: list[Task], urgent: Task, *sizes: float) -> list[str]:
    return preempted(run([*running, urgent], nodes(*sizes), "priority", preempt=True))


def low(name: str, cpu: float = 1, **facts: object) -> Task:
    return task(name, cpu, 100, **facts)


def high(cpu: float = 1, **facts: object) -> Task:
    return task("urgent", cpu, 5, at=10, priority=5, **facts)


class TestWhoGivesWay:
    def test_nobody_while_there_is_room(self) -> None:
        assert victims([low("a")], high(), 2) == []

    def test_nobody_of_the_same_priority(self) -> None:
        assert victims([low("a", priority=5)], high(), 1) == []

    def test_nobody_when_that_would_not_help(self) -> None:
        assert victims([low("a", 1), low("b", 3, priority=9)], high(2), 4) == []

    def test_the_least_important(self) -> None:
        assert victims([low("a", priority=1), low("b"), low("c", priority=2)], high(), 3) == ["b"]

    def test_among_equals_the_one_that_started_last(self) -> None:
        assert victims([low("a"), low("b", at=1), low("c")], high(), 3) == ["b"]

    def test_who_turns_out_not_to_be_in_the_way_stays(self) -> None:
        """a goes first, but b is needed and enough."""
        assert victims([low("a", 1), low("b", 3, priority=1)], high(3), 4) == ["b"]

    def test_on_the_node_whose_victim_matters_least(self) -> None:
        running = [low("a", 2, priority=1), low("b", 1, at=1), low("c", 1, at=1)]
        assert victims(running, high(2), 2, 2) == ["c", "b"]

    def test_then_on_the_node_with_the_fewest(self) -> None:
        assert victims([low("a"), low("b"), low("c", 2)], high(2), 2, 2) == ["c"]

    def test_then_on_the_node_that_loses_the_least_work(self) -> None:
        assert victims([low("a"), low("b", at=3)], high(), 1, 1) == ["b"]

    def test_a_gang_as_a_whole(self) -> None:
        gang = [low("g0", job="g"), low("g1", job="g")]
        assert victims([*gang, low("other", priority=1)], high(), 2, 1) == ["g0", "g1"]

    def test_a_gang_is_as_important_as_its_most_important_task(self) -> None:
        gang = [low("g0", job="g"), low("g1", job="g", priority=9)]
        assert victims([*gang, low("other", priority=1)], high(), 2, 1) == ["other"]

    def test_not_a_gang_of_which_a_task_is_over(self) -> None:
        gang = [low("g0", job="g"), task("g1", 1, 5, job="g")]
        assert victims(gang, high(2), 2) == []

    def test_not_where_the_task_may_not_run(self) -> None:
        assert victims([low("a", gpus=1)], high(kinds=["a100"]), 1) == []

    def test_devices_are_made_free(self) -> None:
        tasks = [low("a", gpus=1, share=0.6), low("b", gpus=1, share=0.6, priority=1), high(gpus=1)]
        done = run(tasks, nodes(amount(8, gpus=2)), "priority", preempt=True)
        assert preempted(done) == ["a"]


def test_a_gang_does_not_preempt() -> None:
    tasks = [low("a"), task("g0", 1, 5, at=10, priority=5, job="g"), task("g1", 1, 5, at=10, priority=5, job="g")]
    assert preempted(run(tasks, 2, "priority", preempt=True)) == []


def test_nobody_gives_way_for_what_an_advance_reservation_holds_up() -> None:
    tasks = [low("a", 1), task("urgent", 2, 50, at=10, priority=5)]
    cluster = nodes(2, reservations=(window(30, 200, node="n0"),))
    done = run([*tasks], cluster, "priority", preempt=True, kill_at_limit=False)
    assert preempted(done) == []


class TestWhatItCosts:
    tasks = (task("low", 1, 20), task("urgent", 1, 5, at=12, priority=5))

    def test_the_victim_begins_anew(self) -> None:
        done = run(self.tasks, 1, "priority", preempt=True)
        assert starts(done) == {"low": 17, "urgent": 12}
        assert ends(done) == {"low": 37, "urgent": 17}
        assert by_id(done, "attempts") == {"low": 2, "urgent": 1}

    def test_the_metrics_count_it(self) -> None:
        metrics = run(self.tasks, 1, "priority", preempt=True).metrics()
        assert (metrics["preemptions"], metrics["wasted_cpu_s"]) == (1, 12)
        assert metrics["goodput"] == pytest.approx(25 / 37)

    def test_the_log_tells_who_and_why(self) -> None:
        log = run(self.tasks, 1, "priority", preempt=True).log
        rows = [
            (
                Kind(int(log.kind[row])).name,
                int(log.subject[row]),
                int(log.cause[row]),
                Reason(int(log.reason[row])).name,
            )
            for row in range(len(log))
        ]
        assert rows == [
            ("ARRIVE", 0, -1, "NONE"),
            ("START", 0, 0, "NONE"),
            ("ARRIVE", 1, -1, "NONE"),
            ("PREEMPT", 0, 2, "PREEMPTED"),
            ("START", 1, 3, "NONE"),
            ("WAIT", 0, 3, "RESOURCES"),
            ("END", 1, 4, "NONE"),
            ("START", 0, 6, "NONE"),
            ("END", 0, 7, "NONE"),
        ]


def test_the_victim_does_not_take_its_place_back_in_the_same_pass() -> None:
    """First come, first served puts the victim in front of the one that it gave way to."""
    tasks = [task("low", 1, 20), task("urgent", 1, 5, at=12, priority=5)]
    assert starts(run(tasks, 1, "fcfs", preempt=True)) == {"low": 17, "urgent": 12}


def test_the_victim_may_find_another_place_at_once() -> None:
    cluster = nodes(Node("n0", amount(1), "t4"), 1)
    done = run([low("a"), high(kinds=["t4"])], cluster, "priority", preempt=True)
    assert starts(done) == {"a": 10, "urgent": 10}
    assert by_id(done, "node") == {"a": 1, "urgent": 0}


def test_many_times_over() -> None:
    """Ends of starts that were undone pile up in the agenda; what is left of them is dropped in time."""
    lows = [low("a"), low("b")]
    urgent = [task(f"u{i}", 2, 1, at=10 * i + 1, priority=5) for i in range(30)]
    done = run([*lows, *urgent], 2, "priority", preempt=True)
    assert by_id(done, "attempts")["a"] == 31
    assert ends(done)["b"] == 30 * 10 - 10 + 2 + 100


def test_a_pass_that_outgrows_the_log() -> None:
    """Each urgent task wants another node and sends away its eight small tasks, which find places on the next one: more
    rows in one pass than there are tasks, so that the log grows in the middle of it."""
    kinds = [f"k{i}" for i in range(20)]
    small = [low(f"s{i}") for i in range(8)]
    urgent = [task(f"u{i}", 8, 100, at=5, priority=5, kinds=[kind]) for i, kind in enumerate(kinds)]
    cluster = nodes(*(Node(kind, amount(8), kind) for kind in kinds))
    made = scenario([*small, *urgent], cluster, "fcfs", preempt=True)

    parts = compose(made)
    columns = {name: getattr(parts.world, name)[:70] for name in parts.world._fields if name.startswith("log_")}
    grown_in = []

    def advance(world: World, *bounds: int) -> int:
        answer = parts.advance(world, *bounds)
        if answer == NEED_SPACE:
            grown_in.append(world.at[PHASE])
        return answer

    world, _ = drive(parts.world._replace(**columns), advance, made.limits, Ports(next_time=parts.next_time))
    assert HEADS in grown_in
    assert log_of(world).digest() == simulate(made, compiled=False).log.digest()
