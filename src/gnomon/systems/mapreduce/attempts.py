"""What attempts do: maps and reduces on real records, with their counters and how long each phase takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from gnomon.dataflow.execute import run_task
from gnomon.dataflow.partition import Bounds
from gnomon.dataflow.serialise import Size, writable
from gnomon.dataflow.sorted_shuffle import map_task, reduce_task, write
from gnomon.dataflow.sorting import MapOutput, Segment
from gnomon.systems.mapreduce import counters
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.jobs import Part
from gnomon.systems.mapreduce.settings import Settings

Loads = Callable[[int, int], Iterable[Any]]
"""The records of a partition of an exchange that is read whole."""


@dataclass(frozen=True)
class Attempt:
    """What an attempt made, and took. ``phases`` [ns] follow each other; ``output`` is for reduces, ``records`` are for
    storage: one of the two is None."""

    counts: counters.Counts
    phases: Mapping[str, int]
    output: MapOutput | None = None
    records: list[Any] | None = None

    @property
    def length_ns(self) -> int:
        """All phases."""
        return sum(self.phases.values())


class _How(TypedDict):
    bounds: Bounds | None
    combining: bool
    size: Size


@dataclass(frozen=True)
class Runner:
    """Runs attempts by the settings of a job. ``combining``: what was set as a combiner is used."""

    settings: Settings
    costs: Costs
    combining: bool = True
    size: Size = writable

    def map(
        self,
        part: Part,
        index: int,
        *,
        input_bytes: int,
        local: bool,
        loads: Loads,
        stored: Sequence[Any] | None = None,
        bounds: Bounds | None = None,
    ) -> Attempt:
        """A map. ``stored``: the records that an identity reads. Raises UserError where a function of the job does."""
        stage, sorts = part.source, part.shuffles is not None
        phases = {"start": self.costs.start_ns, "read": self.costs.read_ns(input_bytes, local=local)}
        sorting = self.settings.sorting
        how = _How(bounds=bounds, combining=self.combining, size=self.size)
        if stored is not None:
            read, records = len(stored), stored
            produced, output = None, write(stage, index, stored, sorting, **how) if sorts else None
        elif sorts:
            mapped = map_task(stage, index, loads, sorting, **how)
            produced, output = mapped.produced, mapped.output
        else:
            produced, output = run_task(replace(stage, writes=None), index, loads), None
        if produced is not None:
            read, records = produced.read, produced.records or []
        cpu = self.costs.cpu_ns(read if produced is None else sum(produced.calls.values()), input_bytes)
        if output is None:
            phases |= {"map": cpu, "write": self._store_ns(records)}
            return Attempt(counters.of_map_only(read, len(records)), phases, records=list(records))
        phases |= self._sorted_ns(output, cpu)
        return Attempt(counters.of_map(read, output), phases, output=output)

    def reduce(
        self, part: Part, index: int, copied: Mapping[tuple[int, int], Sequence[Segment]], *, loads: Loads
    ) -> Attempt:
        """A reduce whose segments are all copied, by exchange and partition: its phases begin after that. Raises
        UserError."""
        stage = part.source
        reduced = reduce_task(
            stage, index, copied, self.settings.fetching, loads=loads, combining=self.combining, size=self.size
        )
        counts = counters.of_reduce(reduced)
        records = reduced.produced.records or []
        merged = sum(segment.bytes for segments in copied.values() for segment in segments)
        calls = sum(reduced.produced.calls.values())
        phases = {
            "sort": self.costs.disk_ns(merged if counts["SPILLED_RECORDS"] else 0),
            "reduce": self.costs.cpu_ns(calls + counts["REDUCE_INPUT_RECORDS"], merged),
            "write": self._store_ns(records),
        }
        return Attempt(counts, phases, records=records)

    def _sorted_ns(self, output: MapOutput, cpu: int) -> Mapping[str, int]:
        """Spills are written beside the map; it waits for the last one, and for those that are slower than it."""
        spills = [self.costs.disk_ns(spill.bytes) for spill in output.spills]
        sort = self.costs.sort_ns([spill.records for spill in output.spills])
        per_record = output.counts.materialised // max(sum(one.records for one in output.segments), 1)
        merge = self.costs.disk_ns(2 * per_record * sum(output.passes))
        return {"map": max(cpu, sum(spills[:-1])), "spill": sort + sum(spills[-1:]), "merge": merge}

    def _store_ns(self, records: Sequence[Any]) -> int:
        """Writing to storage: through the pipeline of replicas, each of which is written while the next is sent."""
        size = sum(map(self.size, records))
        return self.costs.store_ns(size, self.settings.replication)
