"""Reads what is done for a task when an attempt of it is lost: ``recovery``.

>>> from gnomon.formats.yaml import parse_yaml
>>> read_recovery(*parse_yaml("retries: 3")).retries[0].limit
3
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from gnomon.formats.schema import Duration, validated, whole
from gnomon.formats.yaml import Located
from gnomon.model import quantity
from gnomon.model.recovery import CAUSES, Backoff, Checkpoint, Recovery, Retry
from gnomon.systems.plain.amounts import Chance, Names, Number, Part, Span, check_word


def _factor(value: object) -> int:
    if not (factor := quantity.parse_e4(value)):  # type: ignore[arg-type]
        raise ValueError("a factor above zero is wanted")
    return factor


class BackoffSpec(Part):
    """Delays before retries."""

    first_ns: Duration = Field(alias="first")
    factor_e4: Annotated[int, BeforeValidator(_factor)] = Field(default=Backoff().factor_e4, alias="factor")
    most_ns: Duration = Field(default=Backoff().most_ns, alias="most")
    free: Number = 0
    jitter_e4: Chance = Field(default=0, alias="jitter")
    reset_ns: Duration = Field(default=Backoff().reset_ns, alias="reset")


class RetrySpec(Part):
    """What follows attempts that ended for one of the causes ``on``; for any, if it is left out."""

    on: Names = Field(default_factory=lambda: list(CAUSES))
    limit: Number = -1
    backoff: BackoffSpec | None = None
    in_place: bool = False


class CheckpointSpec(Part):
    """The state is saved ``every`` so much work."""

    every_ns: Span = Field(alias="every")
    cost_ns: Duration = Field(default=0, alias="cost")
    restart_ns: Duration = Field(default=0, alias="restart")
    durable_ns: Duration = Field(default=0, alias="durable")


class RecoverySpec(Part):
    """What is done for a task; ``retries``: how often, or a list of :class:`RetrySpec`."""

    retries: Any = None
    checkpoint: CheckpointSpec | None = None
    exclude: Annotated[int, BeforeValidator(whole(0, 10**6))] = 0


def read_recovery(document: Located) -> Recovery:
    """What a document says. Raises :class:`InputError`."""
    spec = validated(RecoverySpec, document)
    retries = _retries(document.at("retries")) if "retries" in document.value else Recovery().retries
    checkpoint = None if spec.checkpoint is None else Checkpoint(**spec.checkpoint.given())
    return Recovery(retries, checkpoint, spec.exclude)


def _retries(document: Located) -> tuple[Retry, ...]:
    if not isinstance(document.value, list):
        if isinstance(document.value, bool) or not isinstance(document.value, int):
            allowed = "how many, or a list of {on, limit, backoff, in_place}"
            raise document.error("no retries", found=document.value, allowed=allowed)
        number: Any = Number
        return (Retry(limit=validated(number, document)),)
    specs = validated(list[RetrySpec], document)
    for position, spec in enumerate(specs):
        for place in range(len(spec.on)):
            listed = isinstance(document.value[position].get("on"), list)
            check_word(document, "cause", CAUSES, position, "on", *([place] if listed else []))
    return tuple(
        Retry(
            tuple(spec.on),
            spec.limit,
            Backoff() if spec.backoff is None else Backoff(**spec.backoff.given()),
            spec.in_place,
        )
        for spec in specs
    )
