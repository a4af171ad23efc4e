"""What squeue, sinfo, sprio, sshare, sacct, sdiag and scontrol show, from the state of the model."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.systems.slurm.state import State


def query(state: State, args: Sequence[str]) -> str:
    """The output of a command that only looks, "" for one that is not modelled."""
    return ""
