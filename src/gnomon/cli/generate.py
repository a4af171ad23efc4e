"""``gnomon generate``: synthetic work."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.guide import hint
from gnomon.cli.terminal import say, say_notes


class Model(StrEnum):
    """Models of sizes and run times."""

    LUBLIN = "lublin"
    LOGNORMAL = "lognormal"
    COMMON = "common"


class Arrivals(StrEnum):
    """Models of arrivals."""

    DAILY = "daily"
    POISSON = "poisson"
    LUBLIN = "lublin"


def generate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write: .swf or .csv, or either with .gz.")],
    model: Annotated[
        Model,
        typer.Option(
            metavar="M",
            help="lublin: sizes and run times of Lublin and Feitelson; lognormal: its sizes, log-normal run times; "
            "common: the simplified model on which simulators are compared.",
        ),
    ] = Model.LUBLIN,
    arrivals: Annotated[
        Arrivals | None,
        typer.Option(
            metavar="A",
            help="poisson; daily: with a daily cycle; lublin: with its bursts too. Not for the common model. "
            "[default: daily]",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="How many jobs.")] = 10_000,
    procs: Annotated[int, typer.Option(metavar="P", help="Processors of the machine.")] = 1024,
    load: Annotated[float, typer.Option(metavar="L", help="Work that arrives / work that the machine can do.")] = 0.85,
    seed: Annotated[int, typer.Option(metavar="S", help="Equal seeds give equal jobs.")] = 0,
) -> None:
    """Make up work from published models, as a file."""
    from gnomon.model.errors import InputError
    from gnomon.traces import swf, synthetic, table
    from gnomon.traces.distributions import Model as Parts

    ending = "".join(out.suffixes[-2:] if out.suffix == ".gz" else out.suffixes[-1:])
    writers = {".swf": swf.write, ".csv": table.write}
    writer = writers.get(ending.removesuffix(".gz"))
    if writer is None:
        raise InputError(
            "the ending tells the form", field="OUT", found=str(out), allowed=".swf, .csv, .swf.gz, .csv.gz"
        )
    if model is Model.COMMON:
        if arrivals:
            raise InputError("the common model has arrivals of its own", field="--arrivals", found=arrivals.value)
        work = synthetic.common(jobs, processors=procs, load=load, seed=seed)
    else:
        arriving = synthetic.ARRIVALS[(arrivals or Arrivals.DAILY).value]
        parts = Parts(run_times=synthetic.RUN_TIMES[model.value], arrivals=arriving)
        work = synthetic.generate(jobs, processors=procs, load=load, seed=seed, model=parts)
    say_notes(writer(work, out))
    say(f"{len(work):,} jobs for {procs:,} processors in {out}")
    hint(shlex.join(["gnomon", "simulate", str(out), *([] if ".swf" in out.suffixes else ["--cluster", str(procs)])]))
