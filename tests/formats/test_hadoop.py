"""Properties as Hadoop reads them, with their lines, and what is refused."""

from pathlib import Path

import pytest

from gnomon.formats.hadoop import properties, read_properties
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


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "site.xml"
    file.write_text(ONE)
    assert read_properties(file)["a"].file == str(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<configuration>\n<property></configuration>", "line 2: not XML: mismatched tag"),
        ("<allocations/>", "not a configuration of Hadoop, found 'allocations'"),
        ("<configuration><prop/></configuration>", "not a property, found '<prop>'"),
        ("<configuration><property><value>1</value></property></configuration>", "a property without a name"),
        ("<configuration><property><nam>a</nam></property></configuration>", "unknown field, found '<nam>'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        properties(text)
    assert message in str(error.value)
