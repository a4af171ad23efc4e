"""Runs a recorded case of kube-scheduler and compares: objects, configuration and arrival in, one outcome an attempt.

The form, and what the recorder played besides the scheduler (a bound pod runs at once, victims vanish at once, a
preemptor is retried when the queue is empty, ties go to the smallest name), are those of the README beside the
recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.apiserver.admission import as_created
from gnomon.systems.kubernetes.read.configuration import read_configuration
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler
from gnomon.systems.kubernetes.scheduler.queue import SchedulingQueue, gate_message
from gnomon.systems.kubernetes.scheduler.state import State, Surroundings

FIRST_START_NS = 1_735_689_600 * 10**9
"""2025-01-01T00:00:00Z: when the first pod that has no start time starts; the others a second apart."""
_SECOND = 10**9

Outcome = dict[str, Any]


def judge(case: Mapping[str, Any], path: object = None) -> tuple[bool | None, Sequence[str], object]:
    """Whether the model agrees with a recorded case, what differs, and the model's whole outcome."""
    outcome = play(case)
    if any(one.get("kind") == "ResourceClaim" for one in case["objects"]):
        return None, ["claims of devices (DynamicResources) are not modelled"], outcome
    differences = compare(case["outcome"], outcome)
    return not differences, differences, outcome


def play(case: Mapping[str, Any]) -> list[Outcome]:
    """What the model does with a case, in the recorded form. Raises InputError for objects that cannot be read."""
    objects = _objects(case)
    player = _Player(objects, case.get("config"))
    pending = [pod for pod in objects.pods if not pod.node_name and not pod.is_terminal]
    if case.get("arrival") == "batch":
        for pod in pending:
            player.arrive(pod)
        player.empty_queue()
    else:
        for pod in pending:
            player.arrive(pod)
            player.empty_queue()
    return player.outcome


def _objects(case: Mapping[str, Any]) -> Objects:
    """The objects of a case as the API server keeps them."""
    listed = case.get("objects")
    if not isinstance(listed, list) or not isinstance(case["outcome"], list):
        raise InputError("a case needs the lists 'objects' and 'outcome'", field=str(case["name"]))
    objects = as_created(objects_of(listed))
    for rejection in objects.rejections:
        raise InputError(rejection.text, field=str(case["name"]))
    return objects


class _Player:
    """The recorder's part: the queue, the kubelet, the retries."""

    def __init__(self, objects: Objects, config: Mapping[str, Any] | None) -> None:
        self.settings = read_configuration(config)
        self.state = State(objects.nodes, Surroundings.of(objects))
        self.scheduler = Scheduler(self.state, self.settings, percentage=100)
        self.queue = SchedulingQueue()
        self.outcome: list[Outcome] = []
        self._attempts: dict[str, int] = {}
        self._again: list[Pod] = []
        self._next_start = FIRST_START_NS
        self._now = 0
        for pod in objects.pods:
            if pod.node_name in self.state.index and not pod.is_terminal:
                self.state.place(pod, pod.node_name, start_ns=self._start(pod))

    def arrive(self, pod: Pod) -> None:
        """A pod is created."""
        if pod.spec.scheduler_name not in self.settings.profiles:
            return
        if gate_message(pod) is not None:
            self.outcome.append({**_nothing(pod.key, 0), "gated": True})
            return
        self._now += 1
        self.queue.add(pod, self._now)

    def empty_queue(self) -> None:
        """Try all that are ready, then preemptors once more, until nobody is left."""
        while True:
            entry = self.queue.pop(self._now)
            if entry is not None:
                self._try(entry.pod)
            elif self._again:
                for pod in self._again:
                    self._now += 1
                    self.queue.add(pod, self._now)
                self._again = []
            else:
                return

    def _try(self, pod: Pod) -> None:
        number = self._attempts[pod.key] = self._attempts.get(pod.key, 0) + 1
        attempt = self.scheduler.attempt(pod)
        self.outcome.append(self._recorded(attempt, number))
        self.state.withdraw(pod.key)
        if attempt.chosen >= 0:
            self.scheduler.assume(attempt, start_ns=self._start(pod))
        elif attempt.preemption.chosen is not None:
            node = self.state.names[attempt.preemption.chosen.node]
            for victim in attempt.preemption.chosen.victims:
                self.state.remove(victim.pod.key)
            for key, other in list(self.state.nominated.get(node, {}).items()):
                if other.shape.priority < pod.priority:
                    self.state.withdraw(key)
                    self._again = [replace(one, nominated_node="") if one.key == key else one for one in self._again]
            nominated = replace(pod, nominated_node=node)
            self.state.nominate(nominated, node)
            self._again.append(nominated)

    def _start(self, pod: Pod) -> int:
        """When a pod starts that is bound now."""
        if pod.start_time_ns is not None:
            return pod.start_time_ns
        self._next_start += _SECOND
        return self._next_start - _SECOND

    def _recorded(self, attempt: Attempt, number: int) -> Outcome:
        names = self.state.names
        found = _nothing(attempt.pod.key, number)
        found["bound"] = names[attempt.chosen] if attempt.chosen >= 0 else None
        found["best"] = sorted(names[node] for node in attempt.best.tolist())
        found["feasible"] = sorted(names[node] for node in attempt.feasible.tolist())
        found["scores"] = scores_by_node(attempt, names)
        if not attempt.on_nominated and self.state.nodes:
            statuses = attempt.statuses or self.scheduler.statuses(attempt.pod)
            found["rejected"] = {
                names[node]: {"plugin": one.plugin, "code": one.code, "reasons": list(one.reasons)}
                for node, one in sorted(statuses.refusals().items(), key=lambda item: names[item[0]])
            }
        found["message"] = attempt.message
        preemption = attempt.preemption
        if preemption.chosen is not None:
            found["nominated"] = names[preemption.chosen.node]
            found["nominated_best"] = sorted(names[node] for node in preemption.best)
            found["victims"] = sorted(victim.pod.key for victim in preemption.chosen.victims)
        return found


def _nothing(pod: str, number: int) -> Outcome:
    return {
        "pod": pod,
        "attempt": number,
        "bound": None,
        "best": [],
        "feasible": [],
        "scores": {},
        "rejected": {},
        "message": None,
        "nominated": None,
        "nominated_best": [],
        "victims": [],
    }


def scores_by_node(attempt: Attempt, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """By node the final points of each plugin and their total; empty when nothing was scored."""
    if attempt.total is None:
        return {}
    columns = {name: np.broadcast_to(points, attempt.total.shape) for name, points in attempt.scores}
    columns["total"] = attempt.total
    return {
        names[node]: {name: int(column[i]) for name, column in columns.items()}
        for i, node in enumerate(attempt.feasible.tolist())
    }


def compare(recorded: Sequence[Mapping[str, Any]], played: Sequence[Mapping[str, Any]]) -> list[str]:
    """What differs, each a line that names the pod, the attempt and the field."""
    differences: list[str] = []
    if len(recorded) != len(played):
        differences.append(f"{len(played)} attempts, recorded {len(recorded)}")
    for theirs, ours in zip(recorded, played, strict=False):
        who = f"{theirs['pod']} attempt {theirs['attempt']}"
        if (theirs["pod"], theirs["attempt"]) != (ours["pod"], ours["attempt"]):
            differences.append(f"{who}: {ours['pod']} attempt {ours['attempt']} comes here")
            break  # what follows differs for this reason alone
        for name in sorted({*theirs, *ours}):
            differences += _difference(f"{who}: {name}", theirs.get(name), ours.get(name))
    return differences


def _difference(where: str, theirs: Any, ours: Any) -> list[str]:
    if theirs == ours:
        return []
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        lines: list[str] = []
        for key in sorted({*theirs, *ours}):
            lines += _difference(f"{where} {key}", theirs.get(key), ours.get(key))
        return lines
    return [f"{where}: {ours!r}, recorded {theirs!r}"]
