"""Graphs as jobs of MapReduce: which tasks run, in which job, and what each reads."""

from operator import add

from gnomon.dataflow import Dataflow
from gnomon.systems.mapreduce.jobs import Jobs, Role, jobs_of
from gnomon.systems.mapreduce.settings import Settings


def shown(jobs: Jobs) -> list[tuple[str, int, int]]:
    return [(part.name, part.job, part.tasks) for part in jobs.parts]


def test_a_word_count_is_one_job_of_maps_and_reduces() -> None:
    flow = Dataflow("wordcount")
    words = flow.source([["a b"], ["b"]]).flat_map(str.split, name="words")
    words.map(lambda word: (word, 1), name="pairs").reduce_by_key(add, partitions=2).sink("out")
    jobs = jobs_of(flow.graph(), Settings())
    assert shown(jobs) == [("map (pairs)", 0, 2), ("reduce (out)", 0, 2)]
    assert [part.role for part in jobs.parts] == [Role.MAP, Role.REDUCE]
    assert jobs.batch.stages[1].parents == (0,)
    assert (jobs.batch.stages[0].writes, jobs.batch.stages[1].writes) == (True, False)
    assert jobs.batch.stages[1].overlaps_e4 == 500
    assert (jobs.maps_of(0), jobs.reduces_of(0)) == (2, 2)
    exchange = jobs.parts[0].shuffles
    assert exchange is not None
    assert (exchange.combine, exchange.ordered, exchange.known.function) == (False, True, "writable")


def test_without_a_number_there_is_one_reduce_as_by_default() -> None:
    flow = Dataflow()
    flow.source([[("a", 1)]] * 5).group_by_key().sink("out")
    assert shown(jobs_of(flow.graph(), Settings()))[1] == ("reduce (out)", 0, 1)
    assert shown(jobs_of(flow.graph(), Settings(reduces=3)))[1] == ("reduce (out)", 0, 3)


def test_a_job_without_a_shuffle_has_maps_only() -> None:
    flow = Dataflow()
    flow.source([[1], [2]]).map(lambda number: number + 1).sink("out")
    jobs = jobs_of(flow.graph(), Settings())
    assert shown(jobs) == [("map (out)", 0, 2)]
    assert not jobs.batch.stages[0].writes


def test_two_shuffles_are_two_jobs_and_the_second_reads_what_the_first_stored() -> None:
    flow = Dataflow("chain")
    counts = flow.source([[("a", 1)], [("b", 2)]]).reduce_by_key(add, partitions=2, name="counts")
    counts.map(lambda pair: (pair[1], pair[0]), name="turned").group_by_key(partitions=1).sink("out")
    jobs = jobs_of(flow.graph(), Settings())
    assert shown(jobs) == [
        ("map (source)", 0, 2),
        ("reduce (turned)", 0, 2),
        ("map again (turned)", 1, 2),
        ("reduce (out)", 1, 1),
    ]
    assert jobs.parts[2].identity
    assert jobs.parts[2].stored == 1
    assert [job.after for job in jobs.batch.jobs.values()] == [None, 0]
    assert jobs.batch.jobs[1].name == "chain 2 of 2"


def test_a_join_reads_the_maps_of_both_sides_and_a_broadcast_what_is_stored() -> None:
    flow = Dataflow()
    left, right = flow.source([[("a", 1)]], name="left"), flow.source([[("a", 2)]], name="right")
    left.join(right, partitions=2).sink("shuffled")
    left.join(right, broadcast=True).sink("broadcast")
    jobs = jobs_of(flow.graph(), Settings())
    assert shown(jobs) == [
        ("map (left)", 0, 1),
        ("map (right)", 0, 1),
        ("reduce (shuffled)", 0, 2),
        ("map (right)", 1, 1),
        ("map (broadcast)", 2, 1),
    ]
    assert [number for _, number in jobs.parts[2].reads] == [0, 1]
    assert [number for _, number in jobs.parts[4].loads] == [3]
