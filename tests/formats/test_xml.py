"""XML: elements with their lines, properties as Hadoop reads them, and what is refused."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.xml import parse_xml, properties, read_properties, read_xml
from gnomon.model.errors import InputError

ONE = """<?xml version="1.0"?>
<!-- a site -->
<configuration>
  <property>
    <name>mapreduce.task.io.sort.mb</name>
    <value> 256 </value>
    <description>more</description>
  </property>
  <property name="a" value="1"/>
</configuration>
"""


def test_properties_with_their_lines() -> None:
    found = properties(ONE, file="mapred-site.xml")
    assert {name: (one.value, one.line) for name, one in found.items()} == {
        "mapreduce.task.io.sort.mb": ("256", 4),
        "a": ("1", 9),
    }


def test_a_final_property_stays() -> None:
    def given_twice(final: str) -> str:
        first = f"<property><name>a</name><value>1</value>{final}</property>"
        return f"<configuration>{first}<property><name>a</name><value>2</value></property></configuration>"

    assert properties(given_twice(""))["a"].value == "2"
    assert properties(given_twice("<final>true</final>"))["a"].value == "1"


def test_a_declared_encoding_is_that_of_the_file_not_of_the_text() -> None:
    assert parse_xml("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>").text == "é"


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "site.xml"
    file.write_text(ONE)
    assert read_properties(file)["a"].file == str(file)
    assert read_xml(file).first("property") is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not XML: no element found"),
        ("<a>", "line 1: not XML: no element found"),
        ("<configuration>\n<property></configuration>", "line 2: not XML: mismatched tag"),
        ("<allocations/>", "not a configuration of Hadoop, found 'allocations'"),
        ("<configuration><prop/></configuration>", "not a property, found '<prop>'"),
        ("<configuration><property><value>1</value></property></configuration>", "a property without a name"),
        ("<configuration><property><nam>a</nam></property></configuration>", "unknown field, found '<nam>'"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "XML with a document type is not read"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "XML with a document type is not read"),
        ("<a>" * 200, "XML deeper than 100 elements"),
        ("<a>\x00</a>", "not XML"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        properties(text)
    assert message in str(error.value)


@given(st.text("<>/abc &;'\"=\n![]-?", max_size=80))
def test_whatever_is_read_it_is_elements_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        parse_xml(text)
