"""SchedulerParameters as ``_load_config`` of backfill.c takes them: atoi, bounds, the default where one is broken."""

import pytest

from gnomon.systems.slurm.config.conf_lines import Notes
from gnomon.systems.slurm.config.scheduler_parameters import scheduler_parameters
from gnomon.systems.slurm.config.slurm_conf import conf_of


@pytest.mark.parametrize(
    "entry",
    """bf_interval=0 bf_interval=x bf_interval= bf_interval bf_interval=10801 bf_resolution=0 bf_window=0 bf_window=-3
    bf_max_job_test=-1 bf_max_job_array_resv=1001 bf_node_space_size=1 default_queue_depth=-1 sched_interval=-2
    batch_sched_delay=-1 bf_job_part_count_reserve=-1 bf_min_age_reserve=2592001 bf_interval=99999999999999999999
    """.split(),
)
def test_what_slurmctld_does_not_take_leaves_the_default_and_is_told(entry: str) -> None:
    notes = Notes()
    assert scheduler_parameters(entry, notes) == {}
    (note,) = notes.all()
    name, _, value = entry.partition("=")
    assert note.text == f"Invalid SchedulerParameters {name}: {value}; the default holds"


@pytest.mark.parametrize(
    ("entry", "taken"),
    [
        ("bf_interval=-1", {"bf_interval": "-1"}),
        ("sched_interval=-1", {"sched_interval": "-1"}),
        ("default_queue_depth=0", {"default_queue_depth": "0"}),
        ("bf_min_age_reserve=x", {"bf_min_age_reserve": "0"}),
        ("sched_interval=1e3", {"sched_interval": "1"}),
        ("bf_window=1_0", {"bf_window": "1"}),
    ],
)
def test_numbers_are_read_as_far_as_they_go(entry: str, taken: dict[str, str]) -> None:
    assert scheduler_parameters(entry, Notes()) == taken


def test_words_that_nothing_looks_at_are_told_once() -> None:
    conf = conf_of("SchedulerParameters=bf_continue,bf_intervall=3,nonsense\nNodeName=n1\nPartitionName=p Nodes=n1")
    texts = [note.text for note in conf.notes if note.field == "SchedulerParameters"]
    assert texts == ["these change nothing here: bf_intervall, nonsense"]
