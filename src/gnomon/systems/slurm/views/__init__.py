"""What squeue, sinfo, sprio, sshare, sacct, sdiag and scontrol show, from the state of the model."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import timedelta

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.slurm.ranking import MultifactorRanking
from gnomon.systems.slurm.state import State
from gnomon.systems.slurm.views.accounted import sacct
from gnomon.systems.slurm.views.formats import Clock, dates, flags, option
from gnomon.systems.slurm.views.scontrol import scontrol_show
from gnomon.systems.slurm.views.sdiag import sdiag
from gnomon.systems.slurm.views.sinfo import sinfo
from gnomon.systems.slurm.views.sprio import sprio
from gnomon.systems.slurm.views.squeue import squeue
from gnomon.systems.slurm.views_share import share_table

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


def view(state: State, command: str, now_ns: int) -> str:
    """What a command line would print at a moment that the run has come to. Raises InputError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"quotes that do not match: {error}", field="view", found=command) from None
    if not words:
        raise InputError("no command", field="view", allowed=", ".join(PROGRAMS))
    before = state.now_ns
    state.now_ns = max(now_ns, before)
    try:
        return query(state, words)
    except InputError as error:
        raise error.at(field="view") from None
    finally:
        state.now_ns = before
