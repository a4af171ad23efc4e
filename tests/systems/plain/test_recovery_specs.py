"""What is done for a task: retries, delays, checkpoints as a file writes them."""

from __future__ import annotations

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.model.recovery import CAUSES, INFRASTRUCTURE, Backoff, Checkpoint, Recovery, Retry
from gnomon.systems.plain.recovery_specs import read_recovery

S = 10**9


def recovery(text: str) -> Recovery:
    return read_recovery(*parse_yaml(text, file="f.yaml"))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Recovery((Retry(INFRASTRUCTURE),))),
        ("{retries: 3}", Recovery((Retry(CAUSES, 3),))),
        ("{retries: 0}", Recovery((Retry(CAUSES, 0),))),
        ("{retries: []}", Recovery(())),
        ("{retries: [{}]}", Recovery((Retry(CAUSES, -1),))),
        (
            "{retries: [{on: exit, limit: 1}, {on: [node, peer]}]}",
            Recovery((Retry(("exit",), 1), Retry(("node", "peer")))),
        ),
        ("{exclude: 2}", Recovery(exclude=2)),
        ("{checkpoint: {every: 2h}}", Recovery(checkpoint=Checkpoint(7200 * S))),
        (
            "{retries: [{on: [exit, memory], limit: 3, in_place: true, backoff: "
            "{first: 10s, factor: 2, most: 5m, free: 1, jitter: 10%, reset: 10m}}], "
            "checkpoint: {every: 2h, cost: 5m, restart: 10m, durable: 1s}, exclude: 2}",
            Recovery(
                (Retry(("exit", "memory"), 3, Backoff(10 * S, 20_000, 300 * S, 1, 1000, 600 * S), True),),
                Checkpoint(7200 * S, 300 * S, 600 * S, S),
                2,
            ),
        ),
        ("{retries: [{backoff: {first: 1, jitter: 0%}}]}", Recovery((Retry(backoff=Backoff(S)),))),
    ],
)
def test_means(text: str, expected: Recovery) -> None:
    assert recovery(text) == expected


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{retires: 3}", "retires: unknown field (did you mean 'retries'?); allowed: checkpoint, exclude, retries"),
        ("{retries: -1}", "retries: a whole number from 0 to 1000000 is wanted, found -1"),
        ("{retries: many}", "retries: no retries, found 'many'; allowed: how many, or a list of {on, limit"),
        ("{retries: true}", "retries: no retries, found True"),
        (
            "{retries: [{on: [exit, memroy]}]}",
            "retries[0].on[1]: unknown cause (did you mean 'memory'?), found 'memroy'",
        ),
        ("{retries: [{on: exti}]}", "retries[0].on: unknown cause (did you mean 'exit'?), found 'exti'"),
        ("{retries: [{limit: 1, backoff: {factor: 2}}]}", "retries[0].backoff.first: this is missing"),
        ("{retries: [{backoff: {first: 1, factor: 0}}]}", "backoff.factor: a factor above zero is wanted, found 0"),
        ("{retries: [{backoff: {first: 1, jitter: 2}}]}", "backoff.jitter: not a part (from 0 to 1"),
        ("{checkpoint: {cost: 5m}}", "checkpoint.every: this is missing"),
        ("{checkpoint: {every: 0}}", "checkpoint.every: a duration above zero is wanted"),
        ("{exclude: -1}", "exclude: a whole number from 0"),
    ],
)
def test_refuses(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        recovery(text)
    assert str(caught.value).startswith("f.yaml, line 1, ")
    assert problem in str(caught.value)
