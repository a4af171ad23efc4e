"""``gnomon calibrate``: how far is the model from what the trace says happened?"""

from __future__ import annotations

from gnomon.cli.inputs import Arguments, placed_by, policies_of, scenario_of, under
from gnomon.cli.options import (
    ClusterFormatOption,
    ClusterOption,
    NoKillOption,
    PoliciesOption,
    SeedOption,
    SystemOption,
    UntilOption,
    WorkArgument,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption, emit, notes_data, say, say_notes
from gnomon.cli.watch import Watch


def calibrate(
    work: WorkArgument,
    cluster: ClusterOption = None,
    policy: PoliciesOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Set simulated waits against those that a trace recorded: errors, and whether the same tasks waited longest."""
    from gnomon import api
    from gnomon.api.systems import SYSTEMS
    from gnomon.report import text

    base = scenario_of(Arguments(work, cluster, None, system, seed, until, work_format, cluster_format, no_kill))
    found = []
    for scenario in under(base, policies_of(policy)):
        name = placed_by(scenario)
        with Watch(f"simulating {name}") as watch:
            run = api.simulate(scenario, progress=watch)
        if watch.interrupted:
            raise KeyboardInterrupt
        found.append((name, api.calibrate(run)))
    document = {
        "variants": [{"policy": name, **one.as_dict()} for name, one in found],
        "notes": notes_data(run.notes),
    }
    emit(output, document, text.calibration([(n, one.as_dict()) for n, one in found], wide=output is Output.WIDE))
    say(str(found[0][1]))
    known = SYSTEMS[base.system]
    if not found[0][1].compared and known.recorder and known.tables:
        say('a log of its tasks has no waits to compare: gnomon simulate LOG --view stages --view "stages --recorded"')
    say_notes(run.notes)
