"""The jobs that are examples: what they say of their results is so."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from gnomon.api.jobs import Job, load_job, splits_of
from gnomon.dataflow.execute import Results, run_plan
from gnomon.dataflow.plan import cut
from tests.shared import EXAMPLES


def run(name: str) -> tuple[Job, Results]:
    job = load_job(EXAMPLES / "dataflow" / f"{name}.py")
    return job, run_plan(cut(job.graph, None, splits_of(job)))


def test_word_count() -> None:
    _, results = run("wordcount")
    assert dict(results.records("out")) == {"welcome": 1, "everyone": 2, "hello": 1}


def test_salting_changes_nothing_but_the_hottest_partition() -> None:
    job, results = run("skewed_join")
    assert Counter(results.records("plain")) == Counter(results.records("salted"))
    plan = cut(job.graph)
    joins = [one for one in plan.exchanges if one.position == 0 and one.reader.startswith("by customer")]
    buckets = [zip(*results.outputs[one.number], strict=True) for one in joins]
    plain, salted = (max(sum(map(len, parts)) for parts in one) for one in buckets)
    assert plain >= 0.4 * 4_000
    assert salted < 0.6 * plain


def test_the_mean_of_means_is_not_the_mean() -> None:
    _, results = run("average")
    assert dict(results.records("true means")) == pytest.approx({"north": 23.0, "south": 31.0})
    assert dict(results.records("means"))["north"] != pytest.approx(23.0)


def test_the_ranking_is_sorted_over_all_partitions() -> None:
    _, results = run("top_pages")
    visits: dict[str, int] = defaultdict(int)
    for number in range(3_000):
        visits[f"owner-{number * number % 61 % 7}"] += 1
    (ranking,) = results.partitions
    assert results.records(ranking) == sorted(visits.items(), key=lambda pair: -pair[1])
