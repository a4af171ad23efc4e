"""What tasks need: ids of others, or the name of an entry for all of its tasks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.systems.plain.read import read_work


def needs(*entries: str) -> dict[str, tuple[str, ...]]:
    """What each task of these entries needs, one entry a line."""
    text = "".join(f"- {{cpu: 1, duration: 1, {entry}}}\n" for entry in entries)
    work = read_work(*parse_yaml(text, file="f.yaml"))
    tasks = [work.task(index) for index in range(len(work))]
    return {task.id: task.needs for task in tasks if task.needs}


@pytest.mark.unit
def test_ids_in_any_order_of_the_file() -> None:
    assert needs("id: c, needs: [a, b]", "id: a", "id: b, needs: [a]") == {"c": ("a", "b"), "b": ("a",)}


@pytest.mark.unit
def test_the_name_of_a_counted_entry_stands_for_all_of_it_and_each_task_is_needed_once() -> None:
    assert needs("id: m, count: 3", "job: r, count: 2, needs: [m, m-1]") == {
        "r-0": ("m-0", "m-1", "m-2"),
        "r-1": ("m-0", "m-1", "m-2"),
    }


@pytest.mark.unit
def test_an_id_goes_before_the_name_of_an_entry() -> None:
    assert needs("id: m, count: 2", "job: j, id: z, needs: [m-0]") == {"z": ("m-0",)}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (
            ["id: alpha", "id: b, needs: [alpha, alhpa]"],
            "line 2, [1].needs[1]: unknown task (did you mean 'alpha'?), found 'alhpa'; allowed: ids of tasks here",
        ),
        (["id: a, needs: [a]"], "line 1, [0].needs: these tasks wait for each other, found 'a needs a'"),
        (
            ["id: d, needs: [a]", "id: a, needs: [b]", "id: b, needs: [c-0]", "id: c, count: 2, needs: [a]"],
            "these tasks wait for each other, found '",
        ),
        (["id: a, count: 1000", "id: b, count: 1001, needs: [a]"], "[1].needs: more than 1000000 needs, counts incl"),
        (["id: a, needs: b"], "line 1, [0].needs: a list is wanted, found 'b'"),
    ],
)
def test_refuses(entries: list[str], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        needs(*entries)
    assert str(caught.value).startswith("f.yaml, line ")
    assert problem in str(caught.value)


@pytest.mark.unit
def test_a_circle_is_told_in_the_order_of_the_needs() -> None:
    with pytest.raises(InputError) as caught:
        needs("id: a, needs: [b]", "id: b, needs: [c-0]", "id: c, count: 2, needs: [a]")
    circle = str(caught.value.found).split(" needs ")
    assert dict(pairwise(circle)) == {"a": "b", "b": "c", "c": "a"}
