"""Errors that a user reads: short enough, with the nearest name."""

import pytest

from gnomon.model.errors import NAMES_FEW, NAMES_SHOWN_MAX, InputError, unknown_name

pytestmark = pytest.mark.unit


def test_of_many_names_some_are_listed_and_the_nearest_is_named() -> None:
    names = [f"node-{i:02}" for i in range(40)]
    told = str(unknown_name("node", "nod-39", names))
    assert told.startswith("unknown node (did you mean 'node-39'?), found 'nod-39'; allowed: node-00, node-01,")
    assert told.endswith(f", node-{NAMES_SHOWN_MAX - 1} and 20 more")


def test_of_few_names_all_are_listed() -> None:
    names = [f"n{i:02}" for i in range(NAMES_FEW)]
    assert unknown_name("node", "x", names).allowed == ", ".join(names)


def test_a_place_stays_on_one_line() -> None:
    assert str(InputError("no such file", file="a\nerror: all is well")) == "a\\nerror: all is well: no such file"
