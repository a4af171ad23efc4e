"""How a cluster is run: every field of ``operation`` has its place in the model, and what is refused."""

from __future__ import annotations

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
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
from gnomon.systems.plain.operation_specs import read_operation

S = 10**9
M = 60 * S


def operation(text: str) -> Operation:
    return read_operation(*parse_yaml(text, file="f.yaml"))


@pytest.mark.unit
def test_says_everything() -> None:
    found = operation(
        """
        enforcement: {cpu: pinned, quota: false, memory: none, memory_check: 1s, out_of_memory: largest,
                      disk_fails_below: 10%, spill_rate: 200M, pauses: {above: 0.9, at_full: 40%},
                      pressures: [{resource: disk, below: 1Gi, check: 10s, order: lowest-priority,
                                   grace: 30s, calm: 5m}]}
        detection: {beat: 10s, check: 5s, grace: 40s, since: seen, lag: 1}
        eviction: {after: 5m, every: 10s, zone: zone, partial: 0.55, partial_more: 3, large: 49, partial_every: 100s,
                   all_stop: true}
        orphans: wait
        fence: 60s
        message: 10ms
        speculation: {check: 100ms, multiplier: 1.5, quantile: 0.75, least: 1s}
        control: {members: 3, lease: 15s, step_down: 10s, quorum: false}
        budgets: [{job: "*", unavailable: 1}, {job: j, unavailable: 0}]
        """
    )
    assert found == Operation(
        Enforcement(
            "pinned",
            quota=False,
            memory="none",
            memory_check_ns=S,
            pressures=(Pressure("disk", 2**30, 10 * S, "lowest-priority", 30 * S, 5 * M),),
            out_of_memory="largest",
            disk_fails_below_e4=1000,
            spill_rate=2 * 10**8,
            pauses=Pauses(9000, 4000),
        ),
        Heartbeat(10 * S, 5 * S, 40 * S, "seen", 1),
        Eviction(5 * M, 10 * S, "zone", 5500, 3, 49, 100 * S, all_stop=True),
        "wait",
        60 * S,
        10**7,
        Speculation(10**8, 15_000, 7500, S),
        ControlPlane(3, 15 * S, 10 * S, quorum=False),
        (Budget("*", 1), Budget("j", 0)),
    )


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", Operation()),
        ("{enforcement: {}, detection: {}, eviction: {}, control: {}, budgets: []}", Operation()),
        ("{enforcement: {pauses: {}}}", Operation(Enforcement(pauses=Pauses()))),
        ("{enforcement: {pressures: [{below: 1}]}}", Operation(Enforcement(pressures=(Pressure(below=1),)))),
        ("{detection: {probe: {period: 10s}}}", Operation(detection=Probe(10 * S))),
        ("{detection: {probe: {period: 10s, timeout: 1, misses: 3}}}", Operation(detection=Probe(10 * S, S, 3))),
        ("{speculation: {check: 1s}}", Operation(speculation=Speculation(S))),
    ],
)
def test_what_is_left_out_is_as_the_model_has_it(text: str, expected: Operation) -> None:
    assert operation(text) == expected


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{detecton: {}}", "detecton: unknown field (did you mean 'detection'?); allowed: budgets, control, detection"),
        ("{detection: {beat_ns: 1}}", "detection.beat_ns: unknown field (did you mean 'beat'?); allowed: beat, check"),
        ("{detection: {beat: 10s}}", "detection.grace: shorter than the beat: every node would be taken for lost, fou"),
        ("{detection: {beat: 10s, grace: 9s}}", "detection.grace: shorter than the beat"),
        (
            "{detection: {since: saw}}",
            "detection.since: unknown beginning of silence, found 'saw'; allowed: beat, seen",
        ),
        (
            "{detection: {beat: 1s, grace: 2s, probe: {period: 1s}}}",
            "detection.beat: signs of life and a probe are two",
        ),
        ("{detection: {probe: {}}}", "detection.probe.period: this is missing"),
        ("{detection: }", "detection: a mapping is wanted, found nothing"),
        ("{orphans: kill}", "orphans: unknown answer to orphans, found 'kill'; allowed: replace, wait"),
        ("{enforcement: {cpu: share}}", "enforcement.cpu: unknown rule for processors (did you mean 'shares'?)"),
        (
            "{enforcement: {memory: soft}}",
            "enforcement.memory: unknown rule for memory, found 'soft'; allowed: kill, none",
        ),
        ("{enforcement: {out_of_memory: larges}}", "out_of_memory: unknown order of victims (did you mean 'largest'?)"),
        (
            "{enforcement: {pressures: [{below: 1}, {below: 1, order: youth}]}}",
            "enforcement.pressures[1].order: unknown order of victims, found 'youth'; allowed: ",
        ),
        (
            "{enforcement: {pressures: [{below: 1, resource: cpu}]}}",
            "pressures[0].resource: unknown resource, found 'cpu'",
        ),
        ("{enforcement: {pressures: [{}]}}", "pressures[0].below: this is missing"),
        ("{enforcement: {disk_fails_below: 2}}", "disk_fails_below: not a part (from 0 to 1"),
        ("{eviction: {large: -1}}", "eviction.large: a whole number from 0"),
        ("{speculation: {check: 1s, multiplier: 0.5}}", "speculation.multiplier: a number of at least 1 is wanted"),
        ("{control: {members: 0}}", "control.members: a whole number from 1 to 1000"),
        ("{budgets: [{job: j}]}", "budgets[0].unavailable: this is missing"),
        ("{fence: never}", "fence: not a duration"),
    ],
)
def test_refuses(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        operation(text)
    assert str(caught.value).startswith("f.yaml, line 1")
    assert problem in str(caught.value)
