"""YAML that our own reader reads back as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.yaml import parse_yaml
from gnomon.formats.yaml_write import as_yaml

ODD = [
    "1e3",
    "0o17",
    "0x1f",
    "007",
    "no",
    "null",
    "~",
    "<<",
    "=",
    ".inf",
    "-",
    "- a",
    "a: b",
    "12:30",
    "1_000",
    "",
    " a",
]
TEXTS = st.sampled_from(ODD) | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]))
SCALARS = st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | TEXTS, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXTS, inside, max_size=3)
)


@pytest.mark.property
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_is_read_back_as_it_was(value: dict[str, Any]) -> None:
    (document,) = parse_yaml(as_yaml(value))
    assert document.value == value
