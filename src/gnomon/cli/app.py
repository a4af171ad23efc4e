"""The list of verbs."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Annotated

import typer

from gnomon.cli.calibrate import calibrate
from gnomon.cli.chaos import chaos
from gnomon.cli.check import check
from gnomon.cli.compare import compare
from gnomon.cli.describe import describe
from gnomon.cli.explain import explain
from gnomon.cli.generate import generate
from gnomon.cli.query import query
from gnomon.cli.run_job import run
from gnomon.cli.simulate import simulate
from gnomon.cli.snapshot import snapshot
from gnomon.cli.verify import verify

app = typer.Typer(
    name="gnomon",
    rich_markup_mode=None,  # plain help: it reads as kubectl's does, and loads in a tenth of a second
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    pretty_exceptions_enable=False,
    epilog="\b\nExamples:\n"
    "  gnomon simulate trace.swf.gz --cluster 100 --policy easy\n"
    "  gnomon compare trace.swf.gz --cluster 100 --policy fcfs,sjf,easy --html report.html\n"
    "  gnomon explain render -f cluster-and-tasks.yaml\n"
    "\b\nExit codes: 0 answered, 1 answered and the answer is no, 2 the input is at fault, 3 Gnomon is, "
    "130 interrupted.\n",
)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=lambda value: _version(value), help="Show the version.")
    ] = False,
) -> None:
    """Tell what a cluster will do with given work, why, and what would change it."""


def _version(asked: bool) -> None:
    if asked:
        from gnomon import __version__

        typer.echo(f"gnomon {__version__}")
        raise typer.Exit


_POLICIES = """
\b
Policies, joined by + (options of a part after a colon, as in easy:extra=no):
  order      fcfs, sjf, ljf, smallest, largest, priority, edf, fair-share, drf, round-robin
  backfill   easy, conservative
  placement  first-fit, best-fit, worst-fit, least-allocated, most-allocated, balanced, dot-product, random,
             gpu-packing, gpu-clustering, fgd
"""


def _verb(command: Callable[..., None], short: str, examples: str) -> None:
    lines = "\n".join(f"  gnomon {example}" for example in examples.strip().splitlines())
    policies = _POLICIES if "policy" in signature(command).parameters else ""
    app.command(short_help=short, epilog=f"\b\nExamples:\n{lines}\n{policies}")(command)


_verb(
    simulate,
    "What will happen to this work on this cluster?",
    """
simulate scenario.yaml
simulate trace.swf.gz --cluster 100 --policy easy --tasks tasks.csv
simulate pods.csv --cluster nodes.csv --policy best-fit --run results --html report.html
""",
)
_verb(
    compare,
    "And under another policy, cluster or seed?",
    """
compare trace.swf.gz --cluster 100 --policy fcfs,sjf,easy --html report.html
compare scenario.yaml --policy fcfs,easy:reservation=keep,extra=no --seeds 1,2,3
compare trace.swf.gz --cluster 100 --cluster 120 --policy easy -o json
""",
)
_verb(
    calibrate,
    "How far is the model from what a trace recorded?",
    """
calibrate trace.swf.gz
calibrate trace.swf.gz --cluster 128 --policy fcfs,easy
""",
)
_verb(
    explain,
    "Why does it wait, was it refused, did it end?",
    """
explain render -f cluster-and-tasks.yaml
explain 4711 --run results
explain render -f nodes.yaml -f tasks.yaml -o json
""",
)
_verb(
    describe,
    "What does a dataflow job consist of?",
    """
describe job.py
describe job.py --html job.html
""",
)
_verb(
    check,
    "What in these files will bite?",
    """
check job.py
check job.py -o json
""",
)
_verb(
    chaos,
    "Which faults break what is demanded?",
    """
chaos scenario.yaml
chaos scenario.yaml --property "every job ends" --property "p95 wait < 10 min" --runs 1000
chaos scenario.yaml --kinds crash,partition --seed 7 --state chaos.state --out minimal.yaml
""",
)
_verb(
    run,
    "What does this job of dataflow give, run for real on this machine?",
    """
run job.py
run job.py --workers 2 --memory 1Gi
run job.py --work-dir /scratch/job -o json
""",
)
_verb(
    generate,
    "Make up work from published models.",
    """
generate work.swf --jobs 10000 --procs 1024 --load 0.8 --seed 1
generate work.csv --model lognormal
""",
)
_verb(
    snapshot,
    "What does a live cluster hold, as a file?",
    """
snapshot kubernetes
snapshot kubernetes --context staging --out staging.json
snapshot slurm today
""",
)
_verb(
    verify,
    "Does the model agree with recordings of the real engine?",
    """
verify recorded/
verify recorded/fit-1.json recorded/fit-2.json -o json
""",
)
_verb(
    query,
    "Ask a kept run in SQL.",
    """
query results "DESCRIBE tasks"
query results "SELECT state, count(*) FROM tasks GROUP BY state"
query results "SELECT * FROM log WHERE subject = 17 ORDER BY row" -o csv
""",
)
