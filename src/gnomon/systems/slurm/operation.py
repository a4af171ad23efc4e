"""How a Slurm cluster is run after placement: how silent nodes are noticed, what holds use to what was asked for."""

from __future__ import annotations

from gnomon.model.operation import Enforcement, Heartbeat, Operation
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster.nodes import PING_MOST_S, ROUND_S
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.config.conf import Conf


def operation_of(conf: Conf) -> Operation:
    """The operation that a configuration has: rounds of pings each third of SlurmdTimeout; DOWN at the first at which
    the last answer is older than the round before by SlurmdTimeout (``ping_nodes.c``)."""
    timeout = conf.seconds("slurmdtimeout")
    wait = (conf.seconds("messagetimeout") or 10) + ROUND_S
    every = max(timeout // 3 if timeout else PING_MOST_S, wait) * SECOND
    grace = NEVER if not timeout else timeout * SECOND + every
    return Operation(
        enforcement=Enforcement(cpu="pinned", memory="none"),
        detection=Heartbeat(beat_ns=every, check_ns=every, grace_ns=min(grace - 1, NEVER)),
    )
