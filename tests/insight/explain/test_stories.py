"""Golden explanations: for every reason a small scenario, and the whole answer as a user reads it.

``tests/data/explain/NAME.yaml`` begins with ``# SUBJECT: what this is about``; ``NAME.txt`` is the answer. Each change
that it tells is made to the file by hand, and the scenario run again: it must do what was promised.
"""

from pathlib import Path

import pytest
import yaml

from gnomon.api import Kind, Reason, Run
from gnomon.model.quantity import parse_duration
from gnomon.report.explanation import explanation
from tests.insight.explain.documents import Document, changed, document, explain, happened, run
from tests.shared import EXAMPLES, ROOT

pytestmark = pytest.mark.story

STORIES = sorted((ROOT / "tests" / "data" / "explain").glob("*.yaml"))
ASKED_OF_EXAMPLES = [
    ("why-pending.yaml", "render", {}),
    ("two-queues.yaml", "etl-5", {}),
    ("gang.yaml", "train-bob", {}),
    ("gang.yaml", "train-ann", {"gang": False}),
]


def story(path: Path) -> tuple[str, str]:
    """The subject that a story asks about, and the text of its scenario."""
    text = path.read_text(encoding="utf-8")
    subject, colon, _ = text.removeprefix("# ").partition(":")
    assert colon
    return subject, text


def example(name: str, other: Document) -> str:
    return yaml.safe_dump({**yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8")), **other}, sort_keys=False)


def same(subject: str, text: str, golden: Path) -> None:
    shown = explanation(explain(subject, text).as_dict()).plain
    assert shown.splitlines() == golden.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_answer_is_the_one_on_file(path: Path) -> None:
    subject, text = story(path)
    same(subject, text, path.with_suffix(".txt"))


@pytest.mark.parametrize(("name", "subject", "other"), ASKED_OF_EXAMPLES, ids=lambda part: str(part))
def test_the_examples_are_explained(name: str, subject: str, other: Document) -> None:
    golden = "-".join([name.removesuffix(".yaml"), subject, *(f"no-{field}" for field in other)])
    same(subject, example(name, other), STORIES[0].with_name(f"example-{golden}.txt"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_every_change_does_what_it_promises(path: Path) -> None:
    check_changes(*story(path))


@pytest.mark.parametrize(("name", "subject", "other"), ASKED_OF_EXAMPLES, ids=lambda part: str(part))
def test_every_change_to_an_example_does_what_it_promises(name: str, subject: str, other: Document) -> None:
    check_changes(subject, example(name, other))


def check_changes(subject: str, text: str) -> None:
    before = run(text)
    tasks = [id for id in before.scenario.work.ids if id == subject or _job(before, str(id)) == subject]
    changes = explain(subject, text).as_dict()["changes"]
    assert [one["cost"] for one in changes] == sorted(one["cost"] for one in changes)
    for change in changes:
        assert change["confirmed"]
        after = run(changed(document(text), change))
        _, _, promise = change["what"].rpartition(": it ")
        kept = _kept(promise, before, after, [str(task) for task in tasks], subject)
        assert kept, f"{change['what']}: {happened(after, Kind.START, *map(str, tasks))}"


def _kept(promise: str, before: Run, after: Run, tasks: list[str], subject: str) -> bool:
    """Whether the run with the change does what is promised: starts at a time, is done at one, keeps its place, runs
    nowhere twice, is empty."""
    words = promise.split()
    seconds = parse_duration(words[words.index("at") + 1]) / 1e9
    if promise.startswith("is empty"):
        return abs(_emptied(after, subject.removeprefix("node/")) - seconds) < 1e-6
    if "nowhere twice" in promise and any(ran_twice(after, task) for task in tasks):
        return False
    done = "is done" in promise
    kind = Kind.END if done else Kind.START
    latest = done or "runs on" in promise
    times = [_last(after, kind, task) for task in tasks] if latest else happened(after, kind, *tasks)
    if "keeps its place" in promise and any(happened(after, Kind.PREEMPT, *tasks)):
        return False
    as_it_was = [time for time in happened(before, kind, *tasks) if time is not None]
    earlier = len(as_it_was) < len(tasks) or latest or "keeps" in promise or seconds < max(as_it_was)
    return (
        earlier and None not in times and abs(max(time for time in times if time is not None) - seconds) < 1e-3
    )  # as shown


def _last(done: Run, kind: Kind, task: str) -> float | None:
    rows = _rows(done, task)
    times = [done.log.t_ns[row] / 1e9 for row in rows if done.log.kind[row] == kind]
    return times[-1] if times else None


def _rows(done: Run, task: str) -> list[int]:
    number = [str(id) for id in done.scenario.work.ids].index(task)
    return [row for row in range(len(done.log)) if done.log.subject[row] == number]


def ran_twice(done: Run, task: str) -> bool:
    """Whether two attempts or copies of a task really ran at one time, or one to its end that did not count."""
    counted = copies = 0
    for row in _rows(done, task):
        kind, reason = int(done.log.kind[row]), int(done.log.reason[row])
        counted += (kind == Kind.START) - (kind in (Kind.END, Kind.FAIL, Kind.KILL, Kind.PREEMPT, Kind.CANCEL))
        copies += (kind == Kind.COPY) - (kind == Kind.COPY_END)
        if (counted and copies) or (kind == Kind.COPY_END and reason == Reason.FINISHED):
            return True
    return False


def _emptied(done: Run, node: str) -> float:
    """When the last of those was gone who were on a node when its drain began."""
    log = done.log
    number = [one.name for one in done.scenario.cluster.nodes].index(node)
    drain = next(row for row in range(len(log)) if log.kind[row] == Kind.FAULT and log.node[row] == number)
    there: set[int] = set()
    gone = float(log.t_ns[drain]) / 1e9
    for row in range(len(log)):
        if log.node[row] != number:
            continue
        if log.kind[row] == Kind.START and row < drain:
            there.add(int(log.subject[row]))
        elif log.kind[row] in (Kind.END, Kind.FAIL) and int(log.subject[row]) in there:
            there.discard(int(log.subject[row]))
            gone = max(gone, float(log.t_ns[row]) / 1e9) if row > drain else gone
    return gone


def _job(done: Run, task: str) -> str:
    work = done.scenario.work
    return work.job_name(list(work.ids).index(task))
