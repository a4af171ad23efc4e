"""``SchedulerParameters``: what slurmctld takes of it. A number that it does not take leaves the default in force.

Source: ``_load_config`` of ``src/plugins/sched/backfill/backfill.c``, ``schedule`` of ``job_scheduler.c``,
Slurm 22.05; slurm.conf(5), "SchedulerParameters", for the bounds. Numbers are read with ``atoi``; slurmctld logs those
that it does not take.
"""

from __future__ import annotations

from typing import Final

from gnomon.systems.slurm.config.conf_lines import Notes
from gnomon.systems.slurm.notation.values import leading_number

_INT_MAX: Final = 2**31 - 1
_TESTS_MAX: Final = 1_000_000

_BOUNDS: Final = {
    "batch_sched_delay": (0, _INT_MAX),
    "bf_interval": (1, 10_800),
    "bf_job_part_count_reserve": (0, 100_000),
    "bf_max_job_array_resv": (0, 1000),
    "bf_max_job_assoc": (0, _INT_MAX),
    "bf_max_job_part": (0, _INT_MAX),
    "bf_max_job_start": (0, 10_000),
    "bf_max_job_test": (1, _TESTS_MAX),
    "bf_max_job_user": (0, _INT_MAX),
    "bf_max_job_user_part": (0, _INT_MAX),
    "bf_min_age_reserve": (0, 30 * 86_400),
    "bf_min_prio_reserve": (1, 2**32 - 1),
    "bf_node_space_size": (2, 2 * _TESTS_MAX),
    "bf_resolution": (1, 3600),
    "bf_window": (1, 43_200),
    "bf_window_linear": (1, _INT_MAX),
    "default_queue_depth": (0, _INT_MAX),
    "max_job_bf": (1, _TESTS_MAX),
    "max_switch_wait": (0, _INT_MAX),
    "preempt_reorder_count": (1, _INT_MAX),
    "sched_interval": (0, _INT_MAX),
}
"""The numbers that are looked at: the least and the most of each that slurmctld takes."""
_WORDS: Final = frozenset(
    """assoc_limit_stop bf_busy_nodes bf_continue bf_one_resv_per_job bf_running_job_reserve defer pack_serial_at_end
    preempt_strict_order preempt_youngest_first spec_cores_first youngest_first""".split()
)
"""Words that are looked at, or whose whole effect comes about anyway (a pass is never interrupted, nothing is started
while a job is submitted)."""
_OFF: Final = ("bf_interval", "sched_interval")
"""Those for which -1 stands for never."""


def scheduler_parameters(text: str, notes: Notes) -> dict[str, str]:
    """What a value of SchedulerParameters comes to; numbers that are not taken are told of and left out.

    >>> notes = Notes()
    >>> scheduler_parameters("bf_interval=0,bf_window=60x,BF_Continue,sched_interval=-1", notes)
    {'bf_window': '60', 'bf_continue': '', 'sched_interval': '-1'}
    >>> [note.text for note in notes.all()]
    ['Invalid SchedulerParameters bf_interval: 0; the default holds', 'bf_window=60x is read as 60']
    """
    taken: dict[str, str] = {}
    for name, value in parameters(text).items():
        if name not in _BOUNDS:
            taken[name] = value
            continue
        least, most = _BOUNDS[name]
        number = leading_number(value)
        if not (least <= number <= most or (number == -1 and name in _OFF)):
            notes.taken("SchedulerParameters", f"Invalid SchedulerParameters {name}: {value}; the default holds")
            continue
        if value != str(number):
            notes.taken("SchedulerParameters", f"{name}={value} is read as {number}")
        taken[name] = str(number)
    others = sorted(taken.keys() - _BOUNDS.keys() - _WORDS)
    if others:
        notes.add("not modelled", "SchedulerParameters", f"these change nothing here: {', '.join(others)}")
    return taken


def parameters(text: str) -> dict[str, str]:
    """SchedulerParameters and the like: each entry in lower case with its value; of equal ones the first holds.

    >>> parameters("bf_interval=30,bf_continue,defer,BF_Interval=60")
    {'bf_interval': '30', 'bf_continue': '', 'defer': ''}
    """
    result: dict[str, str] = {}
    for entry in text.split(","):
        name, _, value = entry.partition("=")
        if entry.strip():
            result.setdefault(name.strip().lower(), value.strip())
    return result
