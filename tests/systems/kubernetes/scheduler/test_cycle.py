"""The cycle: how many nodes are looked at and from where, ties, when nothing is scored, and the words of a failure."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import ZONE, Affinity, NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.profile import Profile, Settings
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler, at_random, nodes_to_find
from gnomon.systems.kubernetes.scheduler.state import State
from tests.systems.kubernetes.build import names, node, pod, refusals, scheduler


def test_e4_how_many_feasible_nodes_are_enough() -> None:
    found = [nodes_to_find(count, 0) for count in (50, 100, 200, 500, 1000, 2500, 5000, 6000)]
    assert found == [50, 100, 100, 230, 420, 750, 500, 300]
    assert nodes_to_find(1000, 1) == 100
    assert nodes_to_find(1000, 70) == 700


def many(count: int) -> State:
    return State([node(f"n{i:03}", pods=1) for i in range(count)])


def test_the_search_begins_where_the_last_one_ended() -> None:
    asked = Scheduler(many(250), Settings(percentage=40))
    first, second, third = (asked.attempt(pod(name)) for name in "pqr")
    assert first.feasible.tolist() == list(range(100))
    assert second.feasible.tolist() == list(range(100, 200))
    assert third.feasible.tolist() == [*range(200, 250), *range(50)]


def test_nodes_that_were_refused_on_the_way_move_the_start_too() -> None:
    state = many(250)
    for i in range(0, 200, 2):
        state.place(pod(f"there-{i}"), f"n{i:03}")
    asked = Scheduler(state, Settings(percentage=40))
    assert asked.attempt(pod("p")).feasible.tolist()[-1] == 199
    assert asked.attempt(pod("q")).feasible[0] == 200


def test_zones_take_turns() -> None:
    state = State([node(f"n{i}", labels={ZONE: zone}) for i, zone in enumerate("aaabbc")])
    assert [state.names[i] for i in state.order] == ["n0", "n3", "n5", "n1", "n4", "n2"]


def test_without_scores_the_first_feasible_node_is_taken() -> None:
    asked = scheduler([node("b"), node("a")], scores=())
    attempt = asked.attempt(pod("p"))
    assert (names(asked, attempt), attempt.total) == (["b"], None)


def test_one_feasible_node_is_not_scored() -> None:
    attempt = scheduler([node("a"), node("b", pods=0)]).attempt(pod("p"))
    assert (attempt.chosen, attempt.scores, attempt.best.tolist()) == (0, (), [0])


def test_a_tie_is_drawn_from_the_seed_and_all_the_best_are_named() -> None:
    state = State([node(name) for name in "abc"])
    draws = Counter(
        Scheduler(state, choose=at_random(np.random.default_rng(seed))).attempt(pod("p")).chosen for seed in range(60)
    )
    assert set(draws) == {0, 1, 2}
    assert Scheduler(state).attempt(pod("p")).best.tolist() == [0, 1, 2]


def pinned(*nodes: str) -> Affinity:
    return Affinity(node_required=(NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", nodes),)),))


def test_names_narrow_the_nodes_and_the_others_say_so() -> None:
    asked = scheduler([node("a", pods=0), node("b"), node("c")])
    attempt = asked.attempt(pod("p", affinity=pinned("a", "gone")))
    assert attempt.message is not None
    assert attempt.message.startswith(
        "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
    )
    assert asked.attempt(pod("q", affinity=pinned("b"))).chosen == 1


def test_a_conflict_of_names_ends_before_any_filter() -> None:
    both = NodeSelectorTerm(match_fields=tuple(Requirement("metadata.name", "In", (name,)) for name in "ab"))
    attempt = scheduler([node("a"), node("b")]).attempt(pod("p", affinity=Affinity(node_required=(both,))))
    assert attempt.message == "0/2 nodes are available: pod affinity terms conflict. not found"


def test_reasons_are_counted_by_node_and_sorted_as_text() -> None:
    nodes = [node(f"n{i}", pods=0) for i in range(10)] + [node("m", unschedulable=True), node("o", unschedulable=True)]
    attempt = scheduler(nodes).attempt(pod("p"))
    assert attempt.message == (
        "0/12 nodes are available: 10 Too many pods, 2 node(s) were unschedulable. "
        "no new claims to deallocate, preemption: 0/12 nodes are available: "
        "10 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    ("post_filters", "ending"),
    [
        (("DynamicResources",), " no new claims to deallocate"),
        (
            ("DefaultPreemption",),
            " preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
        ),
        ((), ""),
    ],
)
def test_a_plugin_that_is_left_out_says_nothing(post_filters: tuple[str, ...], ending: str) -> None:
    attempt = scheduler([node("a", pods=0)], post_filters=post_filters).attempt(pod("p"))
    assert attempt.message == f"0/1 nodes are available: 1 Too many pods.{ending}"


def test_filters_and_scores_that_a_profile_leaves_out_do_not_matter() -> None:
    asked = scheduler(
        [node("a", unschedulable=True), node("b")], filters=("NodeResourcesFit",), scores=(("ImageLocality", 2),)
    )
    attempt = asked.attempt(pod("p"))
    assert names(asked, attempt) == ["a", "b"]
    assert [name for name, _ in attempt.scores] == ["ImageLocality"]


def test_pods_nominated_elsewhere_count_for_those_who_matter_no_more() -> None:
    asked = scheduler([node("a", cpu=1000)])
    urgent = replace(pod("urgent", {"cpu": 800}, priority=10), nominated_node="a")
    asked.state.nominate(urgent, "a")
    assert refusals(asked, pod("p", {"cpu": 300}, priority=10))["a"][2] == ["Insufficient cpu"]
    assert asked.attempt(pod("q", {"cpu": 300}, priority=11)).chosen == 0
    assert asked.attempt(urgent).on_nominated
    asked.state.withdraw(urgent.key)
    assert asked.attempt(pod("r", {"cpu": 300})).chosen == 0


def test_no_nodes_and_no_such_scheduler() -> None:
    assert scheduler([]).attempt(pod("p")).message == "no nodes available to schedule pods"
    with pytest.raises(InputError, match="unknown scheduler"):
        scheduler([node("a")]).attempt(pod("p", scheduler_name="other"))


def test_two_profiles_share_one_state() -> None:
    packer = Profile("packer", scores=(("NodeResourcesFit", 1),))
    asked = Scheduler(State([node("a")]), Settings({"default-scheduler": Profile(), "packer": packer}))
    assert asked.attempt(pod("p", scheduler_name="packer")).profile is packer
