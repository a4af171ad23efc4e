"""XML: elements with their lines, and what is refused."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.xml import parse_xml, read_xml
from gnomon.model.errors import InputError


def test_a_declared_encoding_is_that_of_the_file_not_of_the_text() -> None:
    assert parse_xml("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>").text == "é"


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "site.xml"
    file.write_text("<a>\n  <b x='1'> text </b>\n</a>\n")
    found = read_xml(file).first("b")
    assert found is not None
    assert (found.line, found.text, found.attributes) == (2, "text", {"x": "1"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not XML: no element found"),
        ("<a>", "line 1: not XML: no element found"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "XML with a document type is not read"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "XML with a document type is not read"),
        ("<a>" * 200, "XML deeper than 100 elements"),
        ("<a>\x00</a>", "not XML"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_xml(text)
    assert message in str(error.value)


@given(st.text("<>/abc &;'\"=\n![]-?", max_size=80))
def test_whatever_is_read_it_is_elements_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        parse_xml(text)
