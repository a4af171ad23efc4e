"""Reads files of Kubernetes into lists of typed objects.

>>> found = objects_of([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
...                      "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": 110}}}])
>>> found.nodes[0].allocatable
{'cpu': 4000, 'memory': 8589934592, 'pods': 110}

Objects may stand in any order and be spread over any files. What the model leaves out is noted once a kind or field;
what is wrong is an :class:`InputError` that names file, line, object and field, after all files were looked through.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, NamedTuple

from gnomon.formats.files import Path, several
from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.descheduling import POLICY, DeschedulerPolicy
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.read.configuration import settings_of
from gnomon.systems.kubernetes.read.descheduling_fields import read_policy
from gnomon.systems.kubernetes.read.fields import Findings
from gnomon.systems.kubernetes.read.items import Item, read_items, taken_apart
from gnomon.systems.kubernetes.read.kinds import CONFIGURATION, Kind, ObjectReader, kind_of
from gnomon.systems.kubernetes.read.owners import owned_by_themselves

_ReadAgain = Callable[[str], Iterable[Item | InputError]]
"""Reads a file once more, to find a line."""

_ROLLED_OUT: Final = ("deployments", "stateful_sets", "daemon_sets", "resource_quotas")

SHOWN_MAX: Final = 20
"""How many errors are shown."""


class _First(NamedTuple):
    """Where an object was first, its position among those of its kind, and its uid."""

    file: str | None
    start: str
    place: int
    uid: str | None


class InputListError(InputError):
    """Several errors of the user's files, of which the first :data:`SHOWN_MAX` are shown."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        first = errors[0]
        super().__init__(
            first.problem,
            file=first.file,
            line=first.line,
            field=first.field,
            found=first.found,
            allowed=first.allowed,
        )
        self.errors = tuple(errors)

    def __reduce__(self) -> tuple[object, ...]:
        return InputListError, (self.errors,)

    def at(self, *, file: str | None = None, line: int | None = None, field: str | None = None) -> InputError:
        """The same errors with the parts of their places that were not known."""
        return InputListError([error.at(file=file, line=line, field=field) for error in self.errors])

    def __str__(self) -> str:
        shown = [str(error) for error in self.errors[:SHOWN_MAX]]
        left = len(self.errors) - len(shown)
        return "\n".join([*shown, f"... and {left} more"] if left else shown)


def read(paths: Path | Sequence[Path]) -> Objects:
    """The objects of one file or several; a file that is named twice is read once.

    Raises :class:`InputError`, of several :class:`InputListError`.
    """
    once: dict[str, str] = {}
    for file in several(paths):
        once.setdefault(file if "\0" in file else os.path.realpath(file), file)
    return _collected(chain.from_iterable(map(read_items, once.values())), again=read_items)


def objects_of(values: Iterable[Mapping[str, Any]], *, file: str | None = None) -> Objects:
    """The objects that plain values describe, lists taken apart. ``file``: named in errors. Raises as :func:`read`."""
    return _collected(part for value in values for part in taken_apart(Item(value, file)))


def _collected(items: Iterable[Item | InputError], *, again: _ReadAgain | None = None) -> Objects:
    collector = _Collector(again)
    for item in items:
        collector.take(item)
    return collector.objects()


class _Collector:
    """Gathers objects by kind, and what is wrong with them."""

    def __init__(self, again: _ReadAgain | None) -> None:
        self._again = again
        self._reader = ObjectReader()
        self._found: dict[str, list[Any]] = {}
        self._named: dict[tuple[str, str, str], _First] = {}
        self._states: Counter[str] = Counter()
        self._errors: list[InputError] = []
        self._kinds: Counter[str] = Counter()
        self._ignored: Counter[str] = Counter()
        self._warned: Counter[tuple[str, str]] = Counter()
        self._configuration: Mapping[str, Any] | None = None
        self._configured = ""
        self._descheduler: DeschedulerPolicy | None = None
        self._order = 0

    def take(self, item: Item | InputError) -> None:
        """One object, or what was found instead."""
        if isinstance(item, InputError):
            self._errors.append(item)
            return
        value = item.value
        if not isinstance(value, dict):
            if value is not None:
                self._errors.append(_error(item, "", (), "an object of Kubernetes is wanted"))
            return
        for key in ("apiVersion", "kind"):
            if not isinstance(value.get(key), str) or not value[key]:
                problem = "this is missing" if value.get(key) is None else "text is wanted"
                self._errors.append(_error(item, _name(value), (key,), problem))
                return
        if value["kind"] == CONFIGURATION:
            self._take_configuration(item)
        elif value["kind"] == POLICY:
            self._take_policy(item)
        elif (kind := kind_of(value)) is not None:
            self._take_object(item, kind)
        else:
            self._kinds[f"{value['apiVersion']} {value['kind']}"] += 1

    def objects(self) -> Objects:
        """All of them. Raises InputError for whatever was wrong."""
        self._errors += self._cycles()
        if self._errors:
            raise self._errors[0] if len(self._errors) == 1 else InputListError(self._errors)
        lists = {name: tuple(values) for name, values in self._found.items()}
        notes = tuple(self._notes())
        return Objects(**lists, configuration=self._configuration, descheduler=self._descheduler, notes=notes)

    def _take_object(self, item: Item, kind: Kind) -> None:
        findings = Findings()
        found = self._reader.read(item.value, kind, self._order, findings)
        self._order += 1
        if self._is_wrong(item, findings):
            return
        listed = self._found.setdefault(kind.into, [])
        key = kind.name, found.namespace if kind.namespaced else "", found.name
        uid = item.value["metadata"].get("uid")
        first = self._named.setdefault(key, _First(item.file, _start(item), len(listed), uid))
        if first.place < len(listed):
            self._take_again(item, kind, found, first)
            return
        listed.append(found)
        self._ignored.update(findings.ignored)
        self._warned.update(findings.warned)

    def _take_again(self, item: Item, kind: Kind, found: Any, first: _First) -> None:
        """An object whose name is known: one that says the same counts once, as in files that were got one by one."""
        known = self._found[kind.into][first.place]
        if hasattr(found, "order"):
            found = replace(found, order=known.order)
        if found == known:
            return
        if first.uid and item.value["metadata"].get("uid") == first.uid:
            self._states[kind.name] += 1
            return
        where = f" (first in {first.start})" if first.start else ""
        hint = "a new version, as `changes` of a scenario applies it" if kind.into in _ROLLED_OUT else None
        problem = f"this is there twice{where}"
        self._errors.append(_error(item, _name(item.value), ("metadata", "name"), problem, allowed=hint))

    def _is_wrong(self, item: Item, findings: Findings) -> bool:
        """Whether something is wrong with an object, which is noted then."""
        if not findings.problems:
            return False
        located = Item(item.value, item.file, _once(item), item.first, item.path)
        for one in findings.problems:
            name = _name(item.value)
            self._errors.append(_error(located, name, one.steps, one.problem, found=one.found, allowed=one.allowed))
        return True

    def _take_policy(self, item: Item) -> None:
        if self._descheduler is not None:
            self._errors.append(_error(item, POLICY, (), "a second policy of the descheduler"))
        findings = Findings()
        policy = read_policy(item.value, findings)
        if not self._is_wrong(item, findings):
            self._descheduler = policy
            self._ignored.update(findings.ignored)

    def _take_configuration(self, item: Item) -> None:
        if self._configuration is not None:
            if item.value != self._configuration:
                where = f" (first in {self._configured})" if self._configured else ""
                problem = f"a second configuration of the scheduler{where}"
                self._errors.append(_error(item, CONFIGURATION, (), problem))
            return
        self._configuration, self._configured = item.value, _start(item)
        findings = Findings()
        settings_of(item.value, findings)
        if not self._is_wrong(item, findings):
            self._ignored.update(findings.ignored)

    def _cycles(self) -> Iterator[InputError]:
        """Workloads that own themselves, by way of others or not, and pods that were never made and do."""
        for kind, namespace, name in owned_by_themselves(self._found):
            file, line = self._named[kind, namespace, name].file, None
            field = f"{kind} {namespace}/{name}, metadata.ownerReferences"
            for item in self._again(file) if self._again is not None and file else ():
                if isinstance(item, Item) and _is_named(item.value, kind, namespace, name):
                    line = item.line("metadata", "ownerReferences")
                    break
            yield InputError("this object owns itself, by its ownerReferences", file=file, line=line, field=field)

    def _notes(self) -> Iterator[Note]:
        for kind, count in self._kinds.items():
            yield Note("not modelled", kind, "objects of this kind are left out", count)
        for field, count in self._ignored.items():
            yield Note("not modelled", field, "this field is left out", count)
        for (kind, text), count in self._warned.items():
            yield Note("warning", kind, text, count)
        for kind, count in self._states.items():
            yield Note("guess", kind, "objects that are there in two states, of one uid: the first counts", count)


def place_of(files: Iterable[Path], kind: str, namespace: str, name: str) -> tuple[str | None, int | None]:
    """In which of some files an object stands, and in which line it begins; None where it is not found."""
    for file in files:
        for item in read_items(file):
            if isinstance(item, Item) and _is_named(item.value, kind, namespace or "default", name):
                return item.file, item.line("metadata", "name")
    return None, None


def _once(item: Item) -> Any:
    """What locates an item, read only once."""
    located: list[Any] = []

    def locate() -> Any:
        if not located:
            located.append(item.locate())
        return located[0]

    return locate


def _start(item: Item) -> str:
    """Where an item begins, as far as that is known without reading it again."""
    line = "" if item.path else f"line {item.first + 1}"
    return ", ".join(part for part in (item.file or "", line) if part)


def _name(value: Mapping[str, Any]) -> str:
    """An object as people name it: ``Pod team-a/web``."""
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key) is not None)
    return f"{value.get('kind') or 'an object'} {name}".strip()


def _error(
    item: Item,
    name: str,
    steps: tuple[str | int, ...],
    problem: str,
    *,
    found: object = None,
    allowed: str | None = None,
) -> InputError:
    from gnomon.formats.yaml import field_name

    field = ", ".join(part for part in (name, field_name(steps)) if part)
    return InputError(
        problem, file=item.file, line=item.line(*steps), field=field or None, found=found, allowed=allowed
    )


def _is_named(value: Any, kind: str, namespace: str, name: str) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) and value.get("kind") == kind else None
    return (
        isinstance(metadata, dict)
        and metadata.get("name") == name
        and (metadata.get("namespace") or "default") == namespace
    )
