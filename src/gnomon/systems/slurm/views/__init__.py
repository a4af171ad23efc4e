"""What squeue, sinfo, sprio, sshare, sacct, sdiag and scontrol show, from the state of the model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.priority.ranking import MultifactorRanking
from gnomon.systems.slurm.views.accounted import sacct
from gnomon.systems.slurm.views.formats import Clock, dates, flags, option
from gnomon.systems.slurm.views.scontrol import scontrol_show
from gnomon.systems.slurm.views.sdiag import sdiag
from gnomon.systems.slurm.views.sinfo import sinfo
from gnomon.systems.slurm.views.sprio import sprio
from gnomon.systems.slurm.views.squeue import squeue
from gnomon.systems.slurm.views.sshare import share_table

_OPTIONS: Final = {
    "squeue": (
        "otuApqnjOSwM",
        "-h -l -r -o -t -u -p -A -q -n -j -O --noheader --long --array --start --format --Format --states --state "
        "--user --partition --account --qos --name --jobs --job",
    ),
    "sinfo": (
        "opntS",
        "-h -l -N -s -R -a -o -p --noheader --long --Node --summarize --list-reasons --all --format --partition",
    ),
    "sprio": ("juopM", "-h -l -n -w -u -j --noheader --long --norm --weights --user --users --jobs --job"),
    "sshare": ("uAMo", "-a -l -P -u --all --long --parsable2 --users"),
    "sacct": (
        "oSEuAjsqrM",
        "-P -p -n -a -X -o -u -A -j -s --parsable2 --parsable --noheader --allusers --allocations --format --user "
        "--users --account --accounts --jobs --job --state --states",
    ),
}
"""Of each program the letters that take a value, and what is looked at."""

PROGRAMS = ("squeue", "sinfo", "sprio", "sshare", "sacct", "sdiag", "scontrol")


def query(state: State, args: Sequence[str], clock: Clock | None = None) -> str:
    """The output of a command that only looks. ``clock``: how times are printed (None: as dates). Raises InputError for
    one that is not modelled."""
    program, rest = args[0], list(args[1:])
    clock = clock or dates(state)
    now = _now(state)
    if program == "squeue":
        return squeue(state, rest, clock, now)
    if program == "sinfo":
        return sinfo(state, rest, clock, now)
    if program == "sprio":
        return sprio(state, rest)
    if program == "sshare":
        return _sshare(state, rest)
    if program == "sacct":
        return sacct(state, rest, clock)
    if program == "sdiag":
        return sdiag(state, now)
    if program == "scontrol":
        return scontrol_show(state, rest, clock)
    raise unknown_name("view", program, PROGRAMS)


def _now(state: State) -> str:

    return f"{state.epoch + timedelta(seconds=state.now_s):%a %b %d %H:%M:%S %Y}"


def _sshare(state: State, args: Sequence[str]) -> str:
    if not isinstance(state.priorities, MultifactorRanking):
        raise InputError("sshare tells nothing without priority/multifactor", found="priority/basic")
    alone = flags(args, "uAMo")
    users = option(args, "-u", "--users")
    whom = None if {"-a", "--all"} & alone or users is None else users.split(",")
    long, parsable = bool({"-l", "--long"} & alone), bool({"-P", "--parsable2"} & alone)
    return share_table(state.usage, state.priorities.fair, long=long, parsable=parsable, users=whom)


def _check_options(program: str, words: Sequence[str]) -> None:
    """Raises InputError for an option that would be passed over."""
    valued, text = _OPTIONS.get(program, ("", ""))
    known = text.split()
    if not known:
        return
    said = flags(words, valued) | {word[:2] for word in words if word[:1] == "-" and word[1:2] in set(valued)}
    unknown = sorted(said - set(known))
    if unknown:
        problem = f"{program}: not modelled: an option"
        raise InputError(problem, field="view", found=unknown[0], allowed=", ".join(known))


def view(state: State, command: str, now_ns: int) -> str:
    """What a command line would print at a moment that the run has come to. Raises InputError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"quotes that do not match: {error}", field="view", found=command) from None
    if not words:
        raise InputError("no command", field="view", allowed=", ".join(PROGRAMS))
    _check_options(words[0], words[1:])
    before = state.now_ns
    state.now_ns = max(now_ns, before)
    try:
        return query(state, words)
    except InputError as error:
        raise error.at(field="view") from None
    finally:
        state.now_ns = before
