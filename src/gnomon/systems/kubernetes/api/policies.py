"""What the API server holds pods to: quotas and limit ranges.

Names as in ``objects``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.systems.kubernetes.api.objects import Amounts


@dataclass(frozen=True, slots=True)
class ScopeRequirement:
    """A scope of a quota: ``name`` Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass or
    CrossNamespacePodAffinity; ``operator`` In, NotIn, Exists, DoesNotExist."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """A quota: ``hard`` by the names of quotas (``requests.cpu``, ``pods``); ``used``: the status, None where none."""

    name: str
    namespace: str = "default"
    hard: Amounts = field(default_factory=dict)
    used: Amounts | None = None
    scopes: tuple[ScopeRequirement, ...] = ()


@dataclass(frozen=True, slots=True)
class LimitRangeItem:
    """An item of a LimitRange; ``type`` Container, Pod or PersistentVolumeClaim; ratios in 1/1000."""

    type: str
    min: Amounts = field(default_factory=dict)
    max: Amounts = field(default_factory=dict)
    default: Amounts = field(default_factory=dict)
    default_request: Amounts = field(default_factory=dict)
    max_ratio_milli: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LimitRange:
    """A limit range of a namespace."""

    name: str
    namespace: str = "default"
    items: tuple[LimitRangeItem, ...] = ()
