"""YAML and JSON: what a scalar means (YAML 1.2 core schema), where a value stands, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats import yaml
from gnomon.formats.yaml import Located, parse_yaml
from gnomon.model.errors import InputError


def value(text: str) -> Any:
    (document,) = parse_yaml(text)
    return document.value


def tower(line: str, levels: int = 9) -> str:
    """Anchors that each use the one before ten times."""
    aliases = [",".join([f"*a{level}"] * 10) for level in range(levels)]
    return "a0: &a0 {x: 1}\n" + "".join(f"a{n + 1}: &a{n + 1} {line % use}\n" for n, use in enumerate(aliases))


SCALARS: dict[str, tuple[str, Any]] = {
    "a whole number": ("12", 12),
    "octal": ("0o17", 15),
    "hexadecimal": ("0x1f", 31),
    "leading zeros make an id, not a number": ("007", "007"),
    "an exponent needs no point": ("1e3", 1000.0),
    "a point first": (".5", 0.5),
    "true": ("True", True),
    "no is a word (Norway)": ("no", "no"),
    "colons make no number": ("12:30", "12:30"),
    "a date is text": ("2024-01-01", "2024-01-01"),
    "a version is text": ("1.2.3", "1.2.3"),
    "nothing": ("~", None),
    "quotes make text": ("'12'", "12"),
    "so does a tag": ("!!str 12", "12"),
    "a tag that agrees": ("!!int 12", 12),
    "text over lines": ("|\n  one\n  two\n", "one\ntwo\n"),
}

REFUSED: dict[str, tuple[str, str]] = {
    "a tab to indent": ("a:\n\t- b\n", "line 2: not YAML: .*; indent with blanks, not tabs"),
    "brackets that do not close": ("a: [1,\nb: 2\n", "line 3: not YAML"),
    "only comments": ("# nothing\n", "nothing but blanks and comments"),
    "empty documents": ("---\n---\n", "nothing but blanks and comments"),
    "a control character": ("a: 1\nb: \x01\n", "line 2: not YAML: a control character"),
    "a lone surrogate": ("a: \ud800", "characters that are no text"),
    "a key twice": ("a:\n  b: 1\n  b: 2\n", "line 3, a.b: this key is there twice"),
    "a key twice in JSON": ('{"a": 1, "a": 2}', "line 1, a: this key is there twice"),
    "a list as key": ("? [a]\n: b", "a key that is not text"),
    "not a number": ("a:\n- .nan", r"line 2, a\[0\]: not a finite number, found '.nan'"),
    "infinity": ("a: -.inf", "line 1, a: not a finite number, found '-.inf'"),
    "10^400 as a float": ("a: 1e400", "line 1, a: not a finite number, found '1e400'"),
    "10^6000 as a whole number": (f"a: 1{'0' * 6000}", "line 1, a: a number too large, found '1000000"),
    "an object of Python": ("!!python/object/apply:os.system [id]", "a tag that is not read here"),
    "a tag that disagrees": ("a: !!int x", r"not of the type that its tag says \(int\), found 'x'"),
    "an alias without anchor": ("a: 1\nb: *c\n", "line 2: an alias without its anchor before it, found '\\*c'"),
    "an alias inside its own anchor": ("a: &a [*a]", "an alias without its anchor before it"),
    "a bomb of aliases": (tower("[%s]"), "more than 1000000 values, aliases counted each time"),
    "a bomb of merges": (tower("{<<: [%s]}"), "more than 1000000 values, aliases counted each time"),
    "a merge of a scalar": ("a: {<<: 1}", "only a mapping can be merged in"),
    "brackets without end": ("[" * 100_000, "line 1: not YAML"),
    "nested too deep in one line": ("{a: " * 101, "line 1: nested more than 100 deep"),
    "nested too deep over lines": (
        "\n".join(" " * n + "a:" for n in range(200)),
        "line 101: nested more than 100 deep",
    ),
    "nested too deep by aliases": (
        "a0: &a0 [1]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}]\n" for n in range(200)),
        "nested more than 100 deep",
    ),
    "merged too deep": (
        "a0: &a0 {x: 1}\n" + "".join(f"a{n + 1}: &a{n + 1} {{<<: *a{n}}}\n" for n in range(300)),
        "nested more than 100 deep",
    ),
    "broken JSON": ('{"a": 1,\n"b": }}', "line 2: not YAML"),
}


@pytest.mark.unit
@pytest.mark.parametrize("case", SCALARS)
def test_a_scalar_means(case: str) -> None:
    text, expected = SCALARS[case]
    found = value(f"key: {text}")["key"]
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    text, problem = REFUSED[case]
    with pytest.raises(InputError, match=problem) as caught:
        parse_yaml(text, file="f.yaml")
    assert str(caught.value).startswith("f.yaml")


@pytest.mark.unit
def test_every_value_knows_its_line_and_its_path() -> None:
    first, second = parse_yaml("a: 1\nb:\n- c: 2\n  d:\n    e: 3\n---\nx: 1\n", file="f.yaml")
    assert [first.line(*path) for path in [(), ("a",), ("b", 0), ("b", 0, "d"), ("b", 0, "d", "e")]] == [1, 1, 3, 5, 5]
    assert first.at("b", 0).field("d", "e") == "b[0].d.e"
    assert second.line("x") == 7
    assert second.line("not", "there") == 7
    error = first.at("b").error("too small", 0, "c", found=2, allowed="3")
    assert str(error) == "f.yaml, line 3, b[0].c: too small, found 2; allowed: 3"


@pytest.mark.unit
def test_aliases_and_merges_are_expanded_and_what_a_mapping_says_itself_counts() -> None:
    text = "base: &b {x: 1, y: 2}\nother: &o {y: 5, z: 6}\nall:\n  <<: [*b, *o]\n  x: 9\nagain: *b\n"
    assert value(text)["all"] == {"x": 9, "y": 2, "z": 6}
    assert value(text)["again"] == {"x": 1, "y": 2}
    (document,) = parse_yaml(text)
    assert document.line("all", "y") == 1


@pytest.mark.unit
def test_json_that_yaml_does_not_allow_is_read_all_the_same() -> None:
    assert value('{\n\t"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.unit
def test_json_that_is_large_is_read_without_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "_LINES_KNOWN_MAX", 10)
    (document,) = parse_yaml('{"a": [1, 2.5, null, true]}')
    assert (document.value, document.line("a")) == ({"a": [1, 2.5, None, True]}, None)
    with pytest.raises(InputError, match="line 2: not JSON"):
        parse_yaml('{"a": 1,\n"b": }}')


@pytest.mark.unit
def test_a_file_is_no_larger_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "NODES_MAX", 100)
    assert len(value("- 1\n" * 99)) == 99
    with pytest.raises(InputError, match=r"\[99\]: more than 100 values"):
        parse_yaml("- 1\n" * 100)
    with pytest.raises(InputError, match="line 299: more than 100 values"):
        parse_yaml("- 1\n" * 1000)
    monkeypatch.setattr(yaml, "TEXT_BYTES_MAX", 100)
    with pytest.raises(InputError, match="larger than 100 characters"):
        parse_yaml("- 1\n" * 100)


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
documents = st.dictionaries(
    st.text(),
    st.recursive(
        scalars | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    ),
)


@pytest.mark.property
@given(documents)
def test_json_comes_back_as_it_was_written(document: Any) -> None:
    assert value(json.dumps(document)) == document
    assert value(json.dumps(document, indent=1, ensure_ascii=False)) == document


@pytest.mark.property
@given(documents)
def test_yaml_comes_back_as_it_was_written(document: Any) -> None:
    assert value(pyyaml.safe_dump(document, default_style='"', allow_unicode=True)) == document


@pytest.mark.property
@given(st.text() | st.text("ab:-[]{}&*!|>'\"#%@,?<\n\t 01.\\~"))
def test_whatever_text_comes_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        assert all(isinstance(document, Located) for document in parse_yaml(text))


@pytest.mark.parametrize(
    "text",
    [
        "a" + " " * 3_000_000 + "b\n" + "1 PD\n" * 200_000,
        "a: |\n" + "\n" * 3_000_000 + "  b\n" * 200_000,
        "a" + " \t\r\n" * 1_000_000 + "b\n" * 200_000,
    ],
)
def test_runs_of_blanks_over_which_libyaml_sits_without_end_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="more than 16,384 blanks or ends of lines in a row") as caught:
        parse_yaml(text, file="a.yaml")
    assert caught.value.line == 1


def test_directives_that_libyaml_compares_with_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="more than 1,000 directives"):
        parse_yaml("".join(f"%TAG !a{number}! b\n" for number in range(2_000)) + "---\nx\n")


def test_json_may_have_any_blanks() -> None:
    assert parse_yaml("{" + " " * 20_000 + '"a": 1}')[0].value == {"a": 1}
