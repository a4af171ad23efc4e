"""The options that several verbs share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SEED_MAX = 2**63 - 1
"""The largest seed."""


def complete_policy(incomplete: str) -> list[str]:
    """What the shell may put in place of a policy that is only begun.

    >>> complete_policy("fcfs,sjf+ea"), complete_policy("fg")
    (['fcfs,sjf+easy'], ['fgd'])
    """
    from gnomon.scheduling.policy import POLICY_NAMES

    start = max(incomplete.rfind("+"), incomplete.rfind(",")) + 1
    return [incomplete[:start] + name for name in POLICY_NAMES if name.startswith(incomplete[start:])]


WorkArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="WORK...", help="A scenario file, or files of work: traces, lists of tasks.", show_default=False
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", "-c", metavar="C", help="File of nodes, or a number of processors.", show_default=False),
]
ClustersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster", "-c", metavar="C", help="File of nodes, or a number of processors; repeatable.", show_default=False
    ),
]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="P",
        help="Order, backfill, placement: sjf+easy+best-fit.",
        show_default=False,
        autocompletion=complete_policy,
    ),
]
PoliciesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="P1,P2,...",
        help="Policies; repeatable.",
        show_default=False,
        autocompletion=complete_policy,
    ),
]
SystemOption = Annotated[
    str | None, typer.Option("--system", metavar="S", help="The system that schedules.", show_default=False)
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=0, max=SEED_MAX, help="Of all that is random. [default: 0]", show_default=False
    ),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="T", help="Stop at this time, as in 24h.", show_default=False)
]
ViewsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--view",
        metavar="COMMAND",
        help='What a command of the system would show at the end, as in "squeue -l"; repeatable.',
        show_default=False,
    ),
]
WorkFormatOption = Annotated[
    str | None,
    typer.Option("--work-format", metavar="F", help="Format of WORK. [default: by content]", show_default=False),
]
ClusterFormatOption = Annotated[
    str | None,
    typer.Option("--cluster-format", metavar="F", help="Format of C. [default: by content]", show_default=False),
]
NoKillOption = Annotated[
    bool, typer.Option("--no-kill", help="Let tasks run on when they reach their estimate.", show_default=False)
]
HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Pictures and tables as one offline page.", show_default=False),
]
