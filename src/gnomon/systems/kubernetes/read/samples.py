"""What pods use: by annotations, as ``kubectl top`` prints it, or as samples over time in CSV.

A CSV file has the columns ``namespace``, ``pod``, ``cpu`` and ``memory`` (either may be missing), and ``seconds`` since
the pod's start; between samples use goes in a line, after the last it stays. What ``kubectl top`` prints is one sample
(``top``).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gnomon.formats.files import Path, read_text
from gnomon.model.errors import InputError
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.quantity import parse_quantity
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.read.annotations import USAGE, use_points
from gnomon.systems.kubernetes.read.top import is_top, read_top

_AMOUNTS: Final = ("cpu", "memory")
Points = dict[str, dict[int, int]]


def usage_of(pod: Pod) -> Usage | None:
    """What a pod says that it uses by its annotations; None: nothing."""
    profiles = []
    for name in _AMOUNTS:
        said = pod.annotations.get(USAGE + name)
        if said is not None:
            try:
                profiles.append((name, _profile(use_points(said, name))))
            except ValueError as error:
                field = f"pod {pod.key}, metadata.annotations.{USAGE}{name}"
                raise InputError(str(error), field=field, found=said) from None
    return Usage(tuple(profiles)) if profiles else None


def _profile(points: Mapping[int, int]) -> Profile:
    times = sorted(points)
    first = () if times[0] == 0 else ((0, points[times[0]]),)
    return Profile((*first, *((time, points[time]) for time in times)))


@dataclass
class Samples:
    """What files say. ``pods``: the use of pods by ``namespace/name``; ``nodes``: the memory that is used on nodes."""

    pods: dict[str, Usage] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Pods that ``kubectl top`` lists, and that are not there."""

    def notes(self) -> Iterator[Note]:
        """What of the files counts for nothing."""
        if self.gone:
            names = f"{', '.join(self.gone[:5])}{'...' if self.gone[5:] else ''}"
            yield Note("guess", "kubectl top", f"pods that are not there, left out: {names}", len(self.gone))

    def beside(self, node: str, bound: Iterable[Pod]) -> int:
        """The memory that is used on a node beside its pods, as its reading and theirs have it (a pod without one uses
        what it says, or asked for); 0 for a node without a reading."""
        left = self.nodes.get(node, 0)
        for pod in bound if left else ():
            usage = self.pods.get(pod.key) or usage_of(pod)
            profile = usage.profile("memory") if usage is not None else None
            left -= pod_requests(pod.spec).get("memory", 0) if profile is None else profile.points[0][1]
        return max(left, 0)


def read_samples(paths: Sequence[Path], pods: Mapping[str, Pod], nodes: Mapping[str, int]) -> Samples:
    """What files say of the use of pods, and of ``nodes``, each with its memory (0: not known).

    Raises InputError, also for pods and nodes that are not there; pods that ``kubectl top`` alone knows are left out.
    """
    found: dict[str, Points] = {}
    samples = Samples()
    for path in paths:
        file = os.fspath(path)
        lines = _lines(file)
        if not is_top(lines[0]):
            _read(file, lines, pods, found)
            continue
        top = read_top(file, lines, pods, nodes)
        samples.nodes |= top.nodes
        samples.gone += top.gone
        for key, amounts in top.pods.items():
            for name, amount in amounts.items():
                found.setdefault(key, {}).setdefault(name, {})[0] = amount
    for key, points in found.items():
        samples.pods[key] = Usage(tuple((name, _profile(points[name])) for name in _AMOUNTS if name in points))
    return samples


def _lines(file: str) -> list[str]:
    lines = read_text(file).splitlines()
    if not any(lines):
        raise InputError("the file is empty", file=file)
    return lines


def _read(file: str, lines: Sequence[str], pods: Mapping[str, Pod], found: dict[str, Points]) -> None:
    for number, row in _rows(file, lines):
        key = f"{row.get('namespace') or 'default'}/{row['pod']}"
        if key not in pods:
            raise InputError("no such pod", file=file, line=number, field="pod", found=key)
        time = _time(row.get("seconds") or "0", file, number)
        for name in _AMOUNTS:
            if said := row.get(name):
                try:
                    amount = parse_quantity(said, name)
                except ValueError as error:
                    raise InputError(str(error), file=file, line=number, field=name, found=said) from None
                found.setdefault(key, {}).setdefault(name, {})[time] = amount


def _time(said: str, file: str, line: int) -> int:
    try:
        time = int(float(said) * 10**9)
    except (ValueError, OverflowError):
        raise InputError("not a number of seconds", file=file, line=line, field="seconds", found=said) from None
    if time < 0:
        raise InputError("a time before the pod's start", file=file, line=line, field="seconds", found=said)
    return time


def _rows(file: str, lines: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows by column, with their lines."""
    try:
        split = list(csv.reader(lines))
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=file) from None
    head = [word.strip().lower() for word in split[0]]
    allowed = "namespace, pod, seconds, cpu, memory; or as kubectl top prints it, with its header"
    for word in head:
        if word not in ("namespace", "pod", "seconds", "cpu", "memory"):
            raise InputError("not a column of samples", file=file, line=1, field=word, allowed=allowed)
    if "pod" not in head:
        raise InputError("the column pod is missing", file=file, line=1, allowed=allowed)
    rows = []
    for number, parts in enumerate(split[1:], 2):
        if not parts:
            continue
        if len(parts) != len(head):
            raise InputError(f"{len(head)} values are wanted", file=file, line=number, found=len(parts))
        rows.append((number, dict(zip(head, (part.strip() for part in parts), strict=True))))
    return rows
