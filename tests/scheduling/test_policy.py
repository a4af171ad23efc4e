"""Policies as text: what each part means, and what is refused."""

import pytest

from gnomon.api import simulate
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.resources import Resources
from gnomon.model.scenario import Policy, Scenario
from gnomon.model.work import Shape, Task, Work
from gnomon.scheduling.policy import parse_policy, split_policies

pytestmark = pytest.mark.unit

WORK = Work.from_tasks([Task("a", Shape(Resources(cpu_milli=1000)), duration_ns=5)])


def test_the_parts_stand_in_any_order() -> None:
    policy = parse_policy("best-fit+easy:extra=no,reservation=keep+sjf")
    assert (policy.order, policy.backfill, policy.placement) == ("sjf", "easy", "best-fit")
    assert policy.option("easy", "extra", True) is False
    assert policy.option("easy", "reservation", False) is True


def test_what_is_not_said_is_plain() -> None:
    assert parse_policy("fcfs") == Policy()
    assert parse_policy(" easy ") == parse_policy("easy")


def test_a_list_parts_at_commas_that_begin_no_option() -> None:
    text = "sjf, easy:reservation=keep,extra=no,priority:aging=2"
    assert split_policies(text) == ["sjf", "easy:reservation=keep,extra=no", "priority:aging=2"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("esay", "unknown policy (did you mean 'easy'?), found 'esay'; allowed: balanced, "),
        ("EASY", "unknown policy, found 'EASY'"),
        ("", "unknown policy, found ''"),
        ("+easy", "policy +easy: unknown policy, found ''"),
        ("easy+", "policy easy+: unknown policy, found ''"),
        ("fcfs+sjf", "policy: a policy has one order, this has fcfs and sjf, found 'fcfs+sjf'"),
        ("easy+conservative", "policy: a policy has one backfill, this has easy and conservative"),
        ("easy:", "unknown option of easy, found ''; allowed: after-start, "),
        ("easy:extra", "policy easy:extra: not a value of this option, found ''; allowed: yes, no"),
        ("easy:extra=maybe", "policy easy:extra: not a value of this option, found 'maybe'; allowed: yes, no"),
        ("easy:extra=no,extra=yes", "policy easy:extra: this option is there twice"),
        ("easy:exrta=no", "unknown option of easy (did you mean 'extra'?), found 'exrta'"),
        ("conservative:extra=no", "unknown option of conservative, found 'extra'; allowed: "),
        ("priority:aging=", "policy priority:aging: a value is missing"),
        ("fair-share:half-life=-5", "policy fair-share:half-life: not a duration"),
        ("smallest:by=", "policy smallest:by: a value is missing"),
        *(
            (f"priority:aging={number}", f"policy priority:aging: a number from 0 to 2^53 is wanted, found {number!r}")
            for number in ("-1", "nan", "inf", "1e99", "9" * 20, "1_0", "٣", "0x10", "one")
        ),
    ],
)
def test_refuses(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_policy(text)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("smallest:by=zorg", "policy smallest:by: unknown resource, found 'zorg'; allowed: cpu, gpu"),
        ("largest:by=cpu/gpu", "policy largest:by: unknown resource, found 'cpu/gpu'; allowed: cpu, gpu"),
        ("best-fit:over=zorg", "policy best-fit:over: unknown resource, found 'zorg'; allowed: cpu/gpu"),
        ("fgd:classes=0", "policy fgd:classes: a share of the tasks, found 0.0; allowed: above 0, at most 1"),
        ("fgd:classes=1.5", "policy fgd:classes: a share of the tasks, found 1.5"),
        ("fair-share:half-life=0", "policy: not modelled together: half-life of zero"),
        ("conservative+best-fit", "policy: not modelled together: conservative backfill places by its own profile"),
        ("easy+fcfs:full=drop", "policy: not modelled together: easy backfill and full=drop"),
    ],
)
def test_what_does_not_go_with_the_scenario(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        simulate(Scenario(Cluster.of_processors(4), WORK, policy=parse_policy(text)))
    assert str(caught.value).startswith(problem)
