"""Works of several files as one: no task is another for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api.joining import joined
from gnomon.api.parts import load_work
from gnomon.model.errors import InputError
from gnomon.model.recovery import Recovery
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Task, Work
from tests.api.files import SWF, put

USAGES = [Usage((("cpu", Profile(((0, amount),))),)) for amount in (1, 2)]


def test_no_id_may_be_there_twice(tmp_path: Path) -> None:
    first, second = put(tmp_path, SWF, "a.swf"), put(tmp_path, SWF, "b.swf")
    with pytest.raises(InputError) as caught:
        load_work([first, second])
    assert str(caught.value) == f"{second}: this id is also in {first}, found '1'"


@pytest.mark.property
@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), st.data())
def test_joining_changes_no_task(ids: list[str], data: st.DataObject) -> None:
    word = st.sampled_from(["", "x", "y"])
    tasks = [
        Task(
            id,
            submit_ns=n,
            duration_ns=n,
            estimate_ns=n,
            user=data.draw(word),
            queue=data.draw(word),
            job=data.draw(word),
            usage=data.draw(st.sampled_from([None, *USAGES])),
            recovery=Recovery(exclude=data.draw(st.integers(0, 2))),
        )
        for n, id in enumerate(ids)
    ]
    cut = data.draw(st.integers(0, len(tasks)))
    for n in range(len(tasks)):
        before = ids[:n] if n < cut else ids[cut:n]  # only tasks of one file can need each other
        needs = data.draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        tasks[n] = replace(tasks[n], needs=tuple(needs))
    parts, whole = (tasks[:cut], tasks[cut:]), Work.from_tasks(tasks)
    found = joined([Work.from_tasks(part, source=f"file {n}") for n, part in enumerate(parts)])
    assert [found.task(n) for n in range(len(found))] == [whole.task(n) for n in range(len(whole))]
    assert [found.job_name(n) for n in range(len(found))] == [whole.job_name(n) for n in range(len(whole))]


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    log = load_work(put(tmp_path, SWF, "a.swf"))
    other = load_work(put(tmp_path, SWF.replace("\n1 ", "\n2 "), "b.swf"))
    found = joined([log, other])
    assert isinstance(found.ids, np.ndarray)
    assert found.ids.tolist() == [1, 2]
    assert (found.jobs, found.processors) == (None, 4)
