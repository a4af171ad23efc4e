"""Whom a fault hits: names of nodes, tasks, jobs, labels and control members as indices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gnomon.model.errors import InputError, listed_names, unknown_name
from gnomon.model.fault import Fault
from gnomon.model.scenario import Scenario

NODES, TASKS, MEMBERS = "nodes", "tasks", "control members"

ANY = (NODES, TASKS, MEMBERS)

_FORMS = {
    NODES: "node/NAME, LABEL/VALUE, or a node's name",
    TASKS: "task/ID, job/NAME",
    MEMBERS: "control/NUMBER",
}
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Targets:
    """Whom a fault hits, each ascending and once: indices of nodes and tasks in the scenario's order, numbers of
    members of the control plane."""

    nodes: tuple[int, ...] = ()
    tasks: tuple[int, ...] = ()
    control: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.nodes or self.tasks or self.control)

    def meets(self, other: Targets) -> bool:
        """Whether somebody is in both."""
        mine, theirs = (self.nodes, self.tasks, self.control), (other.nodes, other.tasks, other.control)
        return any(not set(a).isdisjoint(b) for a, b in zip(mine, theirs, strict=True))


NOBODY = Targets()


class Directory:
    """The names of one scenario, looked up many times."""

    def __init__(self, scenario: Scenario) -> None:
        self._cluster, self._work = scenario.cluster, scenario.work
        self.members = scenario.operation.control.members

    def resolve(self, targets: Sequence[str], *, kind: Fault, field: str, hits: Sequence[str] = ANY) -> Targets:
        """As :func:`resolve`."""
        found: dict[str, set[int]] = {NODES: set(), TASKS: set(), MEMBERS: set()}
        for target in targets:
            sort, indices = self._one(target, kind, field, hits)
            found[sort].update(indices)
        return Targets(*(tuple(sorted(found[sort])) for sort in ANY))

    def rest(self, side: Targets) -> Targets:
        """All nodes and members of the control plane that are not in ``side``."""
        nodes, members = set(side.nodes), set(side.control)
        return Targets(
            tuple(node for node in range(len(self._cluster.nodes)) if node not in nodes),
            (),
            tuple(member for member in range(self.members) if member not in members),
        )

    def each(self, targets: Targets) -> list[tuple[str, Targets]]:
        """Every single node, task and member with its name, in this order."""
        nodes = [(f"node/{self._cluster.nodes[node].name}", Targets(nodes=(node,))) for node in targets.nodes]
        tasks = [(f"task/{self._work.id(task)}", Targets(tasks=(task,))) for task in targets.tasks]
        return nodes + tasks + [(f"control/{member}", Targets(control=(member,))) for member in targets.control]

    def _one(self, target: str, kind: Fault, field: str, hits: Sequence[str]) -> tuple[str, Iterable[int]]:
        form, value, sort, names = self._form(target)
        allowed = ", ".join(_FORMS[sort] for sort in hits)
        if names is None:
            known = ("node", "task", "job", "control", *self._labels)
            raise unknown_name("form of target", form, known).at(field=field)
        if sort not in hits:
            raise InputError(f"a fault of kind {kind.value} hits no {sort}", field=field, found=target, allowed=allowed)
        if value in names:
            return sort, names[value]
        if _WILD.isdisjoint(value):
            what = "member of the control plane" if sort == MEMBERS else form
            raise unknown_name(what, value, names).at(field=field)
        pattern = _pattern(value)
        matching = [name for name in names if pattern.fullmatch(name)]
        if not matching:
            raise InputError(
                f"no {form} has such a name", field=field, found=target, allowed=listed_names(sorted(names))
            )
        return sort, (index for name in matching for index in names[name])

    def _form(self, target: str) -> tuple[str, str, str, Mapping[str, tuple[int, ...]] | None]:
        """A target's form, what it names, the sort of it, and all names of this form (None: there is no such form)."""
        form, slash, value = target.partition("/")
        if not slash:
            return "node", target, NODES, self._nodes
        if form == "node":
            return form, value, NODES, self._nodes
        if form == "task":
            return form, value, TASKS, self._tasks
        if form == "job":
            return form, value, TASKS, self._jobs
        if form == "control":
            return form, value, MEMBERS, {str(member): (member,) for member in range(self.members)}
        labels = [label for label in self._labels if target.startswith(f"{label}/")]
        if labels:  # a label may hold a slash itself: the longest that fits
            label = max(labels, key=len)
            return label, target[len(label) + 1 :], NODES, self._labels[label]
        return form, target, NODES, self._nodes if target in self._nodes else None

    @cached_property
    def _nodes(self) -> dict[str, tuple[int, ...]]:
        return _grouped(node.name for node in self._cluster.nodes)

    @cached_property
    def _labels(self) -> dict[str, dict[str, tuple[int, ...]]]:
        found: dict[str, dict[str, list[int]]] = {}
        for index, node in enumerate(self._cluster.nodes):
            for label, value in node.labels:
                found.setdefault(label, {}).setdefault(value, []).append(index)
        return {label: {value: tuple(nodes) for value, nodes in named.items()} for label, named in found.items()}

    @cached_property
    def _tasks(self) -> dict[str, tuple[int, ...]]:
        return _grouped(self._work.id(task) for task in range(len(self._work)))

    @cached_property
    def _jobs(self) -> dict[str, tuple[int, ...]]:
        if self._work.jobs is None:
            return self._tasks
        return _grouped(self._work.jobs[job] for job in self._work.job.tolist())


def resolve(
    targets: Sequence[str], scenario: Scenario, *, kind: Fault, field: str, hits: Sequence[str] = ANY
) -> Targets:
    """Whom the names of a fault of ``kind`` mean.

    ``node/NAME``, ``task/ID``, ``job/NAME`` (its tasks), ``control/NUMBER``, ``LABEL/VALUE`` (all nodes with that
    label); ``*``, ``?`` and ``[...]`` in the second part stand for any text, as in file names; a name alone is a
    node's. Raises InputError, which names ``field``, for what is not there and for a sort that is none of those that
    the kind ``hits``.

    >>> from gnomon.model.cluster import Cluster, Node
    >>> from gnomon.model.resources import NOTHING
    >>> from gnomon.model.work import Task, Work
    >>> nodes = [Node(f"n{i}", NOTHING, labels=(("rack", f"r{i // 2}"),)) for i in range(4)]
    >>> scenario = Scenario(Cluster(tuple(nodes)), Work.from_tasks([Task("t")]))
    >>> resolve(["rack/r1", "n0"], scenario, kind=Fault.CRASH, field="faults[0].targets").nodes
    (0, 2, 3)
    """
    return Directory(scenario).resolve(targets, kind=kind, field=field, hits=hits)


def _grouped(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        found.setdefault(name, []).append(index)
    return {name: tuple(indices) for name, indices in found.items()}


def _pattern(glob: str) -> re.Pattern[str]:
    """What a glob matches: ``*`` any text, ``?`` any character, ``[a-c]`` one of these, ``[!a-c]`` none of them; the
    rules of ``fnmatch.fnmatchcase``, whose module reaches for the operating system."""
    parts = []
    for part in re.findall(r"\*+|\[!?\]?[^\]]*\]|.", glob, re.DOTALL):
        if part[0] == "*":
            parts.append(".*")
        elif part == "?":
            parts.append(".")
        elif part[1:-1] not in ("", "!"):
            negated = part[1] == "!"
            ranges = re.findall(r"(.)-(.)|(.)", part[1 + negated : -1], re.DOTALL)
            inside = "".join(
                re.escape(one) or f"{re.escape(a)}-{re.escape(b)}" for a, b, one in ranges if one or a <= b
            )
            parts.append(f"[{'^' if negated else ''}{inside}]" if inside else "." if negated else "(?!)")
        else:
            parts.append(re.escape(part))
    return re.compile("".join(parts), re.DOTALL)
