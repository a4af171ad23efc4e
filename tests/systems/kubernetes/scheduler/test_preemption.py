"""Preemption: who may, which pods go, and from which node (sheet §7)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.constraints import LabelSelector
from gnomon.systems.kubernetes.api.objects import Condition, Pod, PodDisruptionBudget
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.preemption import Candidate, best_of
from gnomon.systems.kubernetes.scheduler.state import Placed, State, Surroundings
from tests.systems.kubernetes import clusters, naive
from tests.systems.kubernetes.build import app, node, pod, scheduler


def running(asked: Scheduler, where: str, name: str, cpu: int, priority: int, **more: object) -> None:
    start = more.pop("start", None)
    asked.state.place(pod(name, {"cpu": cpu}, priority=priority, **more), where, start_ns=start)  # type: ignore[arg-type]


def outcome(asked: Scheduler, one: Pod) -> tuple[str | None, list[str]]:
    chosen = asked.attempt(one).preemption.chosen
    return (None, []) if chosen is None else (asked.state.names[chosen.node], [v.pod.name for v in chosen.victims])


def urgent(cpu: int = 2000, priority: int = 100, **more: object) -> Pod:
    return pod("urgent", {"cpu": cpu}, priority=priority, **more)


def test_those_who_can_stay_stay_the_most_important_first() -> None:
    asked = scheduler([node("a", cpu=4000)])
    for name, priority in (("low", 1), ("mid", 5), ("high", 9), ("top", 200)):
        running(asked, "a", name, 1000, priority)
    assert outcome(asked, urgent(2000)) == ("a", ["mid", "low"])
    assert outcome(asked, urgent(3000)) == ("a", ["high", "mid", "low"])
    assert outcome(asked, urgent(4000)) == (None, [])


def test_of_equal_priority_the_later_start_goes() -> None:
    asked = scheduler([node("a", cpu=2000)])
    running(asked, "a", "early", 1000, 1, start=10)
    running(asked, "a", "late", 1000, 1, start=20)
    assert outcome(asked, urgent(1000)) == ("a", ["late"])


def test_budgets_that_would_be_violated_are_reprieved_first_but_never_protect() -> None:
    budget = PodDisruptionBudget("guard", selector=app("guard"), disruptions_allowed=0)
    asked = scheduler([node("a", cpu=2000)], Surroundings(budgets=(budget,)))
    running(asked, "a", "guarded", 1000, 1, labels={"app": "guard"})
    running(asked, "a", "free", 1000, 50)
    assert outcome(asked, urgent(1000)) == ("a", ["free"])
    assert outcome(asked, urgent(2000)) == ("a", ["free", "guarded"])


def test_a_budget_runs_out_and_disrupted_pods_do_not_count() -> None:
    budget = PodDisruptionBudget("b", selector=app("x"), disruptions_allowed=1, disrupted_pods=("gone",))
    empty = PodDisruptionBudget("e", selector=LabelSelector(), disruptions_allowed=0)
    asked = scheduler([node("a", cpu=3000)], Surroundings(budgets=(budget, empty)))
    for name in ("gone", "one", "two"):
        running(asked, "a", name, 1000, 1, labels={"app": "x"})
    chosen = asked.attempt(urgent(3000)).preemption.chosen
    assert chosen is not None
    assert chosen.violations == 1


def candidate(number: int, *victims: tuple[int, int], violations: int = 0) -> Candidate:
    asked = scheduler([node("n")])
    placed = [pod(f"v{i}", priority=priority) for i, (priority, _) in enumerate(victims)]
    listed = [Placed(one, asked.state.shape(one), start) for one, (_, start) in zip(placed, victims, strict=True)]
    return Candidate(number, tuple(listed), violations)


def test_the_criteria_in_their_order() -> None:
    violating = candidate(0, (1, 0), violations=1)
    higher = candidate(1, (9, 0))
    more = candidate(2, (8, 0), (8, 0))  # each victim adds 2^31, so one fewer outweighs priorities
    earlier = candidate(3, (8, 10))
    best = candidate(4, (8, 20))
    equal = candidate(5, (8, 20))
    assert [one.node for one in best_of([violating, higher, more, earlier, best, equal])] == [4, 5]
    assert best_of([violating, higher])[0].node == 1
    assert best_of([higher, more])[0].node == 2
    assert best_of([more, earlier])[0].node == 3


def test_never_means_never() -> None:
    asked = scheduler([node("a", cpu=1000)])
    running(asked, "a", "low", 1000, 1)
    message = asked.attempt(urgent(1000, preemption_policy="Never")).message
    assert message is not None
    assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_not_again_while_a_victim_is_still_going() -> None:
    asked = scheduler([node("a", cpu=1000), node("b", cpu=1000)])
    running(asked, "b", "low", 1000, 1)
    condition = Condition("DisruptionTarget", "True", "PreemptionByScheduler")
    going = replace(pod("going", {"cpu": 1000}, priority=1), conditions=(condition,), deletion_ns=5)
    asked.state.place(going, "a")
    waiting = replace(urgent(1000), nominated_node="a")
    message = asked.attempt(waiting).message
    assert message is not None
    assert message.endswith("preemption: not eligible due to a terminating pod on the nominated node.")
    assert outcome(asked, urgent(1000)) == ("a", ["going"])
    asked.state.replace_node(node("a", cpu=1000, unschedulable=True))
    assert outcome(asked, waiting) == ("b", ["low"])


def test_at_most_a_tenth_of_the_nodes_but_a_hundred_are_tried() -> None:
    asked = scheduler([node(f"n{i:03}", cpu=1000) for i in range(150)])
    for name in asked.state.names:
        running(asked, name, f"on-{name}", 1000, 1)
    assert len(asked.attempt(urgent(1000)).preemption.best) == 100


def expected_victims(cluster: naive.Cluster, one: Pod, where: str, starts: dict[str, int]) -> list[str] | None:
    """The victims on one node, every pod judged anew by the naive rules; None: not even without all of them."""
    listed = next(each for each in cluster.nodes if each.name == where)
    lower = [each for each in cluster.on[where] if each.priority < one.priority]
    lower.sort(key=lambda each: (-each.priority, starts[each.key]))
    left = [each for each in cluster.on[where] if each.priority >= one.priority]
    trial = naive.Cluster(cluster.nodes, {**cluster.on, where: left})
    if naive.refusal(trial, one, listed) is not None:
        return None
    victims = []
    for each in lower:
        left.append(each)
        if naive.refusal(trial, one, listed) is not None:
            left.remove(each)
            victims.append(each.key)
    return victims


@pytest.mark.property
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_chosen_node_and_its_victims_are_those_of_the_rules(data: st.DataObject) -> None:
    listed = [data.draw(clusters.nodes(f"n{i}")) for i in range(data.draw(st.integers(1, 4)))]
    templates = data.draw(st.lists(clusters.specs(), min_size=1, max_size=3))
    state = State(listed)
    asked = Scheduler(state, percentage=100)
    cluster, starts = naive.Cluster(listed, {each.name: [] for each in listed}), {}
    for step in range(10):
        new = data.draw(clusters.pods(f"p{step}", templates))
        attempt = asked.attempt(new)
        if attempt.chosen >= 0:
            starts[new.key] = data.draw(st.integers(0, 3)) * 100 + step  # no two alike
            asked.assume(attempt, start_ns=starts[new.key])
            cluster.on[state.names[attempt.chosen]].append(new)
    spec = replace(data.draw(st.sampled_from(templates)), priority=data.draw(st.sampled_from([5, 100])))
    one = data.draw(clusters.pods("urgent", [spec]))
    attempt = asked.attempt(one)
    if attempt.statuses is None:
        return
    ranked = []
    for i in attempt.statuses.resolvable().tolist():
        victims = expected_victims(cluster, one, state.names[i], starts)
        if victims:
            pods = {each.key: each for each in cluster.on[state.names[i]]}
            highest = max(pods[key].priority for key in victims)
            earliest = min(starts[key] for key in victims if pods[key].priority == highest)
            total = sum(pods[key].priority + 2**31 for key in victims)
            ranked.append(((highest, total, len(victims), -earliest), i, victims))
    chosen = attempt.preemption.chosen
    if not ranked:
        assert chosen is None
        return
    least = min(ranked)
    assert chosen is not None
    assert attempt.preemption.best == tuple(i for key, i, _ in ranked if key == least[0])
    assert (chosen.node, [victim.pod.key for victim in chosen.victims]) == least[1:]
