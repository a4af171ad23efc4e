"""In which settings scenarios that stand side by side differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum

from gnomon.model.cluster import Cluster
from gnomon.model.quantity import format_duration, format_memory
from gnomon.model.resources import E4, NEVER
from gnomon.model.scenario import Policy, Scenario
from gnomon.report.columns import NOTHING, percent

ROWS_MAX = 40
"""How many differences are listed."""

DEPTH_MAX = 6
ITEMS_MAX = 50
"""Longer lists within the settings, such as all objects of a cluster, are not gone through."""

_APART = ("name", "source", "work", "cluster", "properties")
"""Fields of a scenario that are told of elsewhere on the page."""


def differences(scenarios: Sequence[Scenario]) -> list[tuple[str, list[str]]]:
    """The settings that are not the same in all scenarios, each with its value in every one.

    >>> from gnomon.model.work import Work
    >>> one = Scenario(Cluster.of_processors(4), Work.from_tasks([]))
    >>> from dataclasses import replace
    >>> differences([one, replace(one, seed=1, cluster=Cluster.of_processors(8))])
    [('cluster cpu', ['4', '8']), ('seed', ['0', '1'])]
    """
    every = [
        {**dict(_of_cluster(one.cluster)), **dict(_of_work(one)), **dict(_settings("", one, 0))} for one in scenarios
    ]
    names = dict.fromkeys(name for found in every for name in found)
    rows = [(name, [found.get(name, NOTHING) for found in every]) for name in names]
    return [(name, texts) for name, texts in rows if len(set(texts)) > 1]


def _of_work(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "work", scenario.work.source or NOTHING
    yield "tasks", f"{len(scenario.work):,}"


def _of_cluster(cluster: Cluster) -> Iterator[tuple[str, str]]:
    yield "cluster nodes", f"{len(cluster.nodes):,}"
    for name in cluster.resource_names():
        yield f"cluster {name}", amount(cluster.total(name), name)


def amount(number: int, name: str) -> str:
    """An amount of a resource, in its usual unit."""
    if name == "memory":
        return format_memory(number)
    return f"{number / (1000 if name == 'cpu' else E4):,.10g}"


def _settings(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Each setting within a value by its place, in words; what is no setting is passed over."""
    if isinstance(value, Policy):
        yield name, value.text
    elif isinstance(value, bool | None | str | int | float | Enum):
        yield name.removesuffix(" ns").removesuffix(" e4"), _said(name, value)
    elif depth > DEPTH_MAX:
        return
    elif is_dataclass(value):
        for one in fields(value):
            if depth or one.name not in _APART:
                place = "" if one.name == "native" else _place(name, one.name)  # the system's own settings
                yield from _settings(place, getattr(value, one.name), depth + 1)
    elif isinstance(value, Mapping) and len(value) <= ITEMS_MAX:
        for key, item in value.items():
            yield from _settings(_place(name, str(key)), item, depth + 1)
    elif isinstance(value, Sequence) and len(value) <= ITEMS_MAX:
        for number, item in enumerate(value, start=1):
            called = getattr(item, "name", None)
            yield from _settings(_place(name, called if isinstance(called, str) else str(number)), item, depth + 1)


def _place(above: str, name: str) -> str:
    return f"{above} {name.replace('_', ' ')}".strip()


def _said(name: str, value: object) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith(" ns"):
        return "never" if value >= NEVER else format_duration(value)
    if isinstance(value, int) and name.endswith(" e4"):
        return percent(value / E4)
    return str(value.value if isinstance(value, Enum) else value)
