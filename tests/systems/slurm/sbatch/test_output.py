"""Patterns of output files: the table of sbatch(1), "filename pattern"."""

from __future__ import annotations

import pytest

from gnomon.systems.slurm.sbatch.output import JobNames, output_path

JOB = JobNames(job=128, name="blast", user="alice", node="n1")
TASK = JobNames(job=130, name="blast", user="alice", array_job=128, task=2, node="n1")


@pytest.mark.parametrize(
    ("pattern", "job", "path"),
    [
        ("job%j.out", JOB, "job128.out"),
        ("job%4j.out", JOB, "job0128.out"),
        ("job%2j-%%.out", JOB, "job128-%.out"),
        ("%x-%u-%N.out", JOB, "blast-alice-n1.out"),
        ("%A_%a-%b.out", TASK, "128_2-2.out"),
        ("%A_%3a-%j.out", TASK, "128_002-130.out"),
        ("%A_%a.out", JOB, "128_4294967294.out"),  # no array: NO_VAL
        ("%99j", JOB, "0000000128"),  # ten digits at most
        ("\\%j", JOB, "%j"),  # a backslash: nothing is replaced
        ("50%", JOB, "50%"),
        ("%q", JOB, "%q"),
        ("", JOB, "slurm-128.out"),
        ("", TASK, "slurm-128_2.out"),
    ],
)
def test_patterns(pattern: str, job: JobNames, path: str) -> None:
    assert output_path(pattern, job) == path


def test_relative_paths_are_in_the_working_directory() -> None:
    assert output_path("out/%j", JOB, "/home/alice") == "/home/alice/out/128"
    assert output_path("/scratch/%j", JOB, "/home/alice") == "/scratch/128"
