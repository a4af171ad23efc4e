"""A pod of a run: the cluster as its scheduler had it at a row of the log, folded from the rows before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.moment import Moment, quota_key
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.objects import Amounts, Pod
from gnomon.systems.kubernetes.api.policies import ResourceQuota
from gnomon.systems.kubernetes.api.quantity import parse_quantity
from gnomon.systems.kubernetes.apiserver.quotas import used
from gnomon.systems.kubernetes.controllers.leaving import missing_message
from gnomon.systems.kubernetes.fleets.native import Native, native_of
from gnomon.systems.kubernetes.read.configuration import read_configuration
from gnomon.systems.kubernetes.scheduler.account import LEFT, closed_to
from gnomon.systems.kubernetes.scheduler.plugins import volume_binding
from gnomon.systems.kubernetes.scheduler.state import State as Cluster
from gnomon.systems.kubernetes.scheduler.state import Surroundings

CREATING = "Error creating: "
"""How the event of a refused creation begins."""


@dataclass(frozen=True)
class Turn:
    """The row of a log at which a pod's turn is explained: its latest refusal, else its start. ``message``: what its
    event said, empty where it was placed; ``refused``: why the API server did not create it, empty where it did;
    ``went_to``: the node that it got then."""

    row: int
    message: str = ""
    refused: str = ""
    went_to: str = ""


def spokesman(ground: Ground, tasks: Sequence[int]) -> int:
    """The task that stands for several: one that waits, else one that failed, else the one that waited longest, of
    those that were not told to go."""
    what = ground.past.outcome
    rank = {State.WAITING: 0, State.REJECTED: 1, State.FAILED: 2, State.KILLED: 10}
    waited = np.minimum(what.first_start_ns, NEVER) - np.minimum(what.arrive_ns, NEVER)
    return min(tasks, key=lambda task: (rank.get(State(int(what.state[task])), 9), -int(waited[task]), task))


def turn_of(ground: Ground, task: int) -> Turn | None:
    """The turn that matters; None: it never had one."""
    log = ground.past.log
    told = [*rows_of(log, (task,), Kind.WAIT).tolist(), *rows_of(log, (task,), Kind.REJECT).tolist()]
    said = [row for row in told if log.details.get(row, {}).get("message")]
    if said:
        row, message = said[-1], str(log.details[said[-1]]["message"])
        bare = message if log.kind[row] == Kind.REJECT else ""
        return Turn(row, message, bare or (message.removeprefix(CREATING) if message.startswith(CREATING) else ""))
    starts = rows_of(log, (task,), Kind.START).tolist()
    if not starts:
        return None
    return Turn(starts[-1], went_to=ground.node_name(int(log.node[starts[-1]])))


def moment_at(scenario: Scenario, log: Log, task: int, turn: Turn) -> Moment:
    """The cluster just before a row, and the pod as one that has no place yet."""
    native = native_of(scenario)
    objects, pods = native.objects, native.pods
    seen = _Replay(native, log, [node.name for node in scenario.cluster.nodes])
    for row in range(turn.row):
        seen.take(row)
    state = seen.state
    pod = pods[task]
    if turn.message != missing_message(pod):  # else it stays as it is
        leaves = pod.is_terminating and not pod.node_name
        pod = replace(pod, node_name="", nominated_node="", deletion_ns=pod.deletion_ns if leaves else None)
    if pod.key in state.where:
        state.remove(pod.key)
    state.withdraw(pod.key)
    settings = read_configuration(objects.configuration)
    moment = Moment(objects, state, settings, pod, row=turn.row, went_to=turn.went_to)
    if turn.refused:
        moment.refused = turn.refused
        moment.created = tuple(one.pod for there in state.pods for one in there.values())
        moment.in_use = {quota_key(quota): _used_in(quota, moment) for quota in objects.resource_quotas}
    return moment


class _Replay:
    """The scheduler's account of who is where, folded from the rows of a log as they come.

    Pods that were told to stop hold their places until they have, and nodes on which a pod preempted others are kept
    for it (``nominatedNodeName``).
    """

    def __init__(self, native: Native, log: Log, names: Sequence[str]) -> None:
        self._pods, self._log, self._names = native.pods, log, names
        self._nodes = {node.name: node for node in native.objects.nodes}
        self._closed: dict[int, set[Reason]] = {}
        self.state = Cluster(native.objects.nodes, Surroundings.of(native.objects))

    def take(self, row: int) -> None:
        """One more row."""
        log = self._log
        kind, who, node = Kind(int(log.kind[row])), int(log.subject[row]), int(log.node[row])
        if kind is Kind.START and node >= 0:
            self._starts(row, self._pods[who], self._names[node])
        elif kind in LEFT and who >= 0:
            self._gone(self._pods[who].key)
            by = log.details.get(row, {}).get("by")
            if log.reason[row] == Reason.PREEMPTED and by is not None and node >= 0:
                self.state.nominate(self._pods[int(by)], self._names[node])
        elif kind is Kind.COPY and who >= 0 and node >= 0 and log.kind[row - 1] in LEFT:
            copy = replace(self._stopping(who, node), deletion_ns=int(log.t_ns[row]))
            self.state.place(copy, self._names[node], start_ns=int(log.t_ns[row]))
        elif kind is Kind.COPY_END and who >= 0 and node >= 0:
            self._gone(self._stopping(who, node).key)
        elif kind in (Kind.CLOSE, Kind.OPEN) and node >= 0:
            self._node_changed(row, node, closes=kind is Kind.CLOSE)

    def _stopping(self, task: int, node: int) -> Pod:
        """A pod that is terminating, under a name of its own, as the next one of its task has the same."""
        return replace(self._pods[task], name=f"{self._pods[task].name}~{node}")

    def _gone(self, key: str) -> None:
        if key in self.state.where:
            self.state.remove(key)

    def _starts(self, row: int, pod: Pod, name: str) -> None:
        self._gone(pod.key)
        self.state.withdraw(pod.key)
        placed = replace(pod, node_name=name)
        volume_binding.bind_pod(self.state, placed, name)
        self.state.place(placed, name, start_ns=int(self._log.t_ns[row]))

    def _node_changed(self, row: int, node: int, *, closes: bool) -> None:
        reasons, reason = self._closed.setdefault(node, set()), Reason(int(self._log.reason[row]))
        (reasons.add if closes else reasons.discard)(reason)
        lost, pressed = Reason.LOST in reasons, Reason.UNDER_PRESSURE in reasons
        cordoned = bool(reasons - {Reason.LOST, Reason.UNDER_PRESSURE})
        plain = self._nodes[self._names[node]]
        self.state.replace_node(closed_to(plain, lost=lost, pressed=pressed, cordoned=cordoned))


def _used_in(quota: ResourceQuota, moment: Moment) -> Amounts:
    """What is used of a quota: as its refusal says, else what the pods that have a node count with."""
    counted = used(quota, moment.created)
    found = re.search(rf"exceeded quota: {re.escape(quota.name)}, requested: .*, used: (.*), limited: ", moment.refused)
    for part in found[1].split(",") if found else ():
        name, _, text = part.partition("=")
        counted[name] = parse_quantity(text, name.rpartition(".")[2])
    return counted
