"""``gnomon snapshot``: what a live cluster holds, as a file (Slurm: a folder of files) for the other verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.terminal import say


def _live(incomplete: str = "") -> list[str]:
    """The systems of which a snapshot can be taken."""
    from gnomon.api.systems import SYSTEMS

    return [name for name, system in SYSTEMS.items() if system.taker and name.startswith(incomplete)]


def _known(system: str) -> str:
    if system not in _live():
        raise typer.BadParameter(f"{system!r} is not one of {', '.join(map(repr, _live()))}.")
    return system


def snapshot(
    system: Annotated[
        str, typer.Argument(metavar="SYSTEM", help="kubernetes, or slurm.", callback=_known, autocompletion=_live)
    ],
    place: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Slurm: the folder to write. [default: snapshot]")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write. [default: snapshot.json]", show_default=False),
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="The context of kubectl's configuration.", show_default=False)
    ] = None,
    kubeconfig: Annotated[
        str | None, typer.Option(metavar="FILE", help="The configuration of kubectl.", show_default=False)
    ] = None,
    kubectl: Annotated[str, typer.Option(metavar="PATH", help="The kubectl to ask.")] = "kubectl",
    programs: Annotated[
        str, typer.Option(metavar="DIR", help="Where Slurm's commands are. [default: where programs are found]")
    ] = "",
) -> None:
    """Collect what scheduling depends on from a live cluster, read only: nodes, pods, workloads, quotas, volumes; of
    Slurm configuration, nodes, partitions, reservations, jobs, accounts and usage."""
    from gnomon.api.systems import SYSTEMS

    take = SYSTEMS[system].make_taker()
    assert take is not None
    options = {"context": context, "kubeconfig": kubeconfig, "kubectl": kubectl, "programs": programs}
    missing, how_to_go_on = take(place, out, **options)
    for one in missing:
        say(f"left out: {one}")
    say(how_to_go_on)
