"""Explaining what became of a task or job: of a run, or of a scenario that is run for it."""

from __future__ import annotations

from gnomon.api.recognise import native_system
from gnomon.api.run import Run
from gnomon.api.simulating import Progress, simulate
from gnomon.api.systems import SYSTEMS
from gnomon.engine.log import Log
from gnomon.formats.files import Path
from gnomon.insight.explain import Explanation
from gnomon.insight.explain import explain as explanation
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario


def explain_recorded(subject: str, path: Path, *, progress: Progress | None = None) -> Explanation | None:
    """Explain what a file records of a run that was, such as an event log of Spark; None for a file that records none.

    Raises InputError for a file of a recorded run that is damaged, and for a subject that is not in it.
    ``progress(done, total, 0)`` is called now and then; where it is False, KeyboardInterrupt is raised.
    """
    try:
        system = native_system(path)
    except InputError:
        return None  # a folder of manifests, say: that is for others to judge
    explain_own = SYSTEMS[system].make_recorder() if system in SYSTEMS else None
    return explain_own(subject, path, progress) if explain_own is not None else None


def explain(
    subject: str, what: Run | Scenario, *, why_not: str | None = None, progress: Progress | None = None
) -> Explanation:
    """Tell why a task or job waits, was refused, was late, failed or ended, and the smallest changes that would help.

    - ``subject``: ``task/name`` or ``job/name`` (with ``user`` or ``queue`` between them if one likes), a bare name, a
      part that only one has, or ``node/name`` for what happened to a node.
    - ``what``: a run, or a scenario, which is run for it. Changes are tried by simulating the scenario again. A system
      that explains itself (Kubernetes, Slurm, Spark) does so in its own words.
    - ``why_not``: the name of a node, to be told why it is not there.
    - ``progress``: as of ``simulate``.

    Raises InputError for a subject that is unknown or ambiguous, and for an unknown node.

    >>> from gnomon.api import Cluster, Resources, Scenario, Shape, Task, Work
    >>> task = Task("big", Shape(Resources(cpu_milli=8_000)), duration_ns=10**9)
    >>> why = explain("big", Scenario(Cluster.of_processors(4), Work.from_tasks([task])))
    >>> why.state, why.changes[0].what
    ('rejected', 'ask for 4 cpu instead of 8: it starts at 0s')
    """

    def again(one: Scenario) -> Log:
        return simulate(one, progress=progress).log

    scenario = what if isinstance(what, Scenario) else what.scenario
    explain_own = SYSTEMS[scenario.system].make_explainer()
    if explain_own is not None:
        log = None if isinstance(what, Scenario) else what.log
        return explain_own(subject, scenario, log=log, simulate=again, why_not=why_not)
    run = what if isinstance(what, Run) else simulate(what, progress=progress)
    return explanation(subject, run.scenario, run.log, simulate=again, why_not=why_not)
