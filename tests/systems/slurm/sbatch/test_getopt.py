"""getopt_long: what glibc takes, and its words where it does not (as sbatch 22.05.8 prints them)."""

from __future__ import annotations

import pytest

from gnomon.systems.slurm.sbatch.getopt import HELP, scan
from gnomon.systems.slurm.sbatch.options import options
from gnomon.systems.slurm.sbatch.refusals import Refusal, RefusedError

TABLE = options((22, 5))


def read(*arguments: str) -> tuple[list[tuple[str, str | None]], list[str]]:
    found: list[tuple[str, str | None]] = []
    end = scan(arguments, TABLE, lambda option, value: found.append((option.name, value)))
    return found, list(arguments[end:])


@pytest.mark.parametrize(
    ("arguments", "found", "rest"),
    [
        (("-n4", "-n", "5", "--ntasks=6", "--ntasks", "7"), [("ntasks", one) for one in "4567"], []),
        (("-HOn2",), [("hold", None), ("overcommit", None), ("ntasks", "2")], []),
        (("--dep", "x", "--job=y"), [("dependency", "x"), ("job-name", "y")], []),  # beginnings that are enough
        (("--mem=1",), [("mem", "1")], []),  # its own name, though others begin so
        (("--exclusive", "user"), [("exclusive", None)], ["user"]),  # an optional value must be joined
        (("--exclusive=user", "-koff"), [("exclusive", "user"), ("no-kill", "off")], []),
        (("-n1", "run.sh", "-n2"), [("ntasks", "1")], ["run.sh", "-n2"]),  # options end at the script
        (("-H", "--", "-n2"), [("hold", None)], ["-n2"]),
        (("-J", "-x"), [("job-name", "-x")], []),
        (("-",), [], ["-"]),
    ],
)
def test_takes(arguments: tuple[str, ...], found: list[tuple[str, str | None]], rest: list[str]) -> None:
    assert read(*arguments) == (found, rest)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--no-such=3",), "unrecognized option '--no-such=3'"),
        (("--mem-per=3",), "option '--mem-per=3' is ambiguous; possibilities: '--mem-per-cpu' '--mem-per-gpu'"),
        (
            ("--clus=x",),
            "option '--clus=x' is ambiguous; possibilities: '--cluster-constraint' '--cluster' '--clusters'",
        ),
        (("--hold=3",), "option '--hold' doesn't allow an argument"),
        (("--wrap",), "option '--wrap' requires an argument"),
        (("-n",), "option requires an argument -- 'n'"),
        (("-HZ",), "invalid option -- 'Z'"),
    ],
)
def test_refuses(arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read(*arguments)
    assert refused.value.refusal == Refusal(f"sbatch: {complaint}\n{HELP}", 255)


def test_every_short_option_of_sbatch_is_there() -> None:
    # the help of sbatch 22.05.8, and -N, -n …; the other letters are refused
    assert {letter for one in TABLE for letter in one.short} == set("aAbcdDeHiJkLMmnNoOpqQsStvWCFwxBGhV")
