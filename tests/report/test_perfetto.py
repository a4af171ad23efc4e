"""Trace events: well-formed, every task once, nothing overlapping in a lane, arrows along the causes."""

import io
import json
from collections import defaultdict
from itertools import pairwise

import pytest

from gnomon.engine.log import Reason
from gnomon.report import perfetto
from tests.insight.faulty import crash, split
from tests.report.pictures import series
from tests.report.runs import Recording, one_after_another

pytestmark = pytest.mark.unit


@pytest.fixture(params=[False, True], ids=["nodes", "pool"])
def events(request: pytest.FixtureRequest) -> list[perfetto.Event]:
    file = io.StringIO()
    perfetto.dump(file, series(one_after_another(12, pool=request.param)))
    found: list[perfetto.Event] = json.loads(file.getvalue())["traceEvents"]
    return found


def test_each_task_is_a_slice_of_its_length(events: list[perfetto.Event]) -> None:
    slices = {event["name"]: event["dur"] for event in events if event["ph"] == "X"}
    assert slices == {f"t{i}": (i + 1) * 1e6 for i in range(12)}


def test_slices_of_a_lane_do_not_overlap(events: list[perfetto.Event]) -> None:
    by_lane = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            by_lane[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(by_lane) == 2
    for lane in by_lane.values():
        assert all(first[1] <= then[0] for first, then in pairwise(sorted(lane)))


def test_the_queue_falls_from_all_that_wait_to_none(events: list[perfetto.Event]) -> None:
    waiting = [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "tasks waiting"]
    assert waiting[0] == 10
    assert waiting == sorted(waiting, reverse=True)
    assert waiting[-1] == 0


def test_arrows_lead_from_an_end_to_the_start_that_it_made_possible(events: list[perfetto.Event]) -> None:
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert begins.keys() == ends.keys()
    assert len(begins) == 10
    assert all(ends[key]["ts"] - begin["ts"] == pytest.approx(0.001, abs=1e-6) for key, begin in begins.items())


def of(past: Recording) -> list[perfetto.Event]:
    return list(perfetto.events(series(past)))


def test_a_fault_is_a_stretch_on_its_node_and_what_was_done_about_it_instants_there() -> None:
    tale = crash()
    found = of(Recording(tale.past.scenario, tale.log))
    stretch = [(one["ph"], one["name"], one["pid"], one["ts"]) for one in found if one.get("cat") == "fault"]
    assert stretch == [("b", "crash", 2, 5e6), ("e", "crash", 2, 15e6)]
    told = [(one["name"], one["pid"], one["ts"]) for one in found if one["ph"] == "i"]
    assert told == [
        ("fault", 2, 5e6),
        ("notice", 2, 8e6),
        ("close", 2, 8e6),
        ("heal", 2, 15e6),
        ("open", 2, 15e6),
    ]
    assert next(one["args"]["kind"] for one in found if one["name"] == "fault") == "crash"


def test_a_failed_attempt_says_why_and_an_arrow_leads_to_the_next() -> None:
    tale = crash()
    found = of(Recording(tale.past.scenario, tale.log))
    first = next(one for one in found if one["ph"] == "X")
    assert (first["args"]["ended"], first["args"]["why"], first["dur"]) == ("fail", "node", 8e6)
    arrow = [(one["ph"], one["pid"], round(one["ts"])) for one in found if one["name"] == "tried again"]
    assert arrow == [("s", 2, 8_000_000), ("f", 3, 10_000_000)]


def test_a_copy_is_a_slice_of_its_own() -> None:
    tale = split(Reason.FENCED)
    copies = [one for one in of(Recording(tale.past.scenario, tale.log)) if one.get("cat") == "copy"]
    assert [(one["pid"], one["ts"], one["dur"], one["args"]["why"]) for one in copies] == [(2, 4e6, 5e6, "fenced")]
