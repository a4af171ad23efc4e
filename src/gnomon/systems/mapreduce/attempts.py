"""What attempts do: maps and reduces on real records, with their counters and how long each phase takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.dataflow.execute import Produced, run_task
from gnomon.dataflow.partition import Bounds
from gnomon.dataflow.serialise import Size, writable
from gnomon.dataflow.sorted_shuffle import reduce_task, write
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
        stage = part.source
        produced = run_task(replace(stage, writes=None), index, loads) if stored is None else None
        calls = sum(produced.calls.values()) if produced else len(stored or ())
        read = produced.read if produced else len(stored or ())
        phases = {"start": self.costs.start_ns, "read": self.costs.read_ns(input_bytes, local=local)}
        cpu = self.costs.cpu_ns(calls, input_bytes)
        if part.shuffles is None:
            records = (produced.records if produced else list(stored or ())) or []
            phases |= {"map": cpu, "write": self._store_ns(records)}
            return Attempt(counters.of_map_only(read, len(records)), phases, records=records)
        given = produced if produced is not None else _produced(part, index, stored or ())
        output = write(
            stage, index, given, self.settings.sorting, bounds=bounds, combining=self.combining, size=self.size
        )
        phases |= self._sorted_ns(output, cpu)
        return Attempt(counters.of_map(read, output), phases, output=output)

    def reduce(self, part: Part, index: int, copied: Mapping[int, Sequence[Segment]]) -> Attempt:
        """A reduce whose segments are all copied: its phases begin after that. Raises UserError."""
        stage = part.source
        reduced = reduce_task(stage, index, copied, self.settings.fetching, combining=self.combining, size=self.size)
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
        per_record = output.counts.materialised // max(sum(len(one.pairs) for one in output.segments), 1)
        merge = self.costs.disk_ns(2 * per_record * sum(output.passes))
        return {"map": max(cpu, sum(spills[:-1])), "spill": sort + sum(spills[-1:]), "merge": merge}

    def _store_ns(self, records: Sequence[Any]) -> int:
        """Writing to storage: through the pipeline of replicas, each of which is written while the next is sent."""
        size = sum(map(self.size, records))
        return self.costs.store_ns(size, self.settings.replication)


def _produced(part: Part, index: int, stored: Sequence[Any]) -> Produced:
    """What a map that changes nothing gives."""
    return Produced(part.source.number, index, records=list(stored), read=len(stored))
