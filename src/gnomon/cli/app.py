"""The list of verbs, by what one wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

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


@dataclass(frozen=True)
class Verb:
    """A verb: what answers, the question in a few words, and commands that ask it, the commonest first."""

    command: Callable[..., None]
    question: str
    examples: tuple[str, ...]

    @property
    def name(self) -> str:
        """What is typed."""
        return self.command.__name__


QUESTIONS: Final[tuple[tuple[str, tuple[Verb, ...]], ...]] = (
    (
        "What to expect",
        (
            Verb(
                simulate,
                "What will happen to this work on this cluster?",
                (
                    "simulate scenario.yaml",
                    "simulate jobs.swf --cluster 100 --policy easy --tasks tasks.csv",
                    "simulate pods.csv --cluster nodes.csv --policy best-fit --run results",
                    "simulate nodes.yaml deployment.yaml",
                    "simulate slurm.conf job.sh",
                ),
            ),
            Verb(
                compare,
                "And under another policy, cluster or seed?",
                (
                    "compare jobs.swf --policy fcfs,sjf,easy --html report.html",
                    "compare scenario.yaml --policy fcfs,easy:reservation=keep,extra=no --seeds 1,2,3",
                    "compare jobs.swf --cluster 100 --cluster 120 --policy easy -o json",
                ),
            ),
        ),
    ),
    (
        "Why, and what would change it",
        (
            Verb(
                explain,
                "Why does it wait, was it refused, did it end?",
                (
                    "explain render -f scenario.yaml",
                    "explain web -f nodes.yaml -f deployment.yaml --html web.html",
                    "explain train -f slurm.conf -f job.sh",
                    "explain app -f eventlog",
                    "explain 17 --run results -o json",
                ),
            ),
            Verb(
                chaos,
                "Which faults break what is demanded?",
                (
                    "chaos scenario.yaml",
                    'chaos scenario.yaml --property "every job ends" --property "p95 wait < 10 h" --runs 20',
                    "chaos scenario.yaml --kinds crash,partition --seed 7 --state chaos.state --out minimal.yaml",
                ),
            ),
        ),
    ),
    (
        "How far it can be trusted",
        (
            Verb(
                calibrate,
                "How far is the model from what a trace recorded?",
                ("calibrate jobs.swf", "calibrate jobs.swf --cluster 128 --policy fcfs,easy"),
            ),
            Verb(
                verify,
                "Does it agree with recordings of the real engine?",
                ("verify recorded/", "verify recorded/fit-1.json recorded/fit-2.json -o json"),
            ),
        ),
    ),
    (
        "Jobs of dataflow, in Python",
        (
            Verb(
                describe,
                "What does the job consist of?",
                ("describe job.py", "describe job.py --system spark --html job.html"),
            ),
            Verb(check, "What in it will bite?", ("check job.py", "check job.py -o json")),
            Verb(
                run,
                "What does it give, run for real on this machine?",
                ("run job.py", "run job.py --workers 2 --memory 1Gi", "run job.py --work-dir scratch -o json"),
            ),
        ),
    ),
    (
        "Work to begin with, and runs that were kept",
        (
            Verb(
                generate,
                "Make up work from published models.",
                (
                    "generate jobs.swf --jobs 2000 --procs 256",
                    "generate work.csv --model lognormal --load 0.8 --seed 1",
                ),
            ),
            Verb(
                snapshot,
                "What does a live cluster hold, as a file?",
                (
                    "snapshot kubernetes",
                    "snapshot kubernetes --context staging --out staging.json",
                    "snapshot slurm today",
                ),
            ),
            Verb(
                query,
                "Ask a kept run in SQL.",
                (
                    'query results "SELECT max(start - submit) FROM tasks"',
                    'query results "DESCRIBE tasks"',
                    'query results "SELECT * FROM log WHERE subject = 17 ORDER BY row" -o csv',
                ),
            ),
        ),
    ),
)
"""The verbs below what one wants to know."""

VERBS: Final = tuple(verb for _, verbs in QUESTIONS for verb in verbs)

_POLICIES: Final = """
\b
Policies, joined by + (options of a part after a colon, as in easy:extra=no):
  order      fcfs, sjf, ljf, smallest, largest, priority, edf, fair-share, drf, round-robin
  backfill   easy, conservative
  placement  first-fit, best-fit, worst-fit, least-allocated, most-allocated, balanced, dot-product, random,
             gpu-packing, gpu-clustering, fgd
"""


class _ByQuestion(TyperGroup):
    """The help of all: verbs first, below what one wants to know, each with an example."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        super().format_help_text(ctx, formatter)
        width = max(len(verb.name) for verb in VERBS)
        for heading, verbs in QUESTIONS:
            with formatter.section(heading):
                for verb in verbs:
                    formatter.write_dl([(verb.name.ljust(width), verb.question)])
                    formatter.write(f"{'':{formatter.current_indent + width + 2}}gnomon {verb.examples[0]}\n")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They stand above."""


app = typer.Typer(
    name="gnomon",
    cls=_ByQuestion,
    subcommand_metavar="VERB ...",
    rich_markup_mode=None,  # plain help: it reads as kubectl's does, and loads in a tenth of a second
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    pretty_exceptions_enable=False,
    epilog="\b\nMore of a verb, with examples: gnomon help VERB\n"
    "Exit codes: 0 answered, 1 answered and the answer is no,\n"
    "2 the input is at fault, 3 Gnomon is, 130 interrupted.\n",
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


for _verb in VERBS:
    _lines = "\n".join(f"  gnomon {example}" for example in _verb.examples)
    _also = _POLICIES if "policy" in signature(_verb.command).parameters else ""
    app.command(short_help=_verb.question, epilog=f"\b\nExamples:\n{_lines}\n{_also}")(_verb.command)
