"""Documents fitted to models: the first thing wrong, as one line that names file, line, field and what is allowed."""

from __future__ import annotations

import pytest
from pydantic import Field, model_validator

from gnomon.formats.schema import Name, Spec, validated
from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError


class Box(Spec):
    name: Name
    width: int = 1
    open: bool = False
    labels: dict[Name, Name] = Field(default_factory=dict)


class Shelf(Spec):
    boxes: list[Box]


REFUSED: dict[str, tuple[str, str]] = {
    "a field misspelt": (
        "boxes:\n- name: a\n  widht: 2\n",
        "line 3, boxes[0].widht: unknown field (did you mean 'width'?); allowed: labels, name, open, width",
    ),
    "a field that has no place here": ("shelf: 1", "line 1, shelf: unknown field; allowed: boxes"),
    "a field missing": ("boxes:\n- name: a\n- width: 2\n", "line 3, boxes[1].name: this is missing"),
    "text for a number": ("boxes:\n- name: a\n  width: two\n", "a whole number is wanted, found 'two'"),
    "half a number": (
        "boxes:\n- name: a\n  width: 1.5\n",
        "line 3, boxes[0].width: a whole number is wanted",
    ),
    "a word for a truth value": ("boxes: [{name: a, open: maybe}]", "true or false is wanted, found 'maybe'"),
    "nothing for a list": ("boxes:\n", "line 1, boxes: a list is wanted, found nothing"),
    "a mapping for a list": ("boxes: {a: 1}", "line 1, boxes: a list is wanted, found a mapping"),
    "a list for a mapping": ("boxes:\n- [a]\n", "line 2, boxes[0]: a mapping is wanted, found a list"),
    "a document that is no mapping": ("- a", "line 1: a mapping is wanted, found a list"),
    "a name that is a version": (
        "boxes: [{name: 1.10}]",
        "a name is wanted: text (in quotes",
    ),
    "a name that is blank": ("boxes: [{name: ' '}]", "a name is 1 to 253 printable characters, without ;, found ' '"),
    "a name over two lines": ('boxes: [{name: "a\\nb"}]', "a name is 1 to 253 printable characters"),
    "a name without end": (f"boxes: [{{name: {'a' * 254}}}]", "a name is 1 to 253 printable characters"),
    "of two things wrong the first": (
        "boxes:\n- name: a\n  labels: {b: [1]}\n- width: x\n",
        "line 3, boxes[0].labels.b: a name is wanted",
    ),
}


@pytest.mark.unit
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str) -> None:
    text, problem = REFUSED[case]
    (document,) = parse_yaml(text, file="f.yaml")
    with pytest.raises(InputError) as caught:
        validated(Shelf, document)
    assert str(caught.value).startswith("f.yaml, line ")
    assert problem in str(caught.value)


@pytest.mark.unit
def test_a_long_list_is_left_at_its_first_mistake() -> None:
    looked_at = []

    class Stone(Spec):
        @model_validator(mode="before")
        @classmethod
        def _look(cls, data: object) -> object:
            looked_at.append(data)
            return data

    (document,) = parse_yaml("- {}\n" + "- 1\n" * 1000, file="f.yaml")
    with pytest.raises(InputError, match=r"f.yaml, line 2, \[1\]: a mapping is wanted, found 1"):
        validated(list[Stone], document)
    assert looked_at == [{}, 1]


@pytest.mark.unit
def test_what_fits_becomes_plain_values() -> None:
    (document,) = parse_yaml("boxes: [{name: 7, open: yes, labels: {zone: b}}]")
    assert validated(Shelf, document).boxes == [Box(name="7", open=True, labels={"zone": "b"})]


@pytest.mark.unit
def test_a_part_of_a_document_keeps_its_place() -> None:
    (document,) = parse_yaml("shelves:\n  upper:\n    boxes: 3\n", file="f.yaml")
    with pytest.raises(InputError, match=r"f.yaml, line 3, shelves.upper.boxes: a list is wanted, found 3"):
        validated(Shelf, document.at("shelves", "upper"))
