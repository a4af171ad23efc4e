"""Power saving: idle nodes are switched off, and a job that is given switched-off nodes waits until they are up.

``src/slurmctld/power_save.c``, slurm.conf(5), power_save.html (22.05 to 25.05). Nodes of State=CLOUD begin switched
off; others are after SuspendTime without a job. There is no target size: nodes are switched on only by being given to a
job, which is CONFIGURING meanwhile and whose time begins when the last of them is up. A node that has not registered by
ResumeTimeout is DOWN, and its job goes back to the queue.

What is behind ResumeProgram no configuration tells: :class:`Provider` does, by the line ``cloud …`` of a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_duration
from gnomon.systems.slurm.cluster import nodes
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, Mask, State
from gnomon.systems.slurm.notation.hostlist import expand

FAILED: Final = "ResumeTimeout reached"
"""The reason of a node that did not come up."""
_OFF: Final = 1 << 62


@dataclass(frozen=True)
class Provider:
    """Who switches some nodes on. ``capacity``: so many of them may be on at once (None: all); ``resume_ns``: how long
    one takes to come up; ``fail_ns``: how long until one that does not come up is set DOWN; ``back_ns``: how long it is
    kept out then, None: until somebody resumes it; ``failover``: with it go all of them that are off; ``reason``: of
    nodes that were set DOWN."""

    nodes: frozenset[int]
    capacity: int | None
    resume_ns: int
    fail_ns: int
    back_ns: int | None = None
    failover: bool = False
    reason: str = FAILED


class Power:
    """The nodes that are off, and those that are coming up. ``ask``: tells the controller that something changed."""

    def __init__(self, state: State, ask: Callable[[], None]) -> None:
        self._state, self._ask = state, ask
        conf = state.conf
        self.timeout_ns = (conf.seconds("resumetimeout") or 60) * SECOND
        self._suspend_timeout = (conf.seconds("suspendtimeout") or 30) * SECOND
        self.asleep = {n for n, node in enumerate(conf.nodes) if node.state.startswith("CLOUD")}
        self.waking: dict[int, int] = {}
        self.given: dict[Job, int] = {}
        """When jobs were last given nodes that had to be switched on."""
        self._suspends = _suspend_times(state)
        self._idle: dict[int, int] = {}
        everything = frozenset(range(len(conf.nodes)))
        self._rest = Provider(everything, None, self.timeout_ns // 2, self.timeout_ns)
        self.providers: list[Provider] = []

    def provider(self, node: int) -> Provider:
        """Who switches a node on."""
        return next((one for one in self.providers if node in one.nodes), self._rest)

    def awake(self) -> Mask:
        """The nodes that are on."""
        mask = np.ones(len(self._state.conf.nodes), np.bool_)
        mask[[*self.asleep, *self.waking]] = False
        return mask

    # ------------------------------------------------------------------ a job is given nodes

    def holds(self, job: Job) -> bool:
        """Whether a job that has just got its nodes has to wait for some of them; they are switched on."""
        wanted = [n for n in job.allocation.nodes if n in self.asleep or n in self.waking]
        for node in job.allocation.nodes:
            self._idle.pop(node, None)
        if not wanted:
            return False
        job.configuring, self.given[job] = True, self._state.now_ns
        for node in wanted:
            if node in self.asleep:
                self._resume(node)
        self._begin_when_up(job)
        return True

    def _resume(self, node: int) -> None:
        state, now = self._state, self._state.now_ns
        who = self.provider(node)
        on = sum(1 for n in who.nodes if n not in self.asleep and n not in state.down)
        full = who.capacity is not None and on >= who.capacity
        self.asleep.discard(node)
        if full or who.resume_ns > self.timeout_ns:
            self.waking[node] = _OFF
            due = who.fail_ns if full else self.timeout_ns
            state.world.at(now + due, lambda: self._fails(node, who))
        else:
            self.waking[node] = now + who.resume_ns
            state.world.at(now + who.resume_ns, lambda: self._is_up(node))

    def _begin_when_up(self, job: Job) -> None:
        """Begin at once when no node of it is coming up any more; else look again when the last that may be is."""
        state, stint = self._state, len(job.stints)
        due = max((self.waking.get(n, 0) for n in job.allocation.nodes), default=0)
        if due >= _OFF:
            return

        def begins() -> None:
            if not job.configuring or not job.runs or len(job.stints) != stint:
                return
            if any(n in self.waking and self.waking[n] > state.now_ns for n in job.allocation.nodes):
                self._begin_when_up(job)
                return
            job.configuring = False
            job.start_ns = job.turn_ns = job.stints[-1].start_ns = state.now_ns
            limit = state.limit_min(job, state.part(job))
            state.set_end(job, state.now_ns + limit * MINUTE if limit is not None else 0)
            state.world.start(job, job.scheduler)
            self._ask()

        state.world.at(max(due, state.now_ns + 1), begins)

    def _is_up(self, node: int) -> None:
        self.waking.pop(node, None)
        self._ask()

    def _fails(self, node: int, who: Provider) -> None:
        """A node has not come up: it is DOWN, and so, where the provider says so, are its like that are off."""
        if self.waking.pop(node, None) is None:
            return
        down = [node]
        if who.failover:
            down += [n for n in sorted(who.nodes & self.asleep) if n not in self._state.down]
        for one in down:
            self.asleep.add(one)
            nodes.fall(self._state, one, who.reason)
            if who.back_ns is not None:
                self._state.world.at(self._state.now_ns + who.back_ns, lambda one=one: self._back(one))  # type: ignore[misc]
        self._ask()

    def _back(self, node: int) -> None:
        if self._state.down.pop(node, None) is not None:
            self._state.changed = True
            self._ask()

    # ------------------------------------------------------------------ nodes are idle

    def look(self) -> None:
        """Set the clocks of nodes that have become idle."""
        if not self._suspends:
            return
        state = self._state
        busy = state.occupancy.busy_nodes()
        for node, after_ns in self._suspends.items():
            if busy[node] or node in self.asleep or node in self.waking or node in state.down:
                self._idle.pop(node, None)
            elif node not in self._idle:
                since = self._idle[node] = state.now_ns
                state.world.at(since + after_ns, lambda node=node, since=since: self._suspend(node, since))  # type: ignore[misc]

    def _suspend(self, node: int, since: int) -> None:
        """SuspendProgram: for SuspendTimeout the node is neither on nor to be had."""
        state = self._state
        if self._idle.get(node) != since:
            return
        self._idle.pop(node)
        self.asleep.add(node)
        state.completing[node] = until = state.now_ns + self._suspend_timeout

        def off() -> None:
            if state.completing.get(node) == until:
                del state.completing[node]
                self._ask()

        state.world.at(until, off)

    # ------------------------------------------------------------------ the line of a session

    def cloud(self, words: Sequence[str]) -> None:
        """``cloud Nodes=spot[1-10] Capacity=0 ResumeTime=90s FailTime=2s DownTime=60s Failover=yes Reason=…``; what is
        not said stays. Raises InputError."""
        pairs = {key.lower(): value for key, _, value in (word.partition("=") for word in words)}
        unknown = sorted(set(pairs) - set(_KEYS))
        if unknown:
            raise InputError("cloud: unknown key", found=unknown[0], allowed=", ".join(_KEYS.values()))
        numbers = frozenset(self._numbers(pairs["nodes"])) if "nodes" in pairs else self._rest.nodes
        old = next((one for one in self.providers if one.nodes == numbers), replace(self._rest, nodes=numbers))
        back = pairs.get("downtime")
        text = pairs.get("capacity", "")
        if text and not text.isdigit() and text.upper() != "UNLIMITED":
            raise InputError("cloud: a number is wanted", field="Capacity", found=text, allowed="0, 1, …, UNLIMITED")
        new = Provider(
            numbers,
            old.capacity if not text else int(text) if text.isdigit() else None,
            _time(pairs, "resumetime", old.resume_ns),
            _time(pairs, "failtime", old.fail_ns),
            old.back_ns if back is None else _time(pairs, "downtime", 0),
            pairs["failover"].lower() in ("yes", "1", "true") if "failover" in pairs else old.failover,
            pairs.get("reason", old.reason),
        )
        self.providers = [new, *(one for one in self.providers if one is not old)]
        self._ask()

    def _numbers(self, text: str) -> Iterable[int]:
        for name in expand(text):
            if self._state.node(name) < 0:
                raise InputError("cloud: there is no such node", field="Nodes", found=name)
            yield self._state.node(name)


_KEYS: Final = {
    name.lower(): name for name in ("Nodes", "Capacity", "ResumeTime", "FailTime", "DownTime", "Failover", "Reason")
}


def _time(pairs: dict[str, str], key: str, otherwise: int) -> int:
    if key not in pairs:
        return otherwise
    try:
        return parse_duration(pairs[key])
    except ValueError as error:
        raise InputError(f"cloud: {error}", field=_KEYS[key], found=pairs[key]) from None


def _suspend_times(state: State) -> dict[int, int]:
    """After how long without a job (ns) a node is switched off: as it, its partition or the cluster says; of those that
    never are (SuspendExcNodes, SuspendExcParts) nothing."""
    conf = state.conf
    kept = set(expand(conf.text("suspendexcnodes"))) if conf.text("suspendexcnodes") else set()
    parts = {word.strip() for word in conf.text("suspendexcparts").split(",")}
    by_part: dict[str, int] = {}
    for part in conf.partitions:
        if part.name in parts:
            kept.update(part.nodes)
        if part.suspend_time_s is not None:
            by_part |= {name: max(part.suspend_time_s, by_part.get(name, 0)) for name in part.nodes}
    everywhere, found = conf.seconds("suspendtime"), {}
    for n, node in enumerate(conf.nodes):
        wait = node.suspend_time_s if node.suspend_time_s is not None else by_part.get(node.name, everywhere)
        if wait is not None and wait >= 0 and node.name not in kept:
            found[n] = wait * SECOND
    return found


def power_of(state: State, ask: Callable[[], None]) -> Power | None:
    """The power saving of a cluster, None: it has none."""
    cloud = any(node.state.startswith("CLOUD") for node in state.conf.nodes)
    programs = state.conf.text("suspendprogram") and state.conf.text("resumeprogram")
    return Power(state, ask) if cloud or (programs and _suspend_times(state)) else None
