"""Whatever is done to an event log, it is read, or refused with its place."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.spark.facts import facts
from gnomon.systems.spark.read import read_event_log
from tests.shared import ROOT

pytestmark = pytest.mark.property

LINES = gzip.decompress((ROOT / "tests/golden/spark/spark-log-executor-loss-1.jsonl.gz").read_bytes()).splitlines()
VALUES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.just([])
    | st.just({})
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a document."""
    found = [way] if way else []
    inside = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, one in inside:
        found += places(one, (*way, key))
    return found


def read_or_refused(content: bytes, folder: Path) -> None:
    path = folder / "log"
    path.write_bytes(content)
    try:
        found = read_event_log(path)
    except InputError as error:
        place = error.file
    else:
        json.dumps(facts(found))
        return
    assert place == str(path)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_field_of_any_value(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    line = data.draw(st.integers(0, len(LINES) - 1))
    event = json.loads(LINES[line])
    *way, last = data.draw(st.sampled_from(places(event)))
    inside = event
    for key in way:
        inside = inside[key]
    if data.draw(st.booleans()) and isinstance(inside, dict):
        del inside[last]
    else:
        inside[last] = data.draw(VALUES)
    changed = [*LINES[:line], json.dumps(event).encode(), *LINES[line + 1 :]]
    read_or_refused(b"\n".join(changed) + b"\n", tmp_path_factory.getbasetemp())


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_lines_that_are_gone_doubled_moved_or_cut(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        place, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        what = data.draw(st.sampled_from(("gone", "doubled", "moved", "cut")))
        if what == "gone" and len(lines) > 1:
            del lines[place]
        elif what == "doubled":
            lines.insert(other, lines[place])
        elif what == "moved":
            lines.insert(other, lines.pop(place))
        else:
            lines[place] = lines[place][: data.draw(st.integers(0, len(lines[place])))]
    read_or_refused(b"\n".join(lines), tmp_path_factory.getbasetemp())


@settings(max_examples=40, deadline=None)
@given(content=st.binary(max_size=300))
def test_bytes_that_are_no_log(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    read_or_refused(content, tmp_path_factory.getbasetemp())
