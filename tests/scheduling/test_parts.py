"""The parts of a policy and their options: what goes together, and what is refused rather than passed over."""

from dataclasses import replace

import pytest

from gnomon.api import Cluster, InputError, Policy, Resources, Scenario, Shape, Task, View, Work, parse_policy, simulate
from gnomon.model.work import IntArray

S = 10**9


def reverse(view: View, tasks: IntArray) -> IntArray:
    return -tasks


@pytest.mark.unit
@pytest.mark.parametrize(
    "text",
    [
        "random:ties=shuffled",
        "gpu-packing:over=cpu",
        "gpu-clustering:scores=percent",
        "fgd:over=cpu",
        "first-fit:over=cpu",
    ],
)
def test_an_option_that_means_nothing_to_a_placement_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="unknown option"):
        parse_policy(text)


@pytest.mark.unit
def test_an_order_in_python_keeps_the_options_of_the_one_it_replaces() -> None:
    one = Shape(Resources(cpu_milli=1000))
    work = Work.from_tasks([Task(name, one, submit_ns=i * S, duration_ns=10 * S) for i, name in enumerate("abcd")])
    machine = Cluster.of_processors(1)
    starts = {}
    for head in ("free", "committed"):
        policy = parse_policy(f"fcfs:head={head}").with_order(reverse)
        starts[head] = (simulate(Scenario(machine, work, policy), compiled=False).outcome.start_ns // S).tolist()
    # Once b has begun to wait, a scheduler that is committed to it does not turn to c and d, which come before it.
    assert starts == {"free": [0, 30, 20, 10], "committed": [0, 10, 30, 20]}


@pytest.mark.unit
def test_options_of_a_part_that_the_policy_lacks_are_refused() -> None:
    stray = replace(parse_policy("sjf:head=committed"), order=reverse)
    with pytest.raises(InputError, match=r"part with options.*sjf.*allowed: first-fit, order"):
        simulate(Scenario(Cluster.of_processors(1), Work.from_tasks([Task("a")]), stray))


@pytest.mark.unit
@pytest.mark.parametrize(("text", "named"), [("sjf+easy", "reverse+easy"), ("easy:extra=no", "reverse+easy:extra=no")])
def test_the_text_of_a_policy_names_its_order(text: str, named: str) -> None:
    policy: Policy = parse_policy(text).with_order(reverse)
    assert policy.text == named
