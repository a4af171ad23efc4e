"""The fast reader of YAML means what the general one means, or says that it does not know."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read.block_yaml import BlockReader, NotPlainError

TEXTS = st.text("ab:- #'\"{}|&*!0.1eé\\,~ny", max_size=8) | st.sampled_from(
    ["yes", "null", "1e3", "0x1f", "007", "-1", "Off", "1_0"]
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-100, 100) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z./-]{1,6}", fullmatch=True), inner),
    max_leaves=12,
)


def fast(text: str) -> Any:
    return BlockReader().read(text.split("\n"))


@given(st.dictionaries(st.sampled_from(["a", "b", "c.d/e"]), VALUES, min_size=1), st.booleans())
def test_what_is_dumped_is_read_as_the_general_reader_reads_it(value: dict[str, Any], indented: bool) -> None:
    text = yaml.dump(value, default_flow_style=False, indent=4 if indented else 2, width=10**6)
    with suppress(NotPlainError, InputError):
        assert fast(text) == parse_yaml(text, yaml_1_1=True)[0].value


@given(st.lists(st.text("?ab:-#'\"| \t{}[]&*>\r\x85\u2028", max_size=10), min_size=1, max_size=6).map("\n".join))
def test_any_text_is_read_alike_or_left_alone(text: str) -> None:
    with suppress(NotPlainError):
        value = fast(text)
        assert value == parse_yaml(text, yaml_1_1=True)[0].value


@pytest.mark.parametrize("ending", ["\r", "\x85", "\u2028", "\u2029"])
def test_what_follows_another_end_of_line_in_a_comment_is_not_lost(ending: str) -> None:
    with pytest.raises(NotPlainError):
        fast(f"a:\n# why{ending}  b: 1\n")


PLAIN = {
    "lists beside and below their key": ("a:\n- 1\n- b: c\n  d:\n    - x\n", {"a": [1, {"b": "c", "d": ["x"]}]}),
    "nothing": ("a:\nb: {}\nc: []\nd: ~\n", {"a": None, "b": {}, "c": [], "d": None}),
    "quotes": ("a: 'it''s'\nb: \"x: #y\"\nc: \"\\u00e9\\n\"\n", {"a": "it's", "b": "x: #y", "c": "é\n"}),
    "comments and blanks": ("# x\na: 1\n\n  # y\nb: 2\n", {"a": 1, "b": 2}),
    "text that is kept": ("a: |\n  x\n\n    y: z\nb: |-\n  # x\nc: 1\n", {"a": "x\n\n  y: z\n", "b": "# x", "c": 1}),
    "types": (
        "a: 1e3\nb: true\nc: no\nd: 12:30\ne: 017\nf: 1_000\ng: nope\n",
        {"a": 1000.0, "b": True, "c": False, "d": "12:30", "e": 15, "f": 1000, "g": "nope"},
    ),
}


@pytest.mark.parametrize("case", PLAIN)
def test_plain_forms_are_read_fast(case: str) -> None:
    text, value = PLAIN[case]
    assert fast(text) == value
    assert parse_yaml(text, yaml_1_1=True)[0].value == value


@pytest.mark.parametrize(
    "text",
    ["a: 1\na: 2", "a: &x 1", "a: *x", "a: {b: c}", "a: [1]", "a: >\n  x", "a: x\n  y", "a: !t 1", "a: .inf",
     "a: 1e999", "a: b: c", "\ta: 1", "a:\n\t- b", "? a", "a: 'x\n  y'", "-", "- - a", "a: x # y", "", "a", "<<: {}"],
)  # fmt: skip
def test_everything_else_is_left_to_the_general_reader(text: str) -> None:
    with pytest.raises(NotPlainError):
        fast(text)


def test_blocks_can_be_left_out() -> None:
    lines = "a:\n  skip:\n    b: 'odd\n     text'\n  c: 1\nskip:\n- x: y\n  z\n- 2\nd: 2\nskip2: 3".split("\n")
    assert BlockReader(frozenset(["skip"])).read(lines) == {
        "a": {"skip": None, "c": 1},
        "skip": None,
        "d": 2,
        "skip2": 3,
    }
