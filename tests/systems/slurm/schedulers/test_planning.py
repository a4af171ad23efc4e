"""The map of backfill against one that is counted second by second."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.schedulers import planning
from gnomon.systems.slurm.select import at as places
from gnomon.systems.slurm.select.columns import Trial
from gnomon.systems.slurm.select.rows import trial_for
from gnomon.systems.slurm.select.selector import Selector

pytestmark = pytest.mark.unit

NODES, STEP, WINDOW_S = 35, 60, 3600


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    path = tmp_path_factory.mktemp("planning") / "slurm.conf"
    path.write_text(f"NodeName=n[1-{NODES}] CPUs=2\nPartitionName=batch Nodes=ALL Default=YES\n")
    return trial_for(Selector(read_conf(path)).hardware)


def empty() -> planning.Chart:
    chart = planning.chart_for(NODES, 64)
    chart.begin[0], chart.end[0], chart.open[0] = 0, WINDOW_S, planning.packed(np.ones(NODES, np.bool_))
    chart.at[planning.COUNT], chart.at[planning.STEP], chart.at[planning.WINDOW_S] = 1, STEP, WINDOW_S
    return chart


promises = st.lists(
    st.tuples(
        st.sets(st.integers(0, NODES - 1), min_size=1, max_size=5),
        st.integers(0, WINDOW_S - 1),  # start, s
        st.integers(1, 30),  # minutes
    ),
    max_size=8,
)


@settings(deadline=None)
@given(promises, st.integers(0, WINDOW_S - STEP), st.integers(1, 30))
def test_nodes_are_left_that_are_promised_in_no_slot_of_the_time(
    trial: Trial, taken: list[tuple[set[int], int, int]], start: int, minutes: int
) -> None:
    chart = empty()
    free = np.ones((WINDOW_S, NODES), np.bool_)  # by second
    for nodes, begin, length in taken:
        trial.node[: len(nodes)] = sorted(nodes)
        trial.at[places.COUNT_NODES] = len(nodes)
        planning.promise(chart, trial, begin, length)
        first = begin // STEP * STEP
        last = max((begin + length * 60) // STEP * STEP, first + STEP)
        if last <= WINDOW_S:  # what reaches beyond the map is cut where it ends
            free[first:last, sorted(nodes)] = False
        else:
            free[first:, sorted(nodes)] = False
    trial.usable[:] = 1
    end = start + minutes * 60
    planning.over_slots(chart, trial, start, end)
    slots = range(int(chart.at[planning.COUNT]))
    touched = [i for i in slots if chart.end[i] > start and chart.begin[i] <= end]
    expected = np.ones(NODES, np.bool_)
    for i in touched:
        expected &= free[int(chart.begin[i])]
    assert trial.usable.astype(bool).tolist() == expected.tolist()
    for i in slots:  # nothing changes within a slot
        inside = free[int(chart.begin[i]) : int(chart.end[i])]
        assert (inside == inside[0]).all()
        assert planning.packed(inside[0]).tolist() == chart.open[i].tolist()


def test_a_promise_overlaps_what_was_promised_before(trial: Trial) -> None:
    chart = empty()
    trial.node[:2], trial.at[places.COUNT_NODES] = [1, 33], 2
    planning.promise(chart, trial, 600, 10)
    assert not planning.overlaps(chart, trial, 0, 10)  # until 600 s
    assert planning.overlaps(chart, trial, 0, 11)
    assert planning.overlaps(chart, trial, 1199, 1)
    assert not planning.overlaps(chart, trial, 1200, 10)
    trial.node[:2] = [0, 2]
    assert not planning.overlaps(chart, trial, 600, 10)  # other nodes


def test_more_nodes_are_free_once_the_slot_ends_that_takes_some(trial: Trial) -> None:
    chart = empty()
    trial.node[:1], trial.at[places.COUNT_NODES] = [34], 1
    planning.promise(chart, trial, 0, 10)
    trial.usable[:] = 1
    planning.over_slots(chart, trial, 0, 300)
    assert trial.usable[34] == 0
    assert chart.at[planning.LATER] == 600
