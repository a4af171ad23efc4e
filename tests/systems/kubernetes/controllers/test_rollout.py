"""How a Deployment is scaled: invariants of ``rolling.go``, and numbers by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.kubernetes.controllers.rollout import Active, Count, fenceposts, resolved, rolling, to_delete

REPLICAS = st.integers(1, 30)
PARTS = st.one_of(st.integers(0, 10), st.integers(0, 100).map(lambda share: f"{share}%"))


@given(REPLICAS, PARTS, PARTS)
def test_something_may_always_move(replicas: int, surge: int | str, unavailable: int | str) -> None:
    more, fewer = fenceposts(surge, unavailable, replicas)
    assert more > 0 or fewer > 0
    assert 0 <= fewer <= replicas


@given(REPLICAS, PARTS, PARTS)
def test_a_rollout_whose_pods_come_one_by_one_gets_there_within_its_bounds(
    replicas: int, surge: int | str, unavailable: int | str
) -> None:
    more, fewer = fenceposts(surge, unavailable, replicas)
    new, old = Count(0), Count(replicas, replicas)
    for _ in range(20 * replicas):
        step = rolling(replicas, more, fewer, new, [old])
        if step is None:
            if new.available == new.wanted:
                break
            new = Count(new.wanted, new.available + 1)
            continue
        for place, wanted in step.to:
            if place:
                new = Count(wanted, new.available)
            else:
                old = Count(wanted, min(old.available, wanted))
        assert new.wanted + old.wanted <= replicas + more
        assert new.available + old.available >= replicas - fewer
    assert (new.wanted, new.available, old.wanted) == (replicas, replicas, 0)


def test_old_pods_that_are_not_available_go_first_however_many_may_be_missing() -> None:
    # None may be unavailable, and the new pod is not yet: but two of the old ones do nothing anyway.
    step = rolling(4, 1, 0, Count(1, 0), [Count(4, 2)])
    assert step is None
    step = rolling(4, 3, 0, Count(3, 3), [Count(4, 2)])
    assert step is not None
    assert step.to == ((0, 1),)


def test_percentages_round_up_for_surge_and_down_for_unavailable() -> None:
    assert [resolved("30%", 7, up=up) for up in (True, False)] == [3, 2]


def test_who_goes_first() -> None:
    pods = [
        Active(0, True, True, 100),
        Active(1, True, True, 200),
        Active(2, True, True, None),
        Active(3, True, False, None),
        Active(4, False, False, None),
        Active(5, True, True, 50, neighbours=3),
    ]
    assert to_delete(pods, 6) == [4, 3, 2, 5, 1, 0]
