"""What the API server makes of the pods of workloads and changes: defaults, limit ranges, priorities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gnomon.systems.kubernetes.api.objects import Pod, PodSpec, PriorityClass
from gnomon.systems.kubernetes.api.policies import LimitRange
from gnomon.systems.kubernetes.apiserver.admission import AdmissionError, Defaults, defaulted, invalid
from gnomon.systems.kubernetes.apiserver.limits import with_limit_defaults


class Admission:
    """Admits pods; those of one spec share the new one. ``refused``: by key, those that are never taken, and why."""

    def __init__(self, classes: Iterable[PriorityClass], ranges: Iterable[LimitRange]) -> None:
        self._defaults = Defaults(classes)
        self._ranges: dict[str, list[LimitRange]] = {}
        for one in ranges:
            self._ranges.setdefault(one.namespace, []).append(one)
        self._kept: dict[tuple[int, str], tuple[PodSpec, PodSpec]] = {}
        self._checked: dict[int, tuple[PodSpec, tuple[str, ...]]] = {}
        self.refused: dict[str, str] = {}

    def of(self, pod: Pod) -> Pod:
        """The pod as it would be kept."""
        pod = self._limited(pod)
        try:
            made = self._defaults.of(pod)
        except AdmissionError as error:
            self.refused[pod.key] = str(error)
            return pod
        texts = self._said(made.spec)
        if texts:
            text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            self.refused[pod.key] = f'Pod "{pod.name}" is invalid: {text}'
        return made

    def _said(self, spec: PodSpec) -> tuple[str, ...]:
        """What validation says of a spec, looked at once."""
        if id(spec) not in self._checked:
            self._checked[id(spec)] = spec, tuple(invalid(spec))
        return self._checked[id(spec)][1]

    def _limited(self, pod: Pod) -> Pod:
        ranges = self._ranges.get(pod.namespace)
        if not ranges:
            return pod
        key = id(pod.spec), pod.namespace
        if key not in self._kept:
            self._kept[key] = pod.spec, with_limit_defaults(defaulted(pod.spec), ranges)
        return replace(pod, spec=self._kept[key][1])
