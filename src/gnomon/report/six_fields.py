"""The six things that an engine's own kinds of stage say, of those kinds that a job has.

Sources: Hadoop 3.5.0 (``MapTask``, ``ReduceTask``, ``FileOutputCommitter``), Spark 4.3.0 (``DAGScheduler``,
``BlockManager``, ``HadoopMapReduceCommitProtocol``).
"""

from __future__ import annotations

from typing import Final

from rich.text import Text

from gnomon.dataflow.plan import Plan
from gnomon.report.text import table

HEADS: Final = ("IN THE ENGINE", "BOUNDED", "PARTITIONS", "STATE", "PROGRESS", "RECOVERS FROM", "RESOURCES")

_MAPREDUCE: Final = {
    "split, map": (
        "files as of the start",
        "one a split, near its first block",
        "sort buffer, spills on local disk",
        "commit of the task",
        "the whole split",
        "mapreduce.map.memory.mb, .cpu.vcores",
    ),
    "shuffle": (
        "yes",
        "hash without sign, modulo reduces",
        "a segment a map and reduce, on local disk",
        "none: copied while maps run",
        "the segment; its node lost: the map",
        "5 copies at once",
    ),
    "merge, reduce": (
        "yes",
        "sorted by key",
        "runs in memory and on disk",
        "barrier: all segments are there",
        "the whole reduce, copied again",
        "mapreduce.reduce.memory.mb, .cpu.vcores",
    ),
    "output commit": (
        "yes",
        "a file a task, part-r-NNNNN",
        "_temporary",
        "commit of the job, _SUCCESS",
        "the job commit, with algorithm 2",
        "none",
    ),
}
_SPARK: Final = {
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

_ENGINES: Final = {"mapreduce": _MAPREDUCE, "spark": _SPARK}


def six_fields(plan: Plan, system: str) -> list[dict[str, str]]:
    """A row for each kind of stage that an engine (``mapreduce`` or ``spark``) runs a job with, under the names of
    :data:`HEADS` in small letters."""
    stages = plan.layout.graph.stages
    has = {
        "shuffle": bool(plan.exchanges),
        "merge, reduce": bool(plan.exchanges),
        "cached": any(stage.cached or stage.checkpointed for stage in stages),
    }
    return [
        dict(zip((head.lower() for head in HEADS), (kind, *fields), strict=True))
        for kind, fields in _ENGINES[system].items()
        if has.get(kind, True)
    ]


def block(plan: Plan, system: str) -> Text:
    """The same for people."""
    return table(list(HEADS), [list(row.values()) for row in six_fields(plan, system)])
