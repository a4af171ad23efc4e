"""The states of nodes: drained and resumed by hand, down when they are silent, back when they answer.

``src/slurmctld/node_mgr.c``, ``ping_nodes.c``: nodes are pinged each third of SlurmdTimeout; one is DOWN at the first
round at which its last answer is older than the round before by SlurmdTimeout.
"""

from __future__ import annotations

from typing import Final

from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.state import SECOND, State

SILENT: Final = "Not responding"
PING_MOST_S: Final = 100
"""The interval of ping rounds without a SlurmdTimeout."""
ROUND_S: Final = 2
"""How long a round takes beside the wait for those who do not answer."""


def set_state(state: State, node: int, to: str, reason: str) -> None:
    """scontrol update NodeName=… State=…: DRAIN, FAIL, DOWN, RESUME, UNDRAIN, IDLE, UNDOWN."""
    word = to.upper()
    if word in ("DRAIN", "FAIL"):
        state.drained[node] = reason
    elif word == "DOWN":
        fall(state, node, reason)
    elif word in ("RESUME", "IDLE", "UNDRAIN", "UNDOWN"):
        state.drained.pop(node, None)
        if word != "UNDRAIN":
            state.down.pop(node, None)
    state.changed = True


def fall(state: State, node: int, reason: str) -> None:
    """A node is DOWN: what ran there is lost."""
    state.down[node] = reason
    for job in list(state.running):
        if node in job.allocation.nodes:
            lifecycle.lose_node(state, job)
    state.changed = True


def answer(state: State, node: int) -> None:
    """A node that was silent registers again: back with ReturnToService 1 if it was silent, with 2 always."""
    back = state.conf.number("returntoservice") or 0
    was = state.down.get(node)
    if was is None:
        return
    if back == 2 or (back == 1 and was == SILENT):
        del state.down[node]
        state.changed = True


def ping_every_ns(state: State) -> int:
    """How often nodes are pinged: each third of SlurmdTimeout, but not before a round that waits for silent nodes is
    over (MessageTimeout and what comes with it; 12 s were recorded)."""
    timeout = state.conf.seconds("slurmdtimeout") or 0
    wait = (state.conf.seconds("messagetimeout") or 10) + ROUND_S
    return max(timeout // 3 if timeout else PING_MOST_S, wait) * SECOND


def noticed_ns(state: State, silent_ns: int, phase_ns: int) -> int | None:
    """When a node that is silent from a time on is set DOWN, None: never (SlurmdTimeout=0). Rounds are at ``phase_ns``
    and each interval after."""
    timeout = state.conf.seconds("slurmdtimeout")
    if not timeout:
        return None
    every = ping_every_ns(state)
    last = phase_ns + (silent_ns - phase_ns) // every * every  # the last round that it answered
    rounds = -(-(last + timeout * SECOND + every - phase_ns) // every)
    return phase_ns + rounds * every
