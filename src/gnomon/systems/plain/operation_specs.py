"""Reads how a cluster is run: ``operation``, whose parts are those of :class:`gnomon.model.operation.Operation`.

>>> from gnomon.formats.yaml import parse_yaml
>>> (document,) = parse_yaml("{detection: {beat: 10s, grace: 40s}, orphans: wait}")
>>> read_operation(document).orphans
'wait'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from gnomon.formats.schema import Count, Duration, Memory, Name, validated, whole
from gnomon.formats.yaml import Located
from gnomon.model import quantity
from gnomon.model.operation import (
    Budget,
    ControlPlane,
    Enforcement,
    Eviction,
    Heartbeat,
    Operation,
    Pauses,
    Pressure,
    Probe,
    Speculation,
)
from gnomon.resources.victims import ORDERS
from gnomon.systems.plain.amounts import Chance, Number, Part, Rate, Span, check_word

MEMBERS_MAX: Final = 1000
"""The most members of a control plane."""


def _multiplier(value: object) -> int:
    if (multiplier := quantity.parse_e4(value)) < quantity.parse_e4(1):  # type: ignore[arg-type]
        raise ValueError("a number of at least 1 is wanted")
    return multiplier


class PressureSpec(Part):
    """What is done when a node has less than ``below`` left of a resource."""

    resource: str = "memory"
    below: Memory
    check_ns: Duration = Field(default=0, alias="check")
    order: str = Pressure().order
    grace_ns: Duration = Field(default=0, alias="grace")
    calm_ns: Duration = Field(default=0, alias="calm")


class PausesSpec(Part):
    """How tasks pause whose memory is almost full."""

    above_e4: Chance = Field(default=Pauses().above_e4, alias="above")
    at_full_e4: Chance = Field(default=Pauses().at_full_e4, alias="at_full")


class EnforcementSpec(Part):
    """What holds use to what was asked for."""

    cpu: str = Enforcement().cpu
    quota: bool = True
    memory: str = Enforcement().memory
    memory_check_ns: Duration = Field(default=0, alias="memory_check")
    pressures: list[PressureSpec] = Field(default_factory=list)
    out_of_memory: str = Enforcement().out_of_memory
    disk_fails_below_e4: Chance = Field(default=0, alias="disk_fails_below")
    spill_rate: Rate = 0
    pauses: PausesSpec | None = None


class ProbeSpec(Part):
    """The control plane asks."""

    period_ns: Span = Field(alias="period")
    timeout_ns: Duration = Field(default=0, alias="timeout")
    misses: Count = 1


class DetectionSpec(Part):
    """Nodes give signs of life, or the control plane asks (``probe``)."""

    beat_ns: Duration = Field(default=0, alias="beat")
    check_ns: Duration = Field(default=0, alias="check")
    grace_ns: Duration = Field(default=0, alias="grace")
    since: str = Heartbeat().since
    lag: Number = 0
    probe: ProbeSpec | None = None


class EvictionSpec(Part):
    """How the tasks of a lost node are given up."""

    after_ns: Duration = Field(default=0, alias="after")
    every_ns: Duration = Field(default=0, alias="every")
    zone: Name = ""
    partial_e4: Chance = Field(default=0, alias="partial")
    partial_more: Number = Eviction().partial_more
    large: Number = Eviction().large
    partial_every_ns: Duration = Field(default=Eviction().partial_every_ns, alias="partial_every")
    all_stop: bool = False


class SpeculationSpec(Part):
    """When a slow task gets a second copy."""

    check_ns: Span = Field(alias="check")
    multiplier_e4: Annotated[int, BeforeValidator(_multiplier)] = Field(default=15_000, alias="multiplier")
    quantile_e4: Chance = Field(default=7_500, alias="quantile")
    least_ns: Duration = Field(default=0, alias="least")


class ControlSpec(Part):
    """Who decides."""

    members: Annotated[int, BeforeValidator(whole(1, MEMBERS_MAX))] = 1
    lease_ns: Duration = Field(default=0, alias="lease")
    step_down_ns: Duration = Field(default=0, alias="step_down")
    quorum: bool = True


class BudgetSpec(Part):
    """How many tasks of a job may be away at a time for a drain's sake."""

    job: Name
    unavailable: Number


class OperationSpec(Part):
    """How the cluster is run."""

    enforcement: EnforcementSpec = EnforcementSpec()
    detection: DetectionSpec = DetectionSpec()
    eviction: EvictionSpec = EvictionSpec()
    orphans: str = Operation().orphans
    fence_ns: Duration = Field(default=Operation().fence_ns, alias="fence")
    message_ns: Duration = Field(default=0, alias="message")
    speculation: SpeculationSpec | None = None
    control: ControlSpec = ControlSpec()
    budgets: list[BudgetSpec] = Field(default_factory=list)


def read_operation(document: Located) -> Operation:
    """What a document says. Raises :class:`InputError`."""
    spec = validated(OperationSpec, document)
    for kind, allowed, path in _words(spec):
        if path[0] in document.value:
            check_word(document, kind, allowed, *path)
    given = {
        **spec.given(),
        "enforcement": _enforcement(spec.enforcement),
        "detection": _detection(spec.detection, document),
        "eviction": Eviction(**spec.eviction.given()),
        "speculation": None if spec.speculation is None else Speculation(**spec.speculation.given()),
        "control": ControlPlane(**spec.control.given()),
        "budgets": tuple(Budget(**budget.given()) for budget in spec.budgets),
    }
    return Operation(**given)


def _words(spec: OperationSpec) -> Iterator[tuple[str, tuple[str, ...], tuple[str | int, ...]]]:
    """The fields that hold one of some words: what they are, the words, where they stand."""
    orders = tuple(ORDERS)
    yield "rule for processors", ("shares", "pinned", "none"), ("enforcement", "cpu")
    yield "rule for memory", ("kill", "none"), ("enforcement", "memory")
    yield "order of victims", orders, ("enforcement", "out_of_memory")
    for position in range(len(spec.enforcement.pressures)):
        yield "resource", ("memory", "disk"), ("enforcement", "pressures", position, "resource")
        yield "order of victims", orders, ("enforcement", "pressures", position, "order")
    yield "beginning of silence", ("beat", "seen"), ("detection", "since")
    yield "answer to orphans", ("replace", "wait"), ("orphans",)


def _enforcement(spec: EnforcementSpec) -> Enforcement:
    pauses = None if spec.pauses is None else Pauses(**spec.pauses.given())
    pressures = tuple(Pressure(**pressure.given()) for pressure in spec.pressures)
    given: dict[str, Any] = {**spec.given(), "pauses": pauses, "pressures": pressures}
    return Enforcement(**given)


def _detection(spec: DetectionSpec, document: Located) -> Heartbeat | Probe:
    if spec.probe is not None:
        if others := spec.model_fields_set - {"probe"}:
            names = sorted(DetectionSpec.model_fields[name].alias or name for name in others)
            raise document.error("signs of life and a probe are two ways; give one", "detection", names[0])
        return Probe(**spec.probe.given())
    if spec.grace_ns < spec.beat_ns:
        problem = "shorter than the beat: every node would be taken for lost"
        found, beat = quantity.format_duration(spec.grace_ns), quantity.format_duration(spec.beat_ns)
        raise document.error(problem, "detection", "grace", found=found, allowed=f"at least {beat}")
    return Heartbeat(**{name: value for name, value in spec.given().items() if name != "probe"})
