"""Exploring as a whole: the same by any number of processes, from a state, after a kill; what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.api import simulate
from gnomon.api.chaos import Chaos, Options, chaos, with_faults
from gnomon.api.chaos_state import scenario_digest
from gnomon.control.faults.checks import check
from gnomon.engine.journal import Journal, records
from gnomon.engine.log import Kind, Log
from gnomon.model.errors import InputError, InvariantError
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Eviction, Heartbeat, Operation
from gnomon.model.scenario import Scenario
from gnomon.model.work import Work
from tests.insight.faulty import machines
from tests.insight.stories import S, cpus, task

pytestmark = pytest.mark.unit


def cluster(**facts: object) -> Scenario:
    """Four machines, eight tasks of ten minutes; a node that is silent for 40 s is given up a minute later, and what
    runs there runs on."""
    operation = Operation(detection=Heartbeat(beat_ns=10 * S, grace_ns=40 * S), eviction=Eviction(after_ns=60 * S))
    work = Work.from_tasks([task(f"t{i}", cpus(2), submit=30 * i, duration_ns=600 * S) for i in range(8)])
    made = Scenario(machines(4, 4, 4, 4), work, operation=operation)
    return replace(made, **facts)  # type: ignore[arg-type]


class Counted:
    """A simulator that counts, breaks off after so many runs, and fails where it is told to."""

    def __init__(self, *, most: int = 10**9, fails_on: Fault | None = None) -> None:
        self.runs, self.most, self.fails_on = 0, most, fails_on

    def __call__(self, scenario: Scenario) -> Log:
        self.runs += 1
        if self.runs > self.most:
            raise KeyboardInterrupt
        if any(isinstance(one, Failure) and one.kind is self.fails_on for one in scenario.faults):
            raise ZeroDivisionError("by nothing")
        return simulate(scenario).log


def facts(found: Chaos) -> object:
    """All that is to be the same."""
    broken = [(one.property, one.run, one.found, one.schedule, one.trials, one.verdict) for one in found.violations]
    return found.runs, found.features, found.broken, broken


TWICE = Options(properties=["no task runs twice at once"], runs=100)


def test_what_is_found_is_small_and_shows_itself_in_a_plain_run() -> None:
    found = chaos(cluster(), TWICE)
    (one,) = found.violations
    assert not found.holds
    assert one.minimal
    assert [fault.kind for fault in one.schedule] == [Fault.PARTITION]
    again = simulate(with_faults(cluster(), one.schedule))
    assert again.log.digest() == one.log.digest()
    assert again.metrics()["recovery"]["ran_twice"]["unplanned"] >= 1
    assert {Kind.FAULT, Kind.FAIL, Kind.COPY, Kind.START} <= {Kind[link.event.upper()] for link in one.chain()}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_may_stand_in_a_scenario(seed: int) -> None:
    """Rounder times are no use where they let faults overlap that may not."""
    demanded = ["at most 45 % work lost", "makespan <= 30m", "goodput >= 60 %"]
    options = Options(properties=demanded, runs=80, max_faults=8, kinds=["crash", "reboot"], to_the_end=True)
    found = chaos(cluster(seed=seed, cluster=machines(4, 4)), options)
    assert found.violations
    for one in found.violations:
        check(one.scenario)
        assert one.minimal


def test_a_node_that_stops_its_tasks_in_time_keeps_the_property() -> None:
    scenario = cluster()
    fenced = replace(scenario, operation=replace(scenario.operation, fence_ns=60 * S))
    assert chaos(fenced, TWICE).holds


def test_faults_of_the_scenario_stay() -> None:
    own = Failure(Fault.PARTITION, 100 * S, 300 * S, ("node/n0",))
    found = chaos(cluster(faults=(own,)), TWICE)
    (one,) = found.violations
    assert (one.run, one.schedule, one.trials) == (0, (), 0)
    assert one.scenario.faults == (own,)


def test_what_is_demanded() -> None:
    assert chaos(cluster(), Options(runs=1)).properties == ("every job ends", "no task runs twice at once")
    declared = cluster(properties=("max wait < 2h",))
    assert chaos(declared, Options(runs=1)).properties == ("max wait < 2h",)
    assert chaos(declared, Options(runs=1, properties=["no task fails"])).properties == ("no task fails",)
    endless = replace(
        declared, properties=(), work=Work.from_tasks([task("t", duration_ns=2**62)]), kill_at_limit=False
    )
    assert chaos(replace(endless, limits=replace(endless.limits, until_ns=60 * S)), Options(runs=1)).properties == (
        "no task runs twice at once",
    )


def test_bad_properties_and_kinds_are_refused_before_anything_runs() -> None:
    counted = Counted()
    for options in (Options(properties=["p95 wiat < 1m"]), Options(properties=["at most one leader"])):
        with pytest.raises(InputError) as caught:
            chaos(cluster(), options, simulate=counted)
        assert caught.value.field == "--property"
    with pytest.raises(InputError):
        chaos(cluster(), Options(kinds=["disk-full"]), simulate=counted)
    assert counted.runs == 0


def test_what_goes_wrong_in_gnomon_itself_is_told_with_its_faults() -> None:
    with pytest.raises(InvariantError) as caught:
        chaos(cluster(seed=7), TWICE, simulate=Counted(fails_on=Fault.DRAIN))
    assert "ZeroDivisionError: by nothing" in caught.value.what
    assert caught.value.seed == 7
    assert any(line.startswith("drain node/") for line in caught.value.story)


# ------------------------------------------------------------------ the state


def test_a_rerun_goes_on_from_the_state(tmp_path: Path) -> None:
    whole, kept = Counted(), replace(TWICE, state=tmp_path / "state")
    wanted = chaos(cluster(), TWICE, simulate=whole)
    first = Counted(most=20)
    with pytest.raises(KeyboardInterrupt):
        chaos(cluster(), kept, simulate=first)
    second = Counted()
    assert facts(chaos(cluster(), kept, simulate=second)) == facts(wanted)
    assert second.runs <= whole.runs - 20 + 2  # the run without faults is made anew, and the last one cut off
    third = Counted()
    assert facts(chaos(cluster(), kept, simulate=third)) == facts(wanted)
    assert third.runs == 2  # the run without faults, and the proof


def test_a_state_that_ends_in_half_a_record_is_read(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        chaos(cluster(), replace(TWICE, state=state), simulate=Counted(most=10))
    state.write_bytes(state.read_bytes()[:-7])
    assert facts(chaos(cluster(), replace(TWICE, state=state))) == facts(chaos(cluster(), TWICE))
    state.write_bytes(b'0123abcd {"gnomon_ch')  # killed at the very first record
    assert facts(chaos(cluster(), replace(TWICE, state=state))) == facts(chaos(cluster(), TWICE))


@pytest.mark.parametrize(
    "record",
    [
        {"faults": [["crash", 5, [], ["n1"], [], 1]], "verdicts": [], "hit": [], "rows": 7},
        {"faults": [["no such", 5, 7, ["n1"], [], 1]], "verdicts": [], "hit": [], "rows": 7},
        {"faults": [], "verdicts": [[True, 5, [], 0]], "hit": [], "rows": 7},
        {"faults": [], "verdicts": [], "hit": [{}], "rows": 7},
        {"faults": 3, "verdicts": [], "hit": [], "rows": 7},
        {"events": []},
    ],
)
def test_a_record_that_is_none_is_refused(record: dict[str, object], tmp_path: Path) -> None:
    options = replace(TWICE, state=tmp_path / "state", runs=1)
    chaos(cluster(), options)
    with Journal(tmp_path / "state") as journal:
        journal.append(record)
    with pytest.raises(InputError, match="is not a state of gnomon chaos"):
        chaos(cluster(), options)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe"])
def test_a_state_is_a_regular_file(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a state of gnomon chaos"):
        chaos(cluster(), replace(TWICE, state=tmp_path / name, runs=1))


def test_a_state_of_something_else_is_refused_and_stays(tmp_path: Path) -> None:
    state = tmp_path / "state"
    kept = replace(TWICE, state=state, runs=1)
    chaos(cluster(), kept)
    before = state.read_bytes()
    others = (
        (cluster(seed=1), kept, "another scenario"),
        (cluster(operation=Operation()), kept, "another scenario"),
        (cluster(), replace(kept, properties=["no task fails"]), "other properties"),
    )
    for scenario, options, said in others:
        with pytest.raises(InputError, match=said):
            chaos(scenario, options)
    assert state.read_bytes() == before


@pytest.mark.parametrize("content", [b"dear diary\n", b"cluster: 4\nwork: []\n", b"0123abcd not a record", b"\x00\xff"])
def test_a_file_of_another_sort_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a state of gnomon chaos"):
        chaos(cluster(), replace(TWICE, state=path))
    assert path.read_bytes() == content


def test_the_digest_is_of_what_a_run_hangs_on() -> None:
    same = scenario_digest(cluster())
    assert scenario_digest(cluster(name="other", source="elsewhere", properties=("no task fails",))) == same
    more = cluster().work.select(cluster().work.shape[:7] * 0 + range(7))
    for other in (cluster(seed=1), cluster(gang=False), cluster(work=more), cluster(cluster=machines(4, 4))):
        assert scenario_digest(other) != same


def test_progress_that_says_stop_stops(tmp_path: Path) -> None:
    calls = []

    def progress(done: int, total: int, now_ns: int) -> bool:
        calls.append((done, total))
        return len(calls) < 200

    with pytest.raises(KeyboardInterrupt):
        chaos(cluster(), replace(TWICE, runs=10_000, to_the_end=True, state=tmp_path / "state"), progress=progress)
    assert max(done for done, _ in calls) <= 10_000
    assert len(list(records(tmp_path / "state"))) > 10


# ------------------------------------------------------------------ processes

PROGRAM = """
import sys
from pathlib import Path
from tests.api.test_chaos import TWICE, cluster
from gnomon.api.chaos import chaos
from dataclasses import replace
if __name__ == "__main__":
    options = replace(TWICE, runs=120, to_the_end=True, state=Path(sys.argv[1]), workers=int(sys.argv[2]))
    chaos(cluster(), options)
"""


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes() -> None:
    one = chaos(cluster(), replace(TWICE, workers=1))
    two = chaos(cluster(), replace(TWICE, workers=2))
    assert facts(one) == facts(two)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_exploration_goes_on_where_it_was(tmp_path: Path, workers: int) -> None:
    state = tmp_path / "state"
    begun = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(state), str(workers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in (os.getcwd(), *sys.path) if path)},
    )
    while begun.poll() is None and (not state.exists() or state.read_bytes().count(b"\n") < 40):
        time.sleep(0.01)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    kept = list(records(state))
    assert len(kept) >= 40
    options = replace(TWICE, runs=120, to_the_end=True)
    counted, whole = Counted(), Counted()
    assert facts(chaos(cluster(), replace(options, state=state), simulate=counted)) == facts(
        chaos(cluster(), options, simulate=whole)
    )
    assert counted.runs < whole.runs
