"""What is drawn, against arithmetic by hand."""

import base64
from itertools import combinations

import numpy as np
import pytest

from gnomon.engine.log import Reason
from gnomon.report import figures, gantt
from gnomon.report.figures import Figure
from gnomon.report.series import node_load
from tests.insight.faulty import crash, split
from tests.report.pictures import series
from tests.report.runs import Recording, one_after_another

pytestmark = pytest.mark.unit

S = 10**9


def unpacked(coded: Figure) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    array = np.frombuffer(base64.b64decode(coded["bdata"]), coded["dtype"])
    shape = coded.get("shape")
    return (array.reshape([int(n) for n in shape.split(",")]) if shape else array).astype(np.float64)


def test_node_load_keeps_the_whole_of_what_was_held_whatever_the_intervals() -> None:
    past = series(one_after_another(12)).past
    for count in (1, 7, 600):
        edges = np.linspace(0, 42 * S, count + 1).astype(np.int64)
        held = (node_load(past, "cpu", edges) * np.diff(edges)).sum()
        assert held == pytest.approx(2000 * sum(range(1, 13)) * S)


def test_node_load_is_exact_where_intervals_match_the_changes() -> None:
    past = series(one_after_another(3)).past  # n0: t0 to 1 s, t2 to 4 s; n1: t1 to 2 s
    edges = np.arange(5, dtype=np.int64) * S
    assert node_load(past, "cpu", edges).tolist() == [[2000, 2000, 2000, 2000], [2000, 2000, 0, 0]]


def test_runs_side_by_side_share_one_time_axis() -> None:
    short, long = figures.views([("a", series(one_after_another(2))), ("b", series(one_after_another(40)))])
    assert figures.allocation(short)["layout"]["xaxis"] == figures.allocation(long)["layout"]["xaxis"]
    assert short.unit == "minutes"


def test_the_bars_of_waits_add_up_to_all_tasks() -> None:
    shown = figures.waits(figures.views([("a", series(one_after_another(12)))]))["data"][0]
    assert sum(shown["y"]) == pytest.approx(100, abs=0.01)
    assert dict(zip(shown["x"], shown["y"], strict=True))["none"] == pytest.approx(100 * 2 / 12, abs=0.01)


def test_the_heat_map_tells_how_full_each_node_was() -> None:
    (view,) = figures.views([("a", series(one_after_another(3)))])
    shown = figures.heat(view, "cpu")
    assert shown is not None
    share = unpacked(shown["data"][0]["z"])
    assert share.shape == (2, 200)
    assert share.mean(axis=1).tolist() == [100, 50]


def test_a_pool_has_no_heat_map() -> None:
    (view,) = figures.views([("a", series(one_after_another(3, pool=True)))])
    assert figures.heat(view, "cpu") is None


@pytest.mark.parametrize("pool", [False, True])
def test_gantt_bars_have_the_area_that_tasks_held_and_do_not_overlap(pool: bool) -> None:
    (view,) = figures.views([("a", series(one_after_another(12, pool=pool)))])
    chart = gantt.gantt(view, "cpu", longest_wait=1.0)
    assert chart is not None
    bar = chart["data"][0]
    left, length, middle, height = (unpacked(bar[name]) for name in ("base", "x", "y", "width"))
    processors = height if pool else height / (1 - 2 * gantt.GAP) * 2
    assert (length * processors).sum() == pytest.approx(2 * sum(range(1, 13)))
    boxes = list(zip(left, left + length, middle - height / 2, middle + height / 2, strict=True))
    for (a0, a1, a2, a3), (b0, b1, b2, b3) in combinations(boxes, 2):
        assert min(a1, b1) - max(a0, b0) < 1e-9 or min(a3, b3) - max(a2, b2) < 1e-9


def test_too_many_tasks_for_a_gantt_chart_are_left_out() -> None:
    (view,) = figures.views([("a", series(one_after_another(gantt.TASKS_MAX + 1)))])
    assert gantt.gantt(view, "cpu", longest_wait=1.0) is None


def test_failed_attempts_copies_and_faults_are_seen_in_the_gantt_chart() -> None:
    for tale, fillings, down in ((crash(), ["x", ""], (5, 10)), (split(Reason.FENCED), ["x", "", "/"], (1, 14))):
        (view,) = figures.views([("a", series(Recording(tale.past.scenario, tale.log)))])
        chart = gantt.gantt(view, "cpu", longest_wait=1)
        assert chart is not None
        grey, crosses, bars = chart["data"]
        assert sorted(bars["marker"]["pattern"]["shape"]) == sorted(fillings)
        begin, lasts = (unpacked(grey[column]) * view.unit_ns / S for column in ("base", "x"))
        assert (begin.tolist(), lasts.tolist(), unpacked(grey["y"]).tolist()) == ([down[0]], [down[1]], [0.5])
        assert len(crosses["hovertext"]) == 1
        assert any("failed: node" in text for text in bars["hovertext"])


def test_a_run_without_faults_is_drawn_as_before() -> None:
    (view,) = figures.views([("a", series(one_after_another(3)))])
    chart = gantt.gantt(view, "cpu", longest_wait=1)
    assert chart is not None
    assert [trace["type"] for trace in chart["data"]] == ["bar"]
    assert "pattern" not in chart["data"][0]["marker"]
