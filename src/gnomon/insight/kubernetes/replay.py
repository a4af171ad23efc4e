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
from gnomon.systems.kubernetes.account import MEMORY_PRESSURE, UNREACHABLE
from gnomon.systems.kubernetes.config import read_configuration
from gnomon.systems.kubernetes.leaving import missing_message
from gnomon.systems.kubernetes.objects import Amounts, Taint
from gnomon.systems.kubernetes.plugins import volume_binding
from gnomon.systems.kubernetes.policies import ResourceQuota
from gnomon.systems.kubernetes.quantity import parse_quantity
from gnomon.systems.kubernetes.quotas import used
from gnomon.systems.kubernetes.scenario import Native
from gnomon.systems.kubernetes.state import State as Cluster
from gnomon.systems.kubernetes.state import Surroundings

CREATING = "Error creating: "
"""How the event of a refused creation begins."""

_LEFT = (Kind.END, Kind.KILL, Kind.FAIL, Kind.CANCEL, Kind.PREEMPT)


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
    native = scenario.native
    assert isinstance(native, Native)
    objects, pods = native.objects, native.pods
    nodes = {node.name: node for node in objects.nodes}
    names = [node.name for node in scenario.cluster.nodes]
    state = Cluster(objects.nodes, Surroundings.of(objects))
    closed: dict[int, set[Reason]] = {}
    for row in range(turn.row):
        kind, who, node = Kind(int(log.kind[row])), int(log.subject[row]), int(log.node[row])
        if kind is Kind.START and node >= 0:
            if pods[who].key in state.where:
                state.remove(pods[who].key)
            placed = replace(pods[who], node_name=names[node])
            volume_binding.bind_pod(state, placed, names[node])
            state.place(placed, names[node], start_ns=int(log.t_ns[row]))
        elif kind in _LEFT and who >= 0 and pods[who].key in state.where:
            state.remove(pods[who].key)
        elif kind in (Kind.CLOSE, Kind.OPEN) and node >= 0:
            reasons = closed.setdefault(node, set())
            reason = Reason(int(log.reason[row]))
            (reasons.add if kind is Kind.CLOSE else reasons.discard)(reason)
            plain = nodes[names[node]]
            taints = [*plain.taints]
            if Reason.LOST in reasons:
                taints += [Taint(UNREACHABLE, effect="NoSchedule"), Taint(UNREACHABLE, effect="NoExecute")]
            if Reason.UNDER_PRESSURE in reasons:
                taints.append(Taint(MEMORY_PRESSURE))
            cordoned = plain.unschedulable or bool(reasons - {Reason.LOST, Reason.UNDER_PRESSURE})
            state.replace_node(replace(plain, taints=tuple(taints), unschedulable=cordoned))
    pod = pods[task]
    if turn.message != missing_message(pod):  # else it stays as it is
        leaves = pod.is_terminating and not pod.node_name
        pod = replace(pod, node_name="", nominated_node="", deletion_ns=pod.deletion_ns if leaves else None)
    if pod.key in state.where:
        state.remove(pod.key)
    settings = read_configuration(objects.configuration)
    moment = Moment(objects, state, settings, pod, row=turn.row, went_to=turn.went_to)
    if turn.refused:
        moment.refused = turn.refused
        moment.created = tuple(one.pod for there in state.pods for one in there.values())
        moment.in_use = {quota_key(quota): _used_in(quota, moment) for quota in objects.resource_quotas}
    return moment


def _used_in(quota: ResourceQuota, moment: Moment) -> Amounts:
    """What is used of a quota: as its refusal says, else what the pods that have a node count with."""
    counted = used(quota, moment.created)
    found = re.search(rf"exceeded quota: {re.escape(quota.name)}, requested: .*, used: (.*), limited: ", moment.refused)
    for part in found[1].split(",") if found else ():
        name, _, text = part.partition("=")
        counted[name] = parse_quantity(text, name.rpartition(".")[2])
    return counted
