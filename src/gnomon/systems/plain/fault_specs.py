"""Reads what goes wrong: one of ``faults``, whose kind is the key that names whom it strikes.

>>> from gnomon.formats.yaml import parse_yaml
>>> read_fault(*parse_yaml("{at: 10m, crash: node/n3, for: 5m}")).targets
('node/n3',)
>>> read_fault(*parse_yaml("{crash: [node/*], mtbf: 24h, mttr: 1h}")).mtbf_ns // 10**9
86400
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, create_model

from gnomon.control import faults
from gnomon.control.faults.kind import Unit
from gnomon.formats.schema import COUNT_MAX, Duration, Memory, Name, validated, whole
from gnomon.formats.yaml import Located
from gnomon.model.errors import unknown_name
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.resources import NEVER
from gnomon.systems.plain.amounts import Chance, Part, Rate, Span, check_word

KINDS: Final = {kind.value: kind for kind in Fault}
"""The kinds by the keys that they are."""


_UNITS: Final[dict[Unit, Any]] = {
    Unit.PART: Chance,
    Unit.BYTES: Memory,
    Unit.BYTES_A_SECOND: Rate,
    Unit.NS: Duration,
    Unit.NUMBER: Annotated[int, BeforeValidator(whole(0, COUNT_MAX))],
}
"""How amounts are written."""

AMOUNT_KEYS: Final = tuple(dict.fromkeys(kind.amount.key for kind in faults.KINDS.values() if kind.amount))
"""What the amounts of all kinds are called in a file."""

FIELDS: Final = {
    "at_ns": "at",
    "for_ns": "for",
    "others": "from",
    "mtbf_ns": "mtbf",
    "mttr_ns": "mttr",
    "law": "law",
    "shape": "shape",
    "repair_law": "repair_law",
    "repair_shape": "repair_shape",
    "together": "together",
    "from_ns": "begin",
    "until_ns": "end",
}
"""What the fields of the model are called in a file; ``targets`` has the name of the kind, ``amount`` its own."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else [] if value is None else value


def _shape(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError("a number of at least 0 is wanted")
    return float(value)


_Shape = Annotated[float, BeforeValidator(_shape)]
_Targets = Annotated[list[Name], BeforeValidator(_listed)]


class SingleSpec(Part):
    """A fault that begins ``at`` a time and lasts ``for`` some; without it to the end."""

    at_ns: Duration = Field(default=0, alias="at")
    for_ns: Duration = Field(default=NEVER, alias="for")


class ProcessSpec(Part):
    """Faults at a rate: up for times of mean ``mtbf``, then faulty for times of mean ``mttr``."""

    mtbf_ns: Span = Field(alias="mtbf")
    mttr_ns: Duration = Field(default=0, alias="mttr")
    law: str = Law.EXPONENTIAL.value
    shape: _Shape = 1.0
    repair_law: str = Law.EXPONENTIAL.value
    repair_shape: _Shape = 1.0
    together: bool = False
    from_ns: Duration = Field(default=0, alias="begin")
    until_ns: Duration = Field(default=NEVER, alias="end")


_OF_PROCESSES: Final = frozenset(field.alias or name for name, field in ProcessSpec.model_fields.items())


def _spec(kind: Fault, base: type[Part]) -> type[Part]:
    """The model of one kind of fault."""
    fields: dict[str, Any] = {"targets": (_Targets, Field(alias=kind.value))}
    if faults.KINDS[kind].two_sides:
        fields["others"] = (_Targets, Field(default_factory=list, alias="from"))
    if amount := faults.KINDS[kind].amount:
        default = ... if amount.default is None else amount.default
        fields["amount"] = (_UNITS[amount.unit], Field(default=default, alias=amount.key))
    return create_model(f"{kind.name}_{base.__name__}", __base__=base, **fields)


_SINGLE: Final = {kind: _spec(kind, SingleSpec) for kind in Fault}
_PROCESS: Final = {kind: _spec(kind, ProcessSpec) for kind in Fault}


def read_fault(document: Located) -> Failure | FailureProcess:
    """A fault, or a process of them. Raises :class:`InputError`."""
    kind = _kind(document)
    if _OF_PROCESSES.isdisjoint(document.value):
        return Failure(kind, **_given(validated(_SINGLE[kind], document)))
    given = _given(validated(_PROCESS[kind], document))
    for name in ("law", "repair_law"):
        check_word(document, "law", [law.value for law in Law], name)
        given[name] = Law(given.get(name, Law.EXPONENTIAL.value))
    return FailureProcess(kind, **given)


def _given(spec: Part) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in spec.given().items()}


def _kind(document: Located) -> Fault:
    if not isinstance(document.value, dict):
        raise document.error("a mapping is wanted", found=document.value)
    found = [key for key in document.value if key in KINDS]
    if len(found) == 1:
        return KINDS[found[0]]
    if found:
        raise document.error("a fault is of one kind", found=", ".join(found), allowed="one of them")
    known = {*FIELDS.values(), *AMOUNT_KEYS}
    for key in document.value:
        if key not in known:
            unknown = unknown_name("kind of fault", key, (*KINDS, "trace"))
            raise document.error(unknown.problem, key, allowed=unknown.allowed)
    raise document.error("what goes wrong is missing", allowed=", ".join((*KINDS, "trace")))
