"""Jobs on real processes give what they give in one process, also when memory is short or something is killed."""

import gzip
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from gnomon.api.jobs import load_job, splits_of
from gnomon.api.running import Ended, JobFailedError, options_for, run_job
from gnomon.backends.local_blocks import read
from gnomon.backends.local_pool import Pool
from gnomon.backends.local_shuffle import quick_portable
from gnomon.backends.local_task import Finished, Runner, Task, output_name
from gnomon.dataflow.execute import collect
from gnomon.dataflow.hashing import portable
from gnomon.dataflow.plan import Plan, cut
from gnomon.dataflow.sampling import bounds_of
from gnomon.model.errors import InputError

pytestmark = pytest.mark.unit

HEAD = """
import os, signal
from operator import add
from pathlib import Path
from gnomon.dataflow import Dataflow

flow = Dataflow("job")
"""
COUNT = (
    HEAD
    + """
words = flow.text("input/*.txt").flat_map(str.split)
words.map(lambda word: (word, 1)).reduce_by_key(add, partitions=2)"""
)

Job = Callable[[str], Path]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Writes a job file, with two small texts to read."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.txt").write_text("welcome everyone\n")
    (tmp_path / "input" / "b.txt").write_text("hello everyone\n")

    def write(text: str) -> Path:
        (tmp_path / "job.py").write_text(text)
        return tmp_path / "job.py"

    return write


def run(path: Path, **changes: Any) -> Ended:
    return run_job(path, replace(options_for(path, workers=1), **changes))


def here(plan: Plan, limit: int, folder: Path) -> tuple[list[Any], int]:
    """The records of the only result, all tasks run in this process with so many bytes; and the bytes spilled."""
    writers = {stage.writes.number: stage for stage in plan.run if stage.writes}
    inputs = {number: (folder / f"{stage.number}", stage.tasks) for number, stage in writers.items()}
    runner, spilled = Runner(plan, inputs, folder / "scratch", limit), 0
    bounds: dict[int, list[Any]] = {}
    made: list[Any] = []
    for stage in plan.run:
        (folder / f"{stage.number}").mkdir()
        for index in range(stage.tasks):
            target = folder / f"{stage.number}" / output_name(index)
            done = runner(Task(stage.number, index, 0, str(target), bounds, quick=limit > 12_000))
            assert isinstance(done, Finished), done
            Path(done.path).rename(target)
            spilled += done.counts["spilled_bytes"]
        if not stage.writes:
            files = sorted((folder / f"{stage.number}").iterdir())
            made = list(chain.from_iterable(chain.from_iterable(read(file, 0)) for file in files))
        if stage.samples:
            bounds[stage.samples.number] = bounds_of(stage.samples, made)
    return made, spilled


# ---------------------------------------------------------------------- what it gives


def test_a_word_count_writes_its_files(job: Job, tmp_path: Path) -> None:
    path = job(COUNT + '.sink("out")')
    ended = run(path)
    out = tmp_path / "out"
    assert sorted(file.name for file in out.iterdir()) == ["_SUCCESS", "part-r-00000", "part-r-00001"]
    lines = [(out / f"part-r-0000{number}").read_text() for number in range(2)]
    assert sorted("".join(lines).splitlines()) == ["everyone\t2", "hello\t1", "welcome\t1"]
    expected = collect(load_job(path).graph, splits=splits_of(load_job(path)))
    assert [tuple(line.split("\t")) for line in "".join(lines).splitlines()] == [(w, str(n)) for w, n in expected]
    assert [(stage.tasks, stage.counts["read"]) for stage in ended.stages] == [(2, 2), (2, 4)]
    assert not (tmp_path / "job.work").exists()


OPERATORS = {
    "reduce": "pairs.reduce_by_key(add, partitions=3)",
    "no combining": "pairs.reduce_by_key(add, partitions=3, combine=False)",
    "combine": "pairs.combine_by_key(lambda v: [v], lambda l, v: [*l, v], add, partitions=3)",
    "aggregate": "pairs.aggregate((0, 0), lambda r, v: (r[0] + v, r[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1]))",
    "group": "pairs.group_by_key(partitions=3)",
    "group, combined": "pairs.group_by_key(partitions=3, combine=lambda key, values: [max(values)]).map_values(max)",
    "distinct": "pairs.map_values(lambda v: v % 3).distinct(partitions=3)",
    "sort": "pairs.map(lambda p: (p[1] * 7919 % 1009, p)).sort_by_key(partitions=4)",
    "sort down": "pairs.sort_by(lambda p: p[0], ascending=False, partitions=3)",
    "sort, one partition": "pairs.sort_by_key(partitions=1)",
    "deal": "pairs.repartition(3)",
    "deal by key": "pairs.repartition(3, partitioner='java')",
    "custom": "pairs.group_by_key(partitions=3, partitioner=len)",
    "join": "pairs.join(others, partitions=3)",
    "full join": "pairs.filter(lambda p: p[1] % 3).join(others, how='full', partitions=3)",
    "broadcast": "pairs.join(others, broadcast=True, how='left')",
    "cogroup": "pairs.cogroup(others, others.map_values(str), partitions=2)",
    "union": "pairs.union(others).map_partitions(lambda i, p: [(i, sum(v for _, v in p))], indexed=True).coalesce(2)",
    "already parted": "pairs.reduce_by_key(add, partitions=3).map_values(lambda v: v + 1).group_by_key()",
}
RECORDS = (
    HEAD
    + """
pairs = flow.source([(f"key {n % 211}", n) for n in range(1500)], partitions=4)
others = flow.source([(f"key {n * 3}", -n) for n in range(120)], partitions=2)
"""
)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("limit", [12_000, 1 << 30], ids=["short", "ample"])
def test_every_operator_gives_what_it_gives_without_processes(job: Job, tmp_path: Path, name: str, limit: int) -> None:
    """In the same order too, with records that take many times the memory that there is, and with all of it."""
    graph = load_job(job(f"{RECORDS}\n{OPERATORS[name]}.collect()")).graph
    made, spilled = here(cut(graph), limit, tmp_path)
    assert made == collect(graph)
    assert limit > 12_000 or spilled or name not in ("group", "sort, one partition", "join")


def test_results_of_processes_are_in_the_same_order(job: Job) -> None:
    path = job(f"{RECORDS}\npairs.join(others, partitions=3).sort_by_key(partitions=2).collect()")
    assert run(path).records["collect"] == collect(load_job(path).graph)


def test_a_partitioner_is_as_quick_as_it_is_right() -> None:
    keys = ["a", "", "é", "𝄞" * 9, b"abc", 0, -1, 2**70, True, 1.5, None, ("a", 1, None), (("x",), b"")]
    with Pool(1, quick_hashes) as pool:
        pool.give(keys)
        assert list(pool.ended()) == [(keys, [portable(key) for key in keys])]


def quick_hashes() -> Callable[[list[Any]], list[int]]:
    return lambda keys: [quick_portable(key) for key in keys]


def test_an_empty_input_gives_empty_files(job: Job, tmp_path: Path) -> None:
    path = job(COUNT + '.sink("out")')
    for file in (tmp_path / "input").iterdir():
        file.write_text("")
    run(path)
    assert [file.stat().st_size for file in (tmp_path / "out").iterdir()] == [0, 0, 0]


# ---------------------------------------------------------------------- what goes wrong in the job


def test_a_function_that_raises_is_named_with_the_record_and_its_lines(job: Job, tmp_path: Path) -> None:
    path = job(HEAD + "def inverse(n):\n    return 1 / n\n\nflow.source([[1], [2, 0]]).map(inverse).collect()\n")
    with pytest.raises(JobFailedError) as caught:
        run(path, attempts=2)
    lines = str(caught.value).splitlines()
    assert lines[0] == "job job failed: task 1 of stage 0 (collect) failed 2 times"
    assert lines[1] == "map: inverse failed on the record 0 (partition 1): ZeroDivisionError: division by zero"
    assert lines[2].endswith('job.py", line 9, in inverse')
    assert lines[3].strip() == "return 1 / n"
    assert caught.value.exit_code == 1


def test_a_reducing_function_is_named_with_the_record(job: Job) -> None:
    path = job(HEAD + 'flow.source([[("a", 1), ("a", "x")]]).reduce_by_key(add, partitions=2).collect()')
    with pytest.raises(JobFailedError, match=r"reduce_by_key: add failed on the record \('a', 'x'\)"):
        run(path, attempts=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flow.source([[1]]).map(lambda n: (n, (i for i in ()))).repartition(2)", "cannot be written: TypeError"),
        ("flow.source([[1, 'a']]).sort_by(lambda n: n, partitions=1)", "'<' not supported between"),
        ("flow.source([[1]]).group_by_key(partitions=1)", "group_by_key: .* cannot unpack|the record 1"),
        ("flow.source([[([], 1)]]).group_by_key(partitions=2)", "unhashable type: 'list'|not defined for such a key"),
        ("flow.source([[1]]).map(lambda n: os._exit(7))", "the worker process ended with exit code 7"),
        ("flow.source([[1]]).map(lambda n: exec('raise KeyboardInterrupt'))", "on the record 1 .*: KeyboardInterrupt"),
    ],
    ids=["unpicklable", "unsortable", "no pair", "unhashable", "exit", "interrupt"],
)
def test_what_cannot_be_done_is_told(job: Job, text: str, said: str) -> None:
    with pytest.raises(JobFailedError, match=said):
        run(job(f"{HEAD}{text}.collect()"), attempts=2)


def test_a_function_that_raises_stop_iteration_does_not_end_the_input(job: Job) -> None:
    """``map`` takes it for the end of what it reads."""
    path = job(HEAD + "flow.source([[[1], [], [3]]]).map(lambda values: next(iter(values))).collect()")
    with pytest.raises(JobFailedError, match=r"lambda failed on the record \[\] \(partition 0\): .*StopIteration"):
        run(path, attempts=2)


def test_a_function_may_read_as_much_of_a_partition_as_it_wants(job: Job) -> None:
    path = job(HEAD + "flow.source([range(1000)]).map(str).map_partitions(lambda p: [next(p)]).collect()")
    ended = run(path)
    assert ended.records["collect"] == ["0"]
    assert ended.stages[0].failures == 0


def test_a_task_that_fails_once_is_tried_again(job: Job, tmp_path: Path) -> None:
    once = f"""
def once(word):
    flag = Path({str(tmp_path)!r}, "failed")
    if word == "hello" and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return word

flow.text("input/*.txt").flat_map(str.split).map(once).collect()
"""
    ended = run(job(HEAD + once))
    assert ended.records["collect"] == ["welcome", "everyone", "hello", "everyone"]
    assert [stage.failures for stage in ended.stages] == [1]


# ---------------------------------------------------------------------- what stands in the way


def test_an_output_that_exists_is_left_alone(job: Job, tmp_path: Path) -> None:
    path = job(COUNT + '.sink("out")')
    run(path)
    with pytest.raises(InputError, match="out: the output exists already"):
        run(path)


@pytest.mark.parametrize(
    ("work", "told"), [("job.work", "job.work: another process runs a job here"), ("other", "another process writes")]
)
def test_a_run_beside_another_one_is_refused_and_does_no_harm(job: Job, tmp_path: Path, work: str, told: str) -> None:
    """It comes when the first one has moved an output to where it stays, and must not move it back."""
    path, refused = job(COUNT + '.sink("out")'), []
    move = Path.replace

    def moved(source: Path, target: str | Path) -> Path:
        done = move(source, target)
        if Path(target) == tmp_path / "out" / "part-r-00000":
            with pytest.raises(InputError, match=told):
                run(path, work=tmp_path / work)
            refused.append(work)
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "replace", moved)
        run(path)
    assert refused == [work]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["_SUCCESS", "part-r-00000", "part-r-00001"]


def test_too_little_memory_is_told_with_how_much_is_needed(job: Job) -> None:
    with pytest.raises(InputError, match="--memory: too little, found '64Mi'; allowed: at least 136Mi"):
        run(job(COUNT + ".collect()"), memory=64 << 20)


# ---------------------------------------------------------------------- what is killed, and goes on

KILLS = """
def deadly(pair):
    word, count = pair
    flag = Path(__file__).with_name("killed")
    if word == "everyone" and not flag.exists():
        flag.touch()
        os.kill(os.getppid(), SIGNAL)
        signal.pause()
    return word, count
"""
DEADLY = COUNT.replace("flow =", f"{KILLS}\nflow =") + '.map(deadly).sink("out")'


def gnomon(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gnomon", "run", str(path), "--workers", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def killed(job: Job, tmp_path: Path) -> Iterator[Path]:
    """A job whose leading process was killed in the reduce stage, after all maps."""
    path = job(DEADLY.replace("SIGNAL", "signal.SIGKILL"))
    assert gnomon(path).returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / "_SUCCESS").exists()
    yield path
    assert not (tmp_path / "job.work").exists()


def test_a_job_that_was_killed_goes_on_and_gives_the_same_bytes(killed: Path, tmp_path: Path) -> None:
    ended = gnomon(killed)
    assert ended.returncode == 0, ended.stderr
    assert "tasks were finished by an earlier run" in ended.stderr
    resumed = bytes_of(tmp_path / "out")
    for file in (tmp_path / "out").iterdir():
        file.unlink()
    (tmp_path / "out").rmdir()
    assert [stage.kept for stage in run(killed).stages] == [0, 0]
    assert bytes_of(tmp_path / "out") == resumed


def test_a_killed_job_whose_code_has_changed_begins_afresh(killed: Path, tmp_path: Path) -> None:
    killed.write_text(killed.read_text().replace("return word, count", "return word.upper(), count"))
    ended = gnomon(killed)
    assert "of no use: the code has changed; the job began afresh" in ended.stderr
    assert b"EVERYONE\t2\n" in b"".join(bytes_of(tmp_path / "out").values())


def test_a_killed_job_whose_input_has_changed_begins_afresh(killed: Path, tmp_path: Path) -> None:
    (tmp_path / "input" / "b.txt").write_text("goodbye everyone\n")
    ended = run(killed)
    assert ended.changed == ("input",)
    assert b"goodbye\t1\n" in b"".join(bytes_of(tmp_path / "out").values())


def test_ctrl_c_leaves_things_whole(job: Job, tmp_path: Path) -> None:
    path = job(DEADLY.replace("SIGNAL", "signal.SIGINT"))
    ended = gnomon(path)
    assert ended.returncode == 130
    assert "interrupted; what was done is in" in ended.stderr
    assert gnomon(path).returncode == 0
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_a_commit_that_was_cut_off_is_made_again(killed: Path, tmp_path: Path) -> None:
    """Of two outputs one had moved up when it ended: here the first, which the killed run may have finished."""
    out = tmp_path / "out"
    for part in (out / "_temporary").glob("part-r-0000?"):
        part.rename(out / part.name)
    run(killed)
    assert sorted(bytes_of(out)) == ["_SUCCESS", "part-r-00000", "part-r-00001"]


def test_exit_codes_of_the_command(job: Job, tmp_path: Path) -> None:
    failing = gnomon(job(HEAD + "flow.source([[0]]).map(lambda n: 1 / n).collect()"), "--attempts", "1")
    assert failing.returncode == 1
    assert "lambda failed on the record 0" in failing.stderr
    assert os.path.basename(__file__) not in failing.stderr
    nothing = gnomon(job("x = 1\n"))
    assert nothing.returncode == 2
    assert "no job in this file" in nothing.stderr


# ---------------------------------------------------------------------- inputs and disks


WORDS = 'flow.text("input/*").flat_map(str.split).map(lambda w: (w, 1)).reduce_by_key(add, partitions=2).sink("out")'


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("bytes.txt", b"a \xff\n", "not UTF-8 at byte 2"), ("cut.gz", gzip.compress(b"a b\n" * 99)[:-9], "damaged|cut")],
    ids=["no text", "cut gzip"],
)
def test_an_input_that_cannot_be_read_is_told_at_once(job: Job, name: str, content: bytes, said: str) -> None:
    """Exit code 2, and no second attempt: it would read the same."""
    path = job(HEAD + WORDS)
    (path.parent / "input" / name).write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        run(path)
    assert str(caught.value.file).endswith(name)


def test_a_disk_that_is_full_is_not_the_fault_of_a_function(job: Job) -> None:
    path = job(HEAD + "flow.source([['x' * 1000] * 1000]).map(str.upper).repartition(2).collect()")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))  # inherited by the workers
    try:
        with pytest.raises(JobFailedError) as caught:
            run(path, attempts=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value).splitlines()[1] == "map: its output cannot be written: File too large"


def test_a_full_disk_that_a_function_met_is_its_own(job: Job) -> None:
    raising = "def save(n):\n    raise OSError(28, 'No space left on device')\n\n"
    path = job(HEAD + raising + "flow.source([[1]]).map(save).collect()")
    with pytest.raises(JobFailedError, match=r"map: save failed on the record 1 .*No space left on device"):
        run(path, attempts=1)
