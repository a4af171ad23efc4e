"""The registry of systems: which there are, how their native files become a scenario, what places their work."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gnomon.formats.files import Path
from gnomon.formats.signs import Signs

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.control.placer import MakePlacer
    from gnomon.dataflow.plan import Plan
    from gnomon.engine.log import Log, Reason
    from gnomon.insight.explain import Explanation
    from gnomon.insight.listing import Listing, Summarise
    from gnomon.model.scenario import Scenario


Explain = Callable[..., "Explanation"]
"""``explain(subject, scenario, log=, simulate=, why_not=)``: without a log it tells what it can without one."""

Replay = Callable[..., "tuple[Log, Reason, float] | None"]
"""``replay(scenario, progress)``: the log, what stopped the run early, and the CPU seconds before it began; None: it is
for the loop."""

View = Callable[[Any, str, int], str]
"""``view(state, command, now_ns)``: what a command of the system that only looks prints of a state."""

Tables = Callable[["Scenario", "Log", str], "Listing"]
"""``tables(scenario, log, command)``: what a view of the system shows of a run."""

Judge = Callable[[Mapping[str, Any], "str | os.PathLike[str] | None"], "tuple[bool | None, Sequence[str], object]"]
"""``judge(case, path)``: does the model agree with what was recorded (None: the case needs something that it does not
have), what differs, and its whole outcome. ``path``: of the case; some have files beside them."""

Describe = Callable[..., "tuple[Plan, dict[str, Any], Text]"]
"""``describe(graph, splits_of, partitions)``: a job of dataflow as the system runs it: for programs, and for people.
``splits_of(least)``: the parts of its files, at least so many of each; ``partitions``: of a shuffle, where it says."""

Take = Callable[..., "tuple[Sequence[str], str]"]
"""``take(place, out, **options)``: writes what a live cluster holds; what was left out, and what to do with it."""

Record = Callable[..., "Explanation | None"]
"""``explain(subject, path, progress)``: of what a file records; None for a file that records no run."""


@dataclass(frozen=True)
class System:
    """A system by its name, and what is its own, each as ``module:value``; what it leaves out it does not have.

    - ``signs``: what tells its native files from others; ``reader``: makes a scenario of them.
    - ``jobs``: makes a scenario of a job file's graph; ``describer``: describes a job of dataflow.
    - ``placer``: its scheduler beside the loop, whose own pass does otherwise; ``replayer``: does large runs without
      anything special faster, with the same log (None: it leaves one to the loop); ``compile_from``: so many tasks are
      worth the compiled kernels.
    - ``explainer``, ``summariser``: tell of it in its own words; ``tables``: views of a run's log; ``viewer``: prints
      its state; ``reasons``: its words for reasons of the log.
    - ``recorder``: explains what its files record of a run that was; ``verifier``: judges recorded cases; ``taker``:
      takes a snapshot of a live cluster.
    - ``cluster``: what it takes for the cluster of a trace (its reader takes the trace as ``work``), empty where it
      takes no traces.

    Modules are loaded when they are used, so that a system costs nothing to whom does not ask for it.
    """

    name: str
    signs: str = ""
    reader: str = ""
    placer: str = ""
    explainer: str = ""
    viewer: str = ""
    summariser: str = ""
    jobs: str = ""
    recorder: str = ""
    tables: str = ""
    replayer: str = ""
    verifier: str = ""
    describer: str = ""
    taker: str = ""
    cluster: str = ""
    compile_from: int = 3_000
    reasons: tuple[tuple[str, str], ...] = ()

    def make_signs(self) -> Signs | None:
        """What tells its native files, None if it has none."""
        return _loaded(self.signs) if self.signs else None

    def read(self, paths: Sequence[Path], **options: Any) -> Scenario:
        """The scenario of native files; ``options`` as the system's reader has them."""
        read: Callable[..., Scenario] = _loaded(self.reader)
        return read(paths, **options)

    def read_job(self, *parts: Any, **options: Any) -> Scenario:
        """The scenario of a job file's graph: ``read(graph, sources, cluster, paths, options=, seed=, until_ns=)``;
        ``sources(each)`` are the splits of its text files of so many bytes, as records and as places in files."""
        read: Callable[..., Scenario] = _loaded(self.jobs)
        return read(*parts, **options)

    def make_placer(self) -> MakePlacer | None:
        """What makes the system's own scheduler, None if it has none."""
        return _loaded(self.placer) if self.placer else None

    def make_replayer(self) -> Replay | None:
        """What does its plain runs faster, None if nothing does."""
        return _loaded(self.replayer) if self.replayer else None

    def make_viewer(self) -> View | None:
        """What prints the system's state as its own commands do, None if nothing does."""
        return _loaded(self.viewer) if self.viewer else None

    def make_tables(self) -> Tables | None:
        """What makes tables of its runs, None if nothing does."""
        return _loaded(self.tables) if self.tables else None

    def make_recorder(self) -> Record | None:
        """What explains recorded runs of the system, None if its files record none."""
        return _loaded(self.recorder) if self.recorder else None

    def make_explainer(self) -> Explain | None:
        """What explains the system's scenarios, None if the plain explanation does."""
        return _loaded(self.explainer) if self.explainer else None

    def make_judge(self) -> Judge | None:
        """What judges recorded cases of the system, None if there are none."""
        return _loaded(self.verifier) if self.verifier else None

    def make_describer(self) -> Describe | None:
        """What describes jobs as the system runs them, None if it runs none."""
        return _loaded(self.describer) if self.describer else None

    def make_taker(self) -> Take | None:
        """What takes a snapshot of a live cluster, None if nothing does."""
        return _loaded(self.taker) if self.taker else None

    def make_summariser(self) -> Summarise | None:
        """What sums its runs up in its own words, None if the metrics do."""
        return _loaded(self.summariser) if self.summariser else None


SYSTEMS: Final = {
    system.name: system
    for system in (
        System("plain"),
        System(
            "kubernetes",
            signs="gnomon.systems.kubernetes.signs:SIGNS",
            reader="gnomon.systems.kubernetes.scenario:read_scenario",
            placer="gnomon.systems.kubernetes.placing:KubeScheduler",
            explainer="gnomon.insight.kubernetes:explain",
            summariser="gnomon.insight.kubernetes.runs.summary:summarise",
            verifier="gnomon.systems.kubernetes.golden:judge",
            taker="gnomon.backends.kubectl:take",
        ),
        System(
            "slurm",
            signs="gnomon.systems.slurm.signs:SIGNS",
            reader="gnomon.systems.slurm.scenario:read_scenario",
            placer="gnomon.systems.slurm.placing:SlurmScheduler",
            viewer="gnomon.systems.slurm.views:view",
            replayer="gnomon.systems.slurm.columnar.run:replay",
            explainer="gnomon.insight.slurm:explain",
            verifier="gnomon.systems.slurm.golden:judge",
            taker="gnomon.backends.slurm_commands:take",
            cluster="slurm.conf; gres.conf and topology.conf are found beside it",
            compile_from=300,
            reasons=(("AT_ESTIMATE", "TimeLimit"),),
        ),
        System(
            "mapreduce",
            signs="gnomon.systems.mapreduce.signs:SIGNS",
            placer="gnomon.control.batch.placer:BatchPlacer",
            jobs="gnomon.systems.mapreduce.scenario:read_job",
            summariser="gnomon.insight.mapreduce:summarise",
            describer="gnomon.report.jobs_mapreduce:describe",
        ),
        System(
            "spark",
            signs="gnomon.systems.spark.signs:SIGNS",
            reader="gnomon.systems.spark.scenario:read_scenario",
            placer="gnomon.control.batch.placer:BatchPlacer",
            jobs="gnomon.systems.spark.scenario:read_job",
            explainer="gnomon.insight.spark:explain",
            summariser="gnomon.insight.spark.run_summary:summarise",
            recorder="gnomon.insight.spark:explain_recorded",
            tables="gnomon.insight.spark.views:view",
            verifier="gnomon.systems.spark.golden:judge",
            describer="gnomon.report.jobs_spark:describe",
        ),
    )
}
"""The systems that are modelled, by name."""


def _loaded(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
