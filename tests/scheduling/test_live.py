"""The live world: the same transition as the simulation, and a journal whose replay gives the same decisions."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.api import Cluster, InputError, Kind, Node, Resources, Scenario, Shape, Task, Work, parse_policy, simulate
from gnomon.engine.invariants import check
from gnomon.engine.journal import Journal, records
from gnomon.scheduling.live import Cancel, Decision, End, External, Live, Submit, drive, replay

CLUSTER = Cluster((Node("a", Resources(cpu_milli=4000, gpus=2)), Node("b", Resources(cpu_milli=2000))))
POLICIES = ("fcfs", "easy", "sjf+easy+best-fit", "conservative", "drf", "fair-share+easy+worst-fit")

shapes = st.builds(
    lambda cpu, gpus: Shape(Resources(cpu_milli=1000 * cpu, gpus=gpus)), st.integers(1, 5), st.integers(0, 2)
)
tasks = st.builds(
    lambda shape, submit, duration, estimate, user: (shape, submit, duration, estimate, user),
    shapes,
    st.integers(0, 10),
    st.integers(1, 9),
    st.integers(1, 12),
    st.sampled_from("xy"),
)


def work_of(rows: list[tuple[Shape, int, int, int, str]]) -> Work:
    made = [Task(str(i), shape, s, d, e, user=user) for i, (shape, s, d, e, user) in enumerate(rows)]
    return Work.from_tasks(sorted(made, key=lambda task: task.submit_ns))


def events_of(scenario: Scenario) -> Iterator[list[External]]:
    """What happens outside in a simulated run: submissions and ends, those of one time together."""
    log, work = simulate(scenario, compiled=False).log, scenario.work
    for t_ns, rows in groupby(range(len(log)), key=lambda row: int(log.t_ns[row])):
        here = [(Kind(int(log.kind[row])), int(log.subject[row])) for row in rows]
        ended: list[External] = [End(t_ns, work.id(task)) for kind, task in here if kind in (Kind.END, Kind.KILL)]
        arrived = tuple(work.task(task) for kind, task in here if kind == Kind.ARRIVE)
        if ended or arrived:
            yield [*ended, *([Submit(t_ns, arrived)] if arrived else [])]


@pytest.mark.property
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(tasks, min_size=1, max_size=12))
def test_what_was_simulated_is_what_runs(policy: str, rows: list[tuple[Shape, int, int, int, str]]) -> None:
    scenario = Scenario(CLUSTER, work_of(rows), parse_policy(policy), kill_at_limit=False)
    live = Live(scenario)
    for events in events_of(scenario):
        live.apply(events)
        check(live._world, seed=0)
    simulated = simulate(scenario, compiled=False).log
    for column in ("t_ns", "kind", "subject", "node", "cause", "reason", "value"):
        assert np.array_equal(getattr(live.log, column), getattr(simulated, column)), column


@pytest.mark.property
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(tasks, min_size=1, max_size=10), cut=st.integers(1, 60))
def test_a_journal_replayed_gives_equal_decisions(
    tmp_path: Path, rows: list[tuple[Shape, int, int, int, str]], cut: int
) -> None:
    scenario = Scenario(CLUSTER, work_of(rows), parse_policy("easy"))
    file = tmp_path / "journal"
    file.unlink(missing_ok=True)
    live, decided = Live(scenario), list[list[Decision]]()
    with Journal(file) as journal:
        for events in events_of(scenario):
            decided.append(drive(live, journal, events))
    again = Live(scenario)
    assert replay(again, records(file)) == [one for step in decided for one in step]
    assert again.log.canonical_bytes() == live.log.canonical_bytes()

    whole = file.read_bytes()
    file.write_bytes(whole[: max(0, len(whole) - cut)])  # killed while writing the last lines
    kept = list(records(file))
    assert replay(Live(scenario), kept) == [one for step in decided[: len(kept)] for one in step]
    with Journal(file) as journal:
        journal.append({"events": []})
    assert list(records(file)) == [*kept, {"events": []}]


def test_a_cancelled_task_makes_room_wherever_it_is() -> None:
    one = Shape(Resources(cpu_milli=1000))
    live = Live(Scenario(Cluster.of_processors(1), Work.from_tasks([])))
    live.apply([Submit(0, (Task("a", one), Task("b", one), Task("c", one)))])
    assert live.apply([Cancel(1, "b")]) == []
    assert [d.task for d in live.apply([Cancel(2, "a")])] == ["c"]
    check(live._world, seed=0)


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([Submit(0, (Task("a"),)), End(1, "a")], "one time"),
        ([End(9, "z")], "unknown task"),
        ([Submit(9, (Task("a"), Task("a")))], "twice"),
        ([Submit(3, (Task("b"),))], "in the past"),
        ([Submit(9, (Task("b", Shape(Resources(named=(("x", 1),)))),))], "no node has"),
        ([End(9, "later")], "only a running task"),
    ],
)
def test_events_that_make_no_sense_change_nothing(events: list[External], problem: str) -> None:
    live = Live(Scenario(Cluster.of_processors(1), Work.from_tasks([])))
    wide = Shape(Resources(cpu_milli=1000))
    live.apply([Submit(5, (Task("first", wide), Task("later", wide)))])
    before = live.log.canonical_bytes()
    with pytest.raises(InputError, match=problem):
        live.apply(events)
    assert live.log.canonical_bytes() == before


def test_damage_inside_a_journal_is_named(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    with Journal(file) as journal:
        journal.append({"events": [1]})
        journal.append({"events": [2]})
    damaged = bytearray(file.read_bytes())
    damaged[12] ^= 1
    file.write_bytes(damaged)
    with pytest.raises(InputError, match="line 1: the journal is damaged"):
        list(records(file))


@pytest.mark.parametrize("text", [b'{"events":', b"[]", b"\xb0", b"[" * 100_000])
def test_what_is_no_record_is_damage_whatever_its_checksum_says(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"%08x %b\n" % (zlib.crc32(text), text) * 2)
    with pytest.raises(InputError, match="line 1: the journal is damaged"):
        list(records(tmp_path / "journal"))


@pytest.mark.parametrize("record", [{}, {"events": None}, {"events": [1]}, {"events": [{}]}, {"verdicts": []}])
def test_a_record_of_something_else_is_not_replayed(record: dict[str, object]) -> None:
    live = Live(Scenario(Cluster.of_processors(1), Work.from_tasks([])))
    with pytest.raises(InputError, match="not a record of"):
        replay(live, [record])


def test_one_process_at_a_time_has_a_journal_open(tmp_path: Path) -> None:
    file = tmp_path / "journal"
    with Journal(file) as journal:
        journal.append({"events": [1]})
        with pytest.raises(InputError, match="journal: another process has this journal open"):
            Journal(file)  # flock is of the open file, not of the process
        journal.append({"events": [2]})
    with Journal(file) as journal:
        journal.append({"events": [3]})
    assert list(records(file)) == [{"events": [1]}, {"events": [2]}, {"events": [3]}]


def test_a_journal_on_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Journal(tmp_path / "journal") as journal:
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match="journal: the journal cannot be written: No space left on device"):
            journal.append({"events": [1]})
    with pytest.raises(InputError, match="journal cannot be written: No such file or directory"):
        Journal(tmp_path / "nowhere" / "journal")
