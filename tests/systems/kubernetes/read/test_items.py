"""Cutting files into objects: the same objects wherever the cuts fall, with the lines of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read import items
from gnomon.systems.kubernetes.read.items import Item, read_items

NASTY = ["plain", "a\n},\n{", '"}', "- x\n---\n", "items:", "  # no comment", "'", "{{ x }}", "", "é\u2028"]
OBJECTS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.just("Pod"),
            "a": st.sampled_from(NASTY),
            "b": st.dictionaries(st.sampled_from("xy"), st.integers()),
        }
    ),
    min_size=1,
    max_size=5,
)
ALWAYS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def found(path: Path, text: str) -> list[Any]:
    path.write_text(text, encoding="utf-8")
    return [one.value if isinstance(one, Item) else one for one in read_items(path)]


@ALWAYS
@given(OBJECTS, st.integers(1, 40), st.booleans())
def test_a_printed_list_is_cut_alike_wherever_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, objects: list[Any], size: int, escaped: bool
) -> None:
    monkeypatch.setattr(items, "_CHUNK_BYTES", size)
    monkeypatch.setattr(items, "_HEAD_BYTES", 120)
    whole = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {}}
    assert found(tmp_path / "f", json.dumps(whole, indent=4, ensure_ascii=escaped)) == objects


@ALWAYS
@given(OBJECTS, st.booleans(), st.sampled_from([2, 4]))
def test_lists_and_documents_of_yaml(tmp_path: Path, objects: list[Any], as_list: bool, indent: int) -> None:
    if as_list:
        text = yaml.dump({"apiVersion": "v1", "items": objects, "kind": "List"}, indent=indent, allow_unicode=True)
    else:
        text = yaml.dump_all(objects, explicit_start=True, indent=indent, allow_unicode=True)
    assert found(tmp_path / "f", text) == objects


def test_a_mistake_in_one_item_leaves_the_others(tmp_path: Path) -> None:
    good = json.dumps({"apiVersion": "v1", "items": [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]}, indent=4)
    values = found(tmp_path / "f", good.replace('"B"', '"B'))
    assert [one["kind"] for one in values if isinstance(one, dict)] == ["A", "C"]
    (error,) = (one for one in values if isinstance(one, InputError))
    assert error.line is not None
    assert error.line in (7, 8)


def test_a_mistake_in_one_document_leaves_the_others(tmp_path: Path) -> None:
    values = found(tmp_path / "f", "kind: A\n---\nkind: [\n---\nkind: C\n")
    assert [one.get("kind") if isinstance(one, dict) else one.line for one in values] == ["A", 4, "C"]


def test_lines(tmp_path: Path) -> None:
    text = "# x\nkind: List\nitems:\n- kind: A\n  b:\n    c: 1\n- {kind: B, b: {c: 2}}\n---\nkind: C\nb: {c: 3}\n"
    (tmp_path / "f").write_text(text)
    lines = [one.line("b", "c") for one in read_items(tmp_path / "f") if isinstance(one, Item)]
    assert lines == [6, 7, 10]


def test_what_is_after_a_list_is_not_lost(tmp_path: Path) -> None:
    text = "items:\n- kind: A\n\n- kind: B\nkind: List\n---\nkind: C\n"
    assert found(tmp_path / "f", text) == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]


def test_an_object_with_items_of_its_own_is_no_list(tmp_path: Path) -> None:
    text = "kind: ConfigMap\nitems:\n  a: b\n"
    assert found(tmp_path / "f", text) == [{"kind": "ConfigMap", "items": {"a": "b"}}]


def test_printed_items_that_do_not_say_what_they_are(tmp_path: Path) -> None:
    pods = {"apiVersion": "v1", "items": [{"kind": "B"}, {"a": 1}, {"a": 2}], "kind": "PodList"}
    named = {"apiVersion": "v1", "kind": "Pod"}
    assert found(tmp_path / "f", json.dumps(pods, indent=4)) == [{"kind": "B"}, {**named, "a": 1}, {**named, "a": 2}]


def test_items_that_do_not_say_what_they_are(tmp_path: Path) -> None:
    pods = "apiVersion: v1\nitems:\n- a: 1\n- kind: B\nkind: PodList\n"
    text = f"{pods}---\nkind: AccessList\nitems:\n- x\nmetadata: {{name: x}}\n"
    assert found(tmp_path / "f", text) == [
        {"apiVersion": "v1", "kind": "Pod", "a": 1},
        {"apiVersion": "v1", "kind": "B"},
        {"kind": "AccessList", "items": ["x"], "metadata": {"name": "x"}},
    ]


def test_documents_that_a_lone_carriage_return_separates_are_not_lost(tmp_path: Path) -> None:
    error = found(tmp_path / "f", "kind: A\r---\rkind: B\r")[0]
    assert isinstance(error, InputError)
    assert "carriage return" in str(error)


def test_a_number_of_too_many_digits_is_an_error_of_the_file(tmp_path: Path) -> None:
    error = found(tmp_path / "f", json.dumps({"kind": "A"})[:-1] + ', "a": ' + "9" * 5000 + "}")[0]
    assert isinstance(error, InputError)
    assert "too large" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "%YAML 1.2\n---\nkind: A\nb: [no]\n",
        "# x\n\n%YAML 1.1  # y\n%OTHER z\n--- # w\nkind: A\nb: [no]\n",
        "%TAG !y! tag:yaml.org,2002:\n---\nkind: !y!str A\nb: !y!seq [no]\n",
        "%YAML 1.2\n--- {kind: A, b: [no]}\n...\n",
    ],
)
def test_directives(tmp_path: Path, text: str) -> None:
    assert found(tmp_path / "f", text) == [{"kind": "A", "b": [False]}]
    again = found(tmp_path / "f", f"kind: Z\n...\n{text}---\nkind: B\n")
    assert again == [{"kind": "Z"}, {"kind": "A", "b": [False]}, {"kind": "B"}]


def test_directives_before_a_list_keep_its_lines(tmp_path: Path) -> None:
    for start in ("%YAML 1.2\n---\n", "%TAG !y! tag:yaml.org,2002:\n---\n"):
        text = f"{start}kind: List\nitems:\n- kind: A\n  b: 1\n- kind: B\n  b: 2\n"
        (tmp_path / "f").write_text(text)
        lines = [one.line("b") for one in read_items(tmp_path / "f") if isinstance(one, Item)]
        assert lines == [6, 8]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("%YAML 2.0\n---\nkind: A\n", 1, "a version of YAML that is not read here, found '%YAML 2.0'"),
        ("%YAML 1.2\nkind: A\n", 2, "after a directive a line --- is wanted"),
    ],
)
def test_directives_that_are_wrong(tmp_path: Path, text: str, line: int, problem: str) -> None:
    (error,) = found(tmp_path / "f", text)
    assert isinstance(error, InputError)
    assert error.line == line
    assert problem in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "kind: List\nitems:\n- kind: A\n- null\n- kind: B\n-\n",
        "kind: List\nitems: [{kind: A},\n\n null, {kind: B},\n~]\n",
        json.dumps({"apiVersion": "v1", "items": [{"kind": "A"}, None, {"kind": "B"}, None], "kind": "List"}, indent=4),
        json.dumps({"kind": "List", "items": [{"kind": "A"}, None, {"kind": "B"}, None]}, indent=2),
    ],
)
def test_items_that_are_nothing_are_told_with_their_line(tmp_path: Path, text: str) -> None:
    values = found(tmp_path / "f", text)
    assert [one for one in values if isinstance(one, dict)] == [{"kind": "A"}, {"kind": "B"}]
    errors = [one for one in values if isinstance(one, InputError)]
    assert [one.problem for one in errors] == ["an item that is nothing (null)"] * 2
    lines = text.split("\n")
    for error in errors:
        assert error.line is not None
        assert lines[error.line - 1].strip(" ,]}") in ("- null", "-", "null", "~", "null, {kind: B")


@pytest.mark.parametrize("text", ["kind: List\nitems: {a: b}\n", '{"kind": "List",\n"items": "x"}'])
def test_a_list_whose_items_are_none(tmp_path: Path, text: str) -> None:
    (error,) = found(tmp_path / "f", text)
    assert isinstance(error, InputError)
    assert (error.line, error.field, error.problem) == (2, "items", "a list is wanted")


def test_objects_printed_after_a_list_within_a_list_are_there_once(tmp_path: Path) -> None:
    inner = {"kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]}
    text = json.dumps({"apiVersion": "v1", "items": [inner, {"a": 1}], "kind": "PodList"}, indent=4)
    assert found(tmp_path / "f", text) == [{"kind": "A"}, {"kind": "B"}, {"apiVersion": "v1", "kind": "Pod", "a": 1}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"kind": "A", "a": "\\ud800"}', "surrogate"),  # half a character: no text could be written of it
        ('{"kind": "A"}\n{"kind": "B", "a": Infinity}', "unexpected character"),
        ('{"kind": "A"} x', "not JSON"),
    ],
)
def test_what_python_takes_for_json_and_is_none(tmp_path: Path, text: str, problem: str) -> None:
    *_, error = found(tmp_path / "f", text)
    assert isinstance(error, InputError)
    assert problem in str(error)
