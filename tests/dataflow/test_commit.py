"""Output commit by both algorithms, row by row of the table of what is visible when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.commit import SUCCESS, CommitError, Output

FILES = {"part-r-00000": ["a"], "part-r-00000.index": ["i"]}


def written(algorithm: int) -> Output:
    output = Output(algorithm)
    output.write(0, 0, FILES)
    assert output.may_commit(0, 0)
    return output


@pytest.mark.parametrize(("algorithm", "seen", "renames"), [(1, set(), 1), (2, set(FILES), 2)])
def test_what_a_committed_task_shows_before_the_job_commits(algorithm: int, seen: set[str], renames: int) -> None:
    output = written(algorithm)
    output.commit_task(0, 0)
    assert set(output.visible) == seen
    assert output.renames == renames
    assert not output.is_complete


@pytest.mark.parametrize("algorithm", [1, 2])
def test_after_the_job_commits_all_is_there_with_the_sign(algorithm: int) -> None:
    output = written(algorithm)
    output.commit_task(0, 0)
    output.commit_job()
    assert output.visible == {**FILES, SUCCESS: None}


@pytest.mark.parametrize(("algorithm", "left"), [(1, {}), (2, {"part-r-00000": ["a"]})])
def test_an_attempt_that_dies_while_it_commits(algorithm: int, left: dict[str, list[str]]) -> None:
    output = written(algorithm)
    output.commit_task(0, 0, moved=1)
    assert output.visible == left, "the second algorithm leaves a part of the output"
    output.write(0, 1, {"part-r-00000": ["b"]})
    assert output.may_commit(0, 1), "the one that was to commit has failed"
    output.commit_task(0, 1)
    output.commit_job()
    assert output.visible["part-r-00000"] == ["b"], "a file of the same name is written over"


def test_files_of_another_name_stay_from_an_attempt_that_died() -> None:
    output = Output(2)
    output.write(0, 0, {"part-at-10:00": ["a"], "other": ["x"]})
    output.may_commit(0, 0)
    output.commit_task(0, 0, moved=1)
    output.write(0, 1, {"part-at-10:05": ["a"]})
    output.may_commit(0, 1)
    output.commit_task(0, 1)
    output.commit_job()
    assert set(output.visible) == {"part-at-10:00", "part-at-10:05", SUCCESS}, "the records are there twice"


@pytest.mark.parametrize("algorithm", [1, 2])
def test_only_the_first_attempt_that_asks_commits(algorithm: int) -> None:
    output = written(algorithm)
    output.write(0, 1, {"part-r-00000": ["copy"]})
    assert not output.may_commit(0, 1)
    with pytest.raises(CommitError):
        output.commit_task(0, 1)
    output.commit_task(0, 0)
    assert not output.may_commit(0, 1), "not after it either"
    output.fail(0, 1)
    output.commit_job()
    assert output.visible["part-r-00000"] == ["a"]


def test_a_new_master_takes_over_what_has_committed() -> None:
    for algorithm, moves in ((1, 2), (2, 2)):
        output = written(algorithm)
        output.commit_task(0, 0)
        output.write(1, 0, {"part-r-00001": ["b"]})
        assert output.restart()
        assert output.renames == moves, "by the first the folder moves again, by the second all is in place"
        output.write(1, 0, {"part-r-00001": ["b"]})
        assert output.may_commit(1, 0)
        output.commit_task(1, 0)
        output.commit_job()
        assert set(output.visible) == {*FILES, "part-r-00001", SUCCESS}


def test_a_job_commit_that_was_cut_off_is_repeated_by_the_second_algorithm_only() -> None:
    for algorithm, goes_on in ((1, False), (2, True)):
        output = written(algorithm)
        output.commit_task(0, 0)
        output.commit_job(moved=0)
        assert not output.is_complete
        assert output.restart() is goes_on
    output.commit_job()
    assert output.is_complete


@given(
    st.sampled_from([1, 2]),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from(["ask", "fail", "die"])), max_size=25),
)
def test_whatever_fails_each_file_is_of_one_attempt_that_committed(
    algorithm: int, steps: list[tuple[int, int, str]]
) -> None:
    output, committed = Output(algorithm), dict[int, int]()
    for task, attempt, what in steps:
        output.write(task, attempt, {f"part-{task}": attempt})
        if what == "fail":
            output.fail(task, attempt)
        elif output.may_commit(task, attempt):
            output.commit_task(task, attempt, moved=0 if what == "die" else None)
            if what == "ask":
                assert task not in committed, "a task commits once"
                committed[task] = attempt
    output.commit_job()
    assert output.visible == {SUCCESS: None, **{f"part-{task}": attempt for task, attempt in committed.items()}}
