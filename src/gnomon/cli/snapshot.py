"""``gnomon snapshot``: what a live cluster holds, as a file for the other verbs; and the plug-in of kubectl."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
    out: Annotated[
        Path, typer.Option("--out", "-f", metavar="FILE", help="The file to write.", show_default=True)
    ] = Path("snapshot.json"),
    context: Annotated[
        str | None, typer.Option(metavar="NAME", help="The context of kubectl's configuration.", show_default=False)
    ] = None,
    kubectl: Annotated[str, typer.Option(metavar="PATH", help="The kubectl to ask.")] = "kubectl",
) -> None:
    """Collect what scheduling depends on from a live cluster, read only: nodes, pods, workloads, quotas, volumes."""
    from gnomon.backends.kubectl import collect
    from gnomon.formats.whole import check_file, write_file

    check_file(out)
    taken = collect(kubectl, context=context)

    def write(beside: Path) -> None:
        beside.write_bytes(taken.json)

    write_file(out, write)
    for missing in taken.missing:
        say(f"left out: {missing}")
    say(f"the cluster's objects are in {out}; ask about a pod with: gnomon explain POD -f {out}")


def plugin() -> None:
    """``kubectl gnomon …``: as gnomon; a verb that is given no files is about the cluster that kubectl is set to."""
    from gnomon.cli import run

    sys.exit(run(_with_snapshot(sys.argv[1:])))


def _with_snapshot(arguments: Sequence[str]) -> list[str]:
    """The arguments, with a snapshot of the live cluster where ``explain`` or ``simulate`` names no file."""
    given = list(arguments)
    verb = given[0] if given else ""
    asked_for_help = {"-h", "--help"} & set(given)
    names_files = {"-f", "--file", "--run"} & set(given) if verb == "explain" else len(given) > 1
    if verb not in ("explain", "simulate") or asked_for_help or names_files:
        return given
    import atexit
    import shutil
    import tempfile

    from gnomon.backends.kubectl import collect
    from gnomon.model.errors import GnomonError

    folder = Path(tempfile.mkdtemp(prefix="gnomon-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        taken = collect()
    except GnomonError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    (folder / "cluster.json").write_bytes(taken.json)
    for missing in taken.missing:
        say(f"left out: {missing}")
    return [*given, *(["-f"] if verb == "explain" else []), str(folder / "cluster.json")]
