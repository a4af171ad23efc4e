"""``gnomon snapshot``: what a live cluster holds, as a file (Slurm: a folder of files) for the other verbs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.terminal import say


class LiveSystem(StrEnum):
    """Systems of which a snapshot can be taken."""

    KUBERNETES = "kubernetes"
    SLURM = "slurm"


def snapshot(
    system: Annotated[LiveSystem, typer.Argument(metavar="SYSTEM", help="kubernetes, or slurm.")],
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
    if system is LiveSystem.SLURM:
        _slurm(place or out or Path("snapshot"), programs)
    else:
        _kubernetes(out or place or Path("snapshot.json"), context, kubeconfig, kubectl)


def _slurm(folder: Path, programs: str) -> None:
    from gnomon.backends.slurm_commands import FILES, collect
    from gnomon.formats.whole import check_directory, write_directory

    check_directory(folder, files=(), more=FILES)
    taken = collect(programs)

    def fill(beside: Path) -> None:
        for name, text in taken.files.items():
            (beside / name).write_bytes(text)

    write_directory(folder, fill, files=(), more=FILES)
    for missing in taken.missing:
        say(f"left out: {missing}")
    say(f"the cluster is in {folder}; when its jobs start is told by: gnomon simulate {folder}/*")


def _kubernetes(out: Path, context: str | None, kubeconfig: str | None, kubectl: str) -> None:
    from gnomon.backends.kubectl import collect
    from gnomon.formats.whole import check_file, write_file

    check_file(out)
    taken = collect(kubectl, context=context, kubeconfig=kubeconfig)

    def write(beside: Path) -> None:
        beside.write_bytes(taken.json)

    write_file(out, write)
    for missing in taken.missing:
        say(f"left out: {missing}")
    say(f"the cluster's objects are in {out}; ask about a pod with: gnomon explain POD -f {out}")
