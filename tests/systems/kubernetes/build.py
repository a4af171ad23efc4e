"""Short words for nodes, pods and what a scheduler says of them."""

from __future__ import annotations

from typing import Any

from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.objects import Container, Node, Pod, PodSpec
from gnomon.systems.kubernetes.api.profile import Profile, Settings
from gnomon.systems.kubernetes.golden import scores_by_node
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler
from gnomon.systems.kubernetes.scheduler.state import State, Surroundings

GIB = 2**30
MIB = 2**20


def node(name: str, *, cpu: int = 4000, memory: int = 8 * GIB, pods: int = 110, **more: Any) -> Node:
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, **more.pop("also", {})}
    return Node(name, more.pop("labels", {}), allocatable=amounts, **more)


def pod(name: str, requests: dict[str, int] | None = None, **more: Any) -> Pod:
    labels, namespace = more.pop("labels", {}), more.pop("namespace", "default")
    owner = more.pop("owner", None)
    containers = more.pop("containers", (Container("c", "app:1", requests or {}),))
    return Pod(name, namespace, labels, spec=PodSpec(containers, **more), owner=owner)


def app(value: str) -> LabelSelector:
    return LabelSelector((Requirement("app", "In", (value,)),))


def scheduler(nodes: list[Node], around: Surroundings | None = None, **profile: Any) -> Scheduler:
    settings = Settings({"default-scheduler": Profile(**profile)})
    return Scheduler(State(nodes, around), settings, percentage=100)


def points(asked: Scheduler, one: Pod, plugin: str) -> dict[str, int | None]:
    """By node the final points of a plugin, weight included; None where it is absent."""
    attempt = asked.attempt(one)
    return {name: row.get(plugin) for name, row in scores_by_node(attempt, asked.state.names).items()}


def refusals(asked: Scheduler, one: Pod) -> dict[str, tuple[str, str, list[str]]]:
    found = asked.statuses(one).refusals()
    return {asked.state.names[i]: (r.plugin, r.code, list(r.reasons)) for i, r in found.items()}


def names(asked: Scheduler, attempt: Attempt) -> list[str]:
    return [asked.state.names[i] for i in attempt.feasible.tolist()]
