"""What ``SchedulerParameters`` says of backfilling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BY_JOB: Final = (
    "bf_max_job_part",
    "bf_max_job_user",
    "bf_max_job_assoc",
    "bf_max_job_user_part",
    "bf_min_age_reserve",
    "bf_min_prio_reserve",
    "bf_one_resv_per_job",
    "bf_job_part_count_reserve",
)
"""The parameters under which it depends on more than the order of the queue who is looked at and promised a start."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The ``bf_…`` parameters, in seconds where they are times (defaults: slurm.conf(5))."""

    interval_s: int = 30
    resolution_s: int = 60
    window_s: int = 86_400
    most_tests: int = 500
    most_starts: int = 0
    most_slots: int = 500
    per_user: int = 0
    per_partition: int = 0
    per_user_partition: int = 0
    per_account: int = 0
    array_promises: int = 20
    promises_per_partition: int = 0
    least_age_s: int = 0
    one_per_job: bool = False
    running_reserve: bool = False

    @classmethod
    def of(cls, scheduler: Mapping[str, str]) -> Settings:
        """From SchedulerParameters."""

        def number(name: str, default: int) -> int:
            return int(scheduler.get(name, default) or default)

        tests = number("bf_max_job_test", number("max_job_bf", 500))
        return cls(
            interval_s=number("bf_interval", 30),
            resolution_s=max(1, number("bf_resolution", 60)),
            window_s=number("bf_window", 1440) * 60,
            most_tests=tests,
            most_starts=number("bf_max_job_start", 0),
            most_slots=number("bf_node_space_size", tests),
            per_user=number("bf_max_job_user", 0),
            per_partition=number("bf_max_job_part", 0),
            per_user_partition=number("bf_max_job_user_part", 0),
            per_account=number("bf_max_job_assoc", 0),
            array_promises=number("bf_max_job_array_resv", 20),
            promises_per_partition=number("bf_job_part_count_reserve", 0),
            least_age_s=number("bf_min_age_reserve", 0),
            one_per_job="bf_one_resv_per_job" in scheduler,
            running_reserve="bf_running_job_reserve" in scheduler,
        )
