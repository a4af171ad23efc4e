"""``gnomon compare``: and under another policy, cluster, seed?"""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.cli.options import (
    ClusterFormatOption,
    ClustersOption,
    HtmlOption,
    NoKillOption,
    PoliciesOption,
    SystemOption,
    UntilOption,
    WorkArgument,
    WorkFormatOption,
)
from gnomon.cli.terminal import Output, OutputOption


def compare(
    work: WorkArgument,
    cluster: ClustersOption = None,
    policy: PoliciesOption = None,
    system: SystemOption = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="1,2,3", help="Run each variant with each of these seeds.", show_default=False)
    ] = None,
    until: UntilOption = None,
    work_format: WorkFormatOption = None,
    cluster_format: ClusterFormatOption = None,
    no_kill: NoKillOption = False,
    html: HtmlOption = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes side by side. [default: one a core]", show_default=False),
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Simulate the same work under several policies, on several clusters, with several seeds: one row a variant."""
    raise NotImplementedError
