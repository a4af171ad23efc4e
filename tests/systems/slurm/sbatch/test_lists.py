"""Arrays, dependencies, licenses: their forms, and what slurmctld refuses."""

from __future__ import annotations

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.sbatch.arrays import array_tasks, check_tasks, printed_tasks
from gnomon.systems.slurm.sbatch.dependencies import dependencies
from gnomon.systems.slurm.sbatch.licenses import licenses
from gnomon.systems.slurm.sbatch.refusals import RefusedError
from gnomon.systems.slurm.sbatch.request import Dependency


@pytest.mark.parametrize(
    ("text", "indexes", "limit"),
    [
        ("0-15", tuple(range(16)), None),
        ("1,3,5,7", (1, 3, 5, 7), None),
        ("1-7:2", (1, 3, 5, 7), None),
        ("0-15%4", tuple(range(16)), 4),
        ("0-9:3,20", (0, 3, 6, 9, 20), None),
        ("5,1-3,2", (1, 2, 3, 5), None),
        ("[1-3]", (1, 2, 3), None),
        ("7", (7,), None),
    ],
)
def test_arrays(text: str, indexes: tuple[int, ...], limit: int | None) -> None:
    assert array_tasks(text) == (indexes, limit)


@pytest.mark.parametrize("text", ["x", "5-1", "-3", "1-", "1-3:0", "1.5", "", ",", "1-3x", "99999999999999"])
def test_arrays_that_are_none(text: str) -> None:
    with pytest.raises(RefusedError, match="Invalid job array specification"):
        array_tasks(text)


@pytest.mark.parametrize("text", ["1,3,5-...", "9-1", "0-4000001", "1%" + "9" * 5000])
def test_what_is_printed_of_an_array_is_the_users_file(text: str) -> None:
    """squeue cuts the list at 64 characters: ``SLURM_BITSTR_LEN`` of squeue(1)."""
    with pytest.raises(InputError, match=r"not the tasks of an array.*SLURM_BITSTR_LEN=0"):
        printed_tasks(text)


def test_a_million_tasks_are_taken_and_no_more() -> None:
    """MaxArraySize may be 4,000,001, and a session has many lines."""
    check_tasks(1_000_000, "5_[0-999999]")
    with pytest.raises(InputError, match="too many tasks, found 'sbatch'; allowed: 1,000,000 in all"):
        check_tasks(1_000_001, "sbatch")


def test_indexes_stay_below_the_largest_size() -> None:
    assert array_tasks("1000", 1001) == ((1000,), None)
    with pytest.raises(RefusedError, match="Invalid job array specification"):
        array_tasks("1001", 1001)


@pytest.mark.parametrize(
    ("text", "found", "any_of_them"),
    [
        ("afterok:1:2", [Dependency("afterok", 1), Dependency("afterok", 2)], False),
        ("afterok:1,afterany:3", [Dependency("afterok", 1), Dependency("afterany", 3)], False),
        ("afterok:1?afternotok:2", [Dependency("afterok", 1), Dependency("afternotok", 2)], True),
        ("after:1+5:2", [Dependency("after", 1, minutes=5), Dependency("after", 2)], False),
        ("aftercorr:7", [Dependency("aftercorr", 7)], False),
        ("afterany:7_3,singleton", [Dependency("afterany", 7, 3), Dependency("singleton")], False),
        ("afterany:7_*", [Dependency("afterany", 7)], False),
        ("AfterOK:1(unfulfilled)", [Dependency("afterok", 1)], False),  # as scontrol prints it
        ("", [], False),
    ],
)
def test_dependencies(text: str, found: list[Dependency], any_of_them: bool) -> None:
    assert dependencies(text) == (tuple(found), any_of_them)


@pytest.mark.parametrize(
    "text", ["foo:1", "afterok", "afterok:", "afterok:x", "afterok:0", "afterok:1,", "afterok:1?x,y"]
)
def test_dependencies_that_are_none(text: str) -> None:
    with pytest.raises(RefusedError, match="Job dependency problem"):
        dependencies(text)


def test_licenses() -> None:
    assert licenses("matlab:2,ansys") == ((("matlab", 2), ("ansys", 1)), False)
    assert licenses("matlab=2|ansys") == ((("matlab", 2), ("ansys", 1)), True)
    assert licenses("") == ((), False)
    for text in ("a:x", "a:0", ":2", "a,b|c"):
        with pytest.raises(RefusedError, match="Invalid license specification"):
            licenses(text)
