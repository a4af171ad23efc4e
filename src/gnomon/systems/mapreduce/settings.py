"""What a job of MapReduce is run with: the options that are modelled, by Hadoop's names, and their defaults.

Defaults are those of ``mapred-default.xml`` and ``hdfs-default.xml`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gnomon.dataflow.fetching import Fetching, FetchLimits
from gnomon.dataflow.spill_buffer import Sorting
from gnomon.dataflow.splits import split_bytes
from gnomon.model.resources import Resources
from gnomon.recovery.speculation import SpeculationCap

_MB: Final = 2**20
_MS: Final = 10**6
_S: Final = 10**9

DEFAULT_MEMORY_MB: Final = 1024
"""What a task gets whose memory is derived (-1) and that says nothing of its heap."""

HEAP_SHARE_E4: Final = 8_000
"""The heap of a task, of its memory (``mapreduce.job.heap.memory-mb.ratio`` 0.8)."""


@dataclass(frozen=True)
class Settings:
    """The options of a job. Shares are 1/10,000; times ns; memory bytes, or MB where the name says so."""

    reduces: int = 1
    sort_mb: int = 100
    spill_share_e4: int = 8_000
    sort_factor: int = 10
    combine_spills: int = 3
    split_least: int = 0
    split_most: int = 2**63 - 1
    slowstart_e4: int = 500
    rampup_e4: int = 5_000
    preemption_e4: int = 5_000
    map_attempts: int = 4
    reduce_attempts: int = 4
    map_speculative: bool = True
    reduce_speculative: bool = True
    speculative_least: int = 10
    speculative_total_e4: int = 100
    speculative_running_e4: int = 1_000
    scan_after_none_ns: int = _S
    scan_after_one_ns: int = 15 * _S
    map_memory_mb: int = -1
    reduce_memory_mb: int = -1
    map_vcores: int = 1
    reduce_vcores: int = 1
    copies: int = 5
    shuffle_share_e4: int = 7_000
    single_share_e4: int = 2_500
    merge_share_e4: int = 6_600
    kept_share_e4: int = 0
    reported_every: int = 10
    read_errors_reported: bool = True
    uber: bool = False
    uber_maps: int = 9
    uber_reduces: int = 1
    uber_bytes: int = 0
    committer: int = 2
    master_attempts: int = 2
    node_failures: int = 3
    node_exclusion: bool = True
    node_ignored_percent: int = 33
    node_expiry_ns: int = 600 * _S
    block_bytes: int = 128 * _MB
    replication: int = 3

    @property
    def sorting(self) -> Sorting:
        """The buffer of a map."""
        return Sorting(self.sort_mb * _MB, self.spill_share_e4, self.sort_factor, self.combine_spills)

    @property
    def fetching(self) -> Fetching:
        """The memory of a reduce that copies."""
        memory = self.memory_mb(reduce=True) * _MB * HEAP_SHARE_E4 // 10_000
        shares = (self.shuffle_share_e4, self.single_share_e4, self.merge_share_e4, self.kept_share_e4)
        return Fetching(memory, *shares, self.sort_factor, self.copies)

    @property
    def fetch_limits(self) -> FetchLimits:
        """When failed copies are enough."""
        return FetchLimits(self.reported_every, self.read_errors_reported)

    @property
    def speculation(self) -> SpeculationCap:
        """How many copies there may be."""
        return SpeculationCap(self.speculative_least, self.speculative_total_e4, self.speculative_running_e4)

    @property
    def split_bytes(self) -> int:
        """How much one map reads."""
        return split_bytes(self.block_bytes, least=self.split_least, most=self.split_most)

    def memory_mb(self, *, reduce: bool) -> int:
        """What a container of a task asks for."""
        asked = self.reduce_memory_mb if reduce else self.map_memory_mb
        return asked if asked > 0 else DEFAULT_MEMORY_MB

    def container(self, *, reduce: bool) -> Resources:
        """What a task asks for."""
        cores = self.reduce_vcores if reduce else self.map_vcores
        return Resources(cpu_milli=cores * 1000, memory_bytes=self.memory_mb(reduce=reduce) * _MB)

    def is_uber(self, maps: int, reduces: int, input_bytes: int) -> bool:
        """Whether a job is so small that its master runs all its tasks itself, one after another.

        >>> Settings(uber=True).is_uber(9, 1, 1000), Settings(uber=True).is_uber(10, 1, 1000)
        (True, False)
        """
        few = maps <= self.uber_maps and reduces <= self.uber_reduces
        return self.uber and few and input_bytes <= (self.uber_bytes or self.block_bytes)


@dataclass(frozen=True, slots=True)
class Option:
    """An option: the field of :class:`Settings`, what its value is, and the values allowed."""

    field: str
    kind: str
    least: int = 0
    most: int = 2**63 - 1


OPTIONS: Final = {
    "mapreduce.job.reduces": Option("reduces", "count", 0, 1_000_000),
    "mapreduce.task.io.sort.mb": Option("sort_mb", "count", 1, 2047),
    "mapreduce.map.sort.spill.percent": Option("spill_share_e4", "share", 1),
    "mapreduce.task.io.sort.factor": Option("sort_factor", "count", 2, 1_000_000),
    "mapreduce.map.combine.minspills": Option("combine_spills", "count", 1),
    "mapreduce.input.fileinputformat.split.minsize": Option("split_least", "bytes"),
    "mapreduce.input.fileinputformat.split.maxsize": Option("split_most", "bytes", 1),
    "mapreduce.job.reduce.slowstart.completedmaps": Option("slowstart_e4", "share"),
    "yarn.app.mapreduce.am.job.reduce.rampup.limit": Option("rampup_e4", "share"),
    "yarn.app.mapreduce.am.job.reduce.preemption.limit": Option("preemption_e4", "share"),
    "mapreduce.map.maxattempts": Option("map_attempts", "count", 1),
    "mapreduce.reduce.maxattempts": Option("reduce_attempts", "count", 1),
    "mapreduce.map.speculative": Option("map_speculative", "flag"),
    "mapreduce.reduce.speculative": Option("reduce_speculative", "flag"),
    "mapreduce.job.speculative.minimum-allowed-tasks": Option("speculative_least", "count"),
    "mapreduce.job.speculative.speculative-cap-total-tasks": Option("speculative_total_e4", "share"),
    "mapreduce.job.speculative.speculative-cap-running-tasks": Option("speculative_running_e4", "share"),
    "mapreduce.job.speculative.retry-after-no-speculate": Option("scan_after_none_ns", "milliseconds", 1),
    "mapreduce.job.speculative.retry-after-speculate": Option("scan_after_one_ns", "milliseconds", 1),
    "mapreduce.map.memory.mb": Option("map_memory_mb", "count", -1),
    "mapreduce.reduce.memory.mb": Option("reduce_memory_mb", "count", -1),
    "mapreduce.map.cpu.vcores": Option("map_vcores", "count", 1),
    "mapreduce.reduce.cpu.vcores": Option("reduce_vcores", "count", 1),
    "mapreduce.reduce.shuffle.parallelcopies": Option("copies", "count", 1),
    "mapreduce.reduce.shuffle.input.buffer.percent": Option("shuffle_share_e4", "share"),
    "mapreduce.reduce.shuffle.memory.limit.percent": Option("single_share_e4", "share"),
    "mapreduce.reduce.shuffle.merge.percent": Option("merge_share_e4", "share"),
    "mapreduce.reduce.input.buffer.percent": Option("kept_share_e4", "share"),
    "mapreduce.reduce.shuffle.maxfetchfailures": Option("reported_every", "count", 1),
    "mapreduce.reduce.shuffle.notify.readerror": Option("read_errors_reported", "flag"),
    "mapreduce.job.maxtaskfailures.per.tracker": Option("node_failures", "count", 1),
    "yarn.app.mapreduce.am.job.node-blacklisting.enable": Option("node_exclusion", "flag"),
    "yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent": Option(
        "node_ignored_percent", "count", -1, 100
    ),
    "mapreduce.job.ubertask.enable": Option("uber", "flag"),
    "mapreduce.job.ubertask.maxmaps": Option("uber_maps", "count"),
    "mapreduce.job.ubertask.maxreduces": Option("uber_reduces", "count", 0, 1),
    "mapreduce.job.ubertask.maxbytes": Option("uber_bytes", "bytes"),
    "mapreduce.fileoutputcommitter.algorithm.version": Option("committer", "count", 1, 2),
    "mapreduce.am.max-attempts": Option("master_attempts", "count", 1),
    "yarn.nm.liveness-monitor.expiry-interval-ms": Option("node_expiry_ns", "milliseconds", 1),
    "dfs.blocksize": Option("block_bytes", "bytes", 1),
    "dfs.replication": Option("replication", "count", 1, 512),
}
"""The options that are modelled."""

OLD_NAMES: Final = {
    "mapred.reduce.tasks": "mapreduce.job.reduces",
    "io.sort.mb": "mapreduce.task.io.sort.mb",
    "io.sort.spill.percent": "mapreduce.map.sort.spill.percent",
    "io.sort.factor": "mapreduce.task.io.sort.factor",
    "min.num.spills.for.combine": "mapreduce.map.combine.minspills",
    "mapred.min.split.size": "mapreduce.input.fileinputformat.split.minsize",
    "mapred.max.split.size": "mapreduce.input.fileinputformat.split.maxsize",
    "mapred.reduce.slowstart.completed.maps": "mapreduce.job.reduce.slowstart.completedmaps",
    "mapred.map.max.attempts": "mapreduce.map.maxattempts",
    "mapred.reduce.max.attempts": "mapreduce.reduce.maxattempts",
    "mapred.map.tasks.speculative.execution": "mapreduce.map.speculative",
    "mapred.reduce.tasks.speculative.execution": "mapreduce.reduce.speculative",
    "mapred.reduce.parallel.copies": "mapreduce.reduce.shuffle.parallelcopies",
    "mapred.job.shuffle.input.buffer.percent": "mapreduce.reduce.shuffle.input.buffer.percent",
    "mapred.job.shuffle.merge.percent": "mapreduce.reduce.shuffle.merge.percent",
    "mapred.job.reduce.input.buffer.percent": "mapreduce.reduce.input.buffer.percent",
    "dfs.block.size": "dfs.blocksize",
}
"""Names of Hadoop 1 that Hadoop still reads (``DeprecatedProperties``)."""
