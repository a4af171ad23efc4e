"""What is demanded of workloads: which texts are understood, and verdicts on runs whose times are known by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gnomon.api import Run
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.properties import parse_property, properties_of
from gnomon.insight.chaos.rules import Rule, Verdict
from gnomon.insight.chaos.workloads import EnoughReady, RolledOutWithin
from gnomon.model.errors import InputError
from tests.systems.kubernetes.play import Object, S, node, play, pod, spec, workload

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("deployment/web has at least 5 ready", EnoughReady("deployment/web", 5)),
        ("Deployment/web  always has >= 5 pods ready.", EnoughReady("deployment/web", 5)),
        ("sts/data/job-db has at least 80 % ready", EnoughReady("sts/data/job-db", Fraction(4, 5))),
        ("every workload has at least 1 ready", EnoughReady("every workload", 1)),
        ("deployment/web is rolled out within 10m", RolledOutWithin("deployment/web", 600 * S)),
    ],
)
def test_texts(text: str, rule: Rule) -> None:
    assert parse_property(text).rule == rule


@pytest.mark.parametrize("text", ["deployment/web has at least 120 % ready", "deployment/web has at least 1.5 ready"])
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="not a number of pods, nor a share"):
        parse_property(text)


def web(version: int, replicas: int = 4) -> Object:
    """Replaced all at once; a new pod is ready after 20 s, an old one stops within 30 s."""
    found = workload("Deployment", "web", replicas, spec(image=f"w:{version}"), strategy={"type": "Recreate"})
    found["spec"]["template"]["metadata"]["annotations"] = {"gnomon.dev/ready-after": "20s"}
    return found


def judge(run: Run, text: str) -> Verdict:
    return parse_property(text).judge(Facts(run.past))


def test_verdicts_on_a_rollout_that_takes_every_pod_down() -> None:
    run = play([node("n"), web(1)], until_s=1800, changes=[(600, [web(2)])])
    for text in ("deployment/web has at least 1 ready", "every workload has at least 1 % ready"):
        verdict = judge(run, text)
        assert not verdict.holds
        assert verdict.found == "deployment/web has 0 of 4 ready from 10m until 10m50s"
        assert run.log.t_ns[verdict.rows[0]] == 600 * S
    assert judge(run, "deploy/default/web is rolled out within 50s").holds
    slow = judge(run, "deployment/web is rolled out within 49s")
    assert (slow.holds, slow.found) == (False, "the version of 10m of deployment/web is out at 10m50s")


def test_verdicts_on_a_workload_that_stays_as_it_is() -> None:
    run = play([node("n"), web(1)], until_s=1800)
    verdict = judge(run, "deployment/web has at least 4 ready")
    assert (verdict.holds, verdict.found) == (True, "deployment/web: at least 4 of 4 ready")


def test_one_that_never_has_so_many_is_no_silent_yes() -> None:
    big = workload("Deployment", "big", 3, spec(requests={"cpu": "3"}))  # two of them fit on a node of 8
    verdict = judge(play([node("n"), big], until_s=1800), "deployment/big has at least 3 ready")
    assert (verdict.holds, verdict.found) == (False, "deployment/big never has so many ready: at most 2")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("deployment/wbe has at least 1 ready", "there is no deployment/wbe; there are deployment/web"),
        ("deployment/web has at least 5 ready", "deployment/web never wants more than 4"),
        ("deployment/web has at least 0 ready", "fewer than none"),
    ],
)
def test_what_can_never_be_judged_is_refused(text: str, why: str) -> None:
    scenario = play([node("n"), web(1)], until_s=60).scenario
    with pytest.raises(InputError, match=why):
        properties_of([text], scenario)


def test_without_workloads_there_is_nothing_to_demand() -> None:
    scenario = play([node("n"), pod("alone")], until_s=60).scenario
    with pytest.raises(InputError, match="it has no workloads that keep pods running"):
        properties_of(["every workload has at least 1 ready"], scenario)
