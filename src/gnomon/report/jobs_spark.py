"""Jobs of dataflow as Spark runs them."""

from __future__ import annotations

from typing import Any, Final

from rich.text import Text

from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import Plan, cut
from gnomon.dataflow.stage import Graph
from gnomon.report.jobs import SplitsOf, description, document
from gnomon.report.six_fields import block, six_fields

KINDS: Final = {
    "input": ("yes", "splits of files, or lists", "none", "none", "its partition", "spark.executor.cores, .memory"),
    "narrow chain": (
        "as its input",
        "one to one",
        "none",
        "none: in one task",
        "the input of its stage",
        "spark.task.cpus",
    ),
    "shuffle": (
        "yes",
        "hash, range or round robin",
        "map output files on local disk",
        "barrier: all outputs are there",
        "lost map outputs only",
        "none",
    ),
    "cached": (
        "yes",
        "as it is",
        "blocks in storage memory",
        "none",
        "its lineage, or a checkpoint",
        "spark.memory.storageFraction",
    ),
    "result": ("yes", "a file a partition", "commit protocol", "commit of the job", "the whole job", "none"),
}
"""The kinds of stage (Spark 4.3.0: ``DAGScheduler``, ``BlockManager``, ``HadoopMapReduceCommitProtocol``)."""

_PARTITIONS_MIN: Final = 2
"""``defaultMinPartitions`` of ``textFile``."""


def describe(graph: Graph, splits_of: SplitsOf, partitions: int | None) -> tuple[Plan, dict[str, Any], Text]:
    """A job's stages under Spark's rules, for programs and for people."""
    plan = cut(graph, Rules(partitions=partitions, cuts=True), splits_of(_PARTITIONS_MIN))
    data = {**document(plan), "engine": six_fields(plan, KINDS)}
    return plan, data, description(plan) + "\n\n" + block(plan, KINDS)
