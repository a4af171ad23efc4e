"""What an application would take with something changed: its event log run again by Spark's rules.

A change is another cluster, other tasks in some stages (their number, and how long each has its slot), or copies of
slow tasks. All else, the driver's part between jobs among it, stays as it was recorded. Executors are there from the
beginning: that they came and went is not repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gnomon.control.batch.plan import BatchPlan, Course, StagePlan, Where
from gnomon.control.batch.play import play
from gnomon.control.batch.rules import Rules
from gnomon.control.batch.spans import counts_only, span_ns
from gnomon.insight.job_runs import job_runs
from gnomon.insight.spark.figures import slots_of
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.resources import Resources
from gnomon.scheduling.pools import FIFO
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.conf import Conf, recorded, task_cpus
from gnomon.systems.spark.delays import MS
from gnomon.systems.spark.profile import rules_of
from gnomon.systems.spark.replay import Recorded, Replay, replay
from gnomon.systems.spark.scenario import scenario_of, work_of

Lengths = Mapping[int, Sequence[int]]
"""By stage, how long each of its tasks has its slot, in ms."""

Copies = Mapping[int, Mapping[int, int]]
"""By stage and partition, how long a copy has its slot, in ms, where that is not as long as the first attempt."""


LOOKS_MAX = 1_000
"""How often it is looked for slow tasks in an application, about: each look costs as much as a task."""


WORLD_MAX = 10_000
"""So many tasks are run in the shared world, where slots cannot just be counted: each takes 0.2 ms."""


@dataclass(frozen=True)
class _WithCopies(Recorded):
    """A recorded run in which copies may take another time than the attempts that were recorded."""

    copies: Copies = field(default_factory=dict)

    def begin(self, where: Where) -> Course:
        """As recorded, or as a copy takes elsewhere."""
        course = super().begin(where)
        known = self.copies.get(where.stage.number, {}) if where.copy else {}
        usual = known.get(where.partition)
        return course if usual is None else replace(course, length_ns=min(course.length_ns, usual * MS))


@dataclass(frozen=True, eq=False)
class Bench:
    """An application on its bench. ``again``: its log as a plan; ``executors``: how many tasks each takes at a time, as
    when most of them were there; ``hosts``: where each of them is; ``conf``: its options; ``simple``: it is too large
    for rules under which slots cannot just be counted, so that pools and second copies are left out."""

    application: Application
    again: Replay
    executors: tuple[int, ...]
    hosts: tuple[str, ...]
    conf: Conf
    simple: bool = False

    @property
    def lengths(self) -> Lengths:
        """As recorded."""
        return self.again.execution.length_ms

    def span_ms(
        self, *, lengths: Lengths | None = None, executors: Sequence[int] | None = None, copies: Copies | None = None
    ) -> int:
        """From the first job's submission to the end of the last one, by simulation; 0 where nothing ran.

        ``lengths``: of the stages that change; ``executors``: in place of those that were there; ``copies``: with
        speculation, and how long copies take.
        """
        plan, execution = self._changed(lengths or {}, copies or {})
        if not plan.jobs:
            return 0
        used, rules = tuple(executors or self.executors), self._rules(speculates=copies is not None)
        if counts_only(plan, rules):
            lasting = {number: [ms * MS for ms in execution.length_ms[number]] for number in plan.stages}
            return span_ns(plan, rules, lasting, sum(used)) // MS
        cpus = task_cpus(self.application)
        nodes = tuple(
            Node(f"executor {place}", Resources(cpu_milli=1000 * slots * cpus), labels=(("host", self._host(place)),))
            for place, slots in enumerate(used)
        )
        work = work_of(plan, task_cpus=cpus)
        log = play(scenario_of(plan, rules, execution, Cluster(nodes), work=work))
        jobs = job_runs(log).values()
        return (max(job.end_ns for job in jobs) - min(job.start_ns for job in jobs)) // MS if jobs else 0

    def counts_only(self, *, speculates: bool = False) -> bool:
        """Whether a run needs no world (:mod:`gnomon.control.batch.spans`)."""
        return counts_only(self.again.plan, self._rules(speculates=speculates))

    def _host(self, place: int) -> str:
        return self.hosts[place] if place < len(self.hosts) else f"new host {place}"

    def _rules(self, *, speculates: bool) -> Rules:
        delays = self.again.delays
        whole = self.application.last_ms - self.application.started_ms
        look = {"spark.speculation": "true", "spark.speculation.interval": f"{max(100, whole // LOOKS_MAX)}ms"}
        conf = self.conf.merged(look) if speculates else self.conf
        try:
            found = rules_of(conf, result_ms=delays.result, stage_ms=delays.stage)
        except InputError:  # an option that no Spark would take
            return Rules(result_ns=delays.result * MS, stage_ns=delays.stage * MS)
        found = replace(found, allocation=None)
        return replace(found, mode=FIFO, copies=None) if self.simple and not speculates else found

    def _changed(self, lengths: Lengths, copies: Copies) -> tuple[BatchPlan, Recorded]:
        merged = {number: tuple(lengths.get(number, one)) for number, one in self.lengths.items()}
        stages: dict[int, StagePlan] = {}
        first = 0
        for number, stage in self.again.plan.stages.items():
            stages[number] = replace(stage, first=first, tasks=len(merged[number]))
            first += len(merged[number])
        records = {number: one for number, one in self.again.execution.records.items() if number not in lengths}
        return replace(self.again.plan, stages=stages), _WithCopies(merged, records, copies=copies)


@lru_cache(maxsize=1)
def bench_of(application: Application) -> Bench:
    """The bench of an application. It may hold nothing, where no task succeeded."""
    executors = executors_of(application)
    slots, hosts = tuple(slots for slots, _ in executors), tuple(host for _, host in executors)
    found = Bench(application, replay(application), slots, hosts, recorded(application))
    large = sum(map(len, found.lengths.values())) > WORLD_MAX
    return replace(found, simple=True) if large and not found.counts_only() else found


def executors_of(application: Application) -> list[tuple[int, str]]:
    """How many tasks each executor took at a time, the largest first, and its host: as many as were there together."""
    most, cpus = slots_of(application), task_cpus(application)
    known = [(max(1, one.cores // cpus), one.host or one.id) for one in application.executors.values() if one.cores]
    found: list[tuple[int, str]] = []
    for slots, host in sorted(known, key=lambda one: -one[0]):
        if sum(each for each, _ in found) + slots <= most:
            found.append((slots, host))
    return found or [(most, "driver")]
