"""Callbacks happen in the order of (time, when they were entered)."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import NEVER
from gnomon.control.timers import Timers


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_what_is_not_cancelled_happens_in_the_order_of_time_and_entry(entries: list[tuple[int, bool]]) -> None:
    timers, said = Timers(), list[tuple[int, int]]()
    numbers = [
        timers.at(time, lambda time=time, i=i: said.append((time, i)))  # type: ignore[misc]
        for i, (time, _) in enumerate(entries)
    ]
    for number, (_, stays) in zip(numbers, entries, strict=True):
        if not stays:
            timers.cancel(number)
    timers.run(9)
    assert said == sorted((time, i) for i, (time, stays) in enumerate(entries) if stays)
    assert timers.next_ns == NEVER


def test_what_comes_to_be_due_meanwhile_happens_too() -> None:
    timers, said = Timers(), list[str]()

    def first() -> None:
        said.append("first")
        timers.at(5, lambda: said.append("second"))

    timers.at(5, first)
    timers.run(5)
    assert said == ["first", "second"]


def test_one_can_take_back_what_is_due_at_the_same_time() -> None:
    timers, said = Timers(), list[str]()
    later: list[int] = []
    timers.at(5, lambda: timers.cancel(later[0]))
    later.append(timers.at(5, lambda: said.append("never")))
    timers.run(5)
    assert said == []


def test_never_is_never() -> None:
    timers = Timers()
    number = timers.at(NEVER, lambda: None)
    assert not timers.holds(number)
    assert timers.next_ns == NEVER


def test_a_callback_is_held_until_it_happens() -> None:
    timers = Timers()
    number = timers.at(3, lambda: None)
    assert timers.holds(number)
    timers.run(3)
    assert not timers.holds(number)
