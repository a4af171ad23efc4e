"""Whom a text means."""

from dataclasses import replace

import numpy as np
import pytest

from gnomon.insight.explain.subjects import find_subject
from gnomon.model.errors import InputError
from gnomon.model.work import Task, Work

pytestmark = pytest.mark.unit

WORK = Work.from_tasks(
    [
        Task("etl-0", job="etl", queue="batch", user="ann"),
        Task("etl-1", job="etl", queue="batch", user="ann"),
        Task("report", queue="batch", user="bob"),
        Task("web/front", queue="prod"),
        Task("web/back", queue="prod"),
        Task("alone", job="single"),
    ]
)
NUMBERED = Work.from_tasks([Task("x") for _ in range(3)])


@pytest.mark.parametrize(
    ("text", "kind", "tasks"),
    [
        ("report", "task", (2,)),
        ("task/report", "task", (2,)),
        ("task/batch/report", "task", (2,)),
        ("task/bob/report", "task", (2,)),
        (" report ", "task", (2,)),
        ("rep", "task", (2,)),
        ("etl", "job", (0, 1)),
        ("job/etl", "job", (0, 1)),
        ("job/batch/etl", "job", (0, 1)),
        ("etl-1", "task", (1,)),
        ("tl-", "job", (0, 1)),
        ("web/front", "task", (3,)),
        ("task/web/front", "task", (3,)),
        ("front", "task", (3,)),
        ("alone", "task", (5,)),
        ("single", "job", (5,)),
        ("sing", "task", (5,)),
    ],
)
def test_a_name_or_a_part_that_only_one_has(text: str, kind: str, tasks: tuple[int, ...]) -> None:
    found = find_subject(text, WORK)
    assert (found.kind, found.tasks) == (kind, tasks)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("web", "2 tasks or jobs have this in their name, found 'web'; allowed: task/web/front, task/web/back"),
        (
            "task/prod/report",
            "no task or job has this name (did you mean 'report'?), found 'task/prod/report'; allowed: etl, single, "
            "etl-0, etl-1, report",
        ),
        ("reprot", "no task or job has this name (did you mean 'report'?), found 'reprot'"),
        ("task/etl", "no task or job has this name"),
        ("  ", "no subject is given"),
    ],
)
def test_none_or_several_are_an_error_with_the_names(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        find_subject(text, WORK)
    assert said in str(caught.value)


def test_ids_that_are_numbers() -> None:
    work = replace(NUMBERED, ids=np.array([7, 70, 8]), job=np.arange(3))
    assert find_subject("7", work).tasks == (0,)
    assert find_subject("job/70", work).tasks == (1,)
    assert find_subject("job/8", replace(work, jobs=("7", "70", "8"))).tasks == (2,)
    for text in ("07", "9" * 40, "-", "7.0"):
        with pytest.raises(InputError):
            find_subject(text, work)


def test_a_long_list_of_names_is_cut() -> None:
    work = Work.from_tasks([Task(f"t{i}") for i in range(100)])
    with pytest.raises(InputError, match="t9 and 90 more"):
        find_subject("nobody", work)
