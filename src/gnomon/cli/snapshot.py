"""``gnomon snapshot``: what a live cluster holds, as a file for the other verbs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.terminal import say


class LiveSystem(StrEnum):
    """Systems of which a snapshot can be taken."""

    KUBERNETES = "kubernetes"


def snapshot(
    system: Annotated[LiveSystem, typer.Argument(metavar="SYSTEM", help="kubernetes.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", show_default=True)] = Path(
        "snapshot.json"
    ),
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="The context of kubectl's configuration.", show_default=False)
    ] = None,
    kubeconfig: Annotated[
        str | None, typer.Option(metavar="FILE", help="The configuration of kubectl.", show_default=False)
    ] = None,
    kubectl: Annotated[str, typer.Option(metavar="PATH", help="The kubectl to ask.")] = "kubectl",
) -> None:
    """Collect what scheduling depends on from a live cluster, read only: nodes, pods, workloads, quotas, volumes."""
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
