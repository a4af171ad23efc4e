"""Whatever can be read of a damaged log is explained, or refused with a reason."""

import gzip
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.insight.spark.answer import explain_log
from gnomon.model.errors import InputError
from gnomon.systems.spark.read import read_event_log
from tests.shared import ROOT

pytestmark = pytest.mark.property

GOLDEN = ROOT / "tests" / "golden" / "spark"
LOGS = [
    gzip.decompress((GOLDEN / f"spark-log-{name}.jsonl.gz").read_bytes()).splitlines()
    for name in ("executor-loss-1", "skew-join-1", "dynamic-allocation-1", "cache-eviction-1")
]
NUMBERS = st.sampled_from((0, 1, -1, 99, 2**40, 10**14))


def numbers_in(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where numbers stand in an event."""
    if isinstance(value, int) and not isinstance(value, bool):
        return [way]
    inside = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [found for key, one in inside for found in numbers_in(one, (*way, key))]


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_logs(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = list(data.draw(st.sampled_from(LOGS)))
    for _ in range(data.draw(st.integers(1, 5))):
        place, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        what = data.draw(st.sampled_from(("gone", "doubled", "moved", "number", "number", "end")))
        if what == "gone" and len(lines) > 1:
            del lines[place]
        elif what == "doubled":
            lines.insert(other, lines[place])
        elif what == "moved":
            lines.insert(other, lines.pop(place))
        elif what == "end":
            del lines[max(place, 5) :]
        else:
            event = json.loads(lines[place])
            ways = numbers_in(event)
            if ways:
                *way, last = data.draw(st.sampled_from(ways))
                inside = event
                for key in way:
                    inside = inside[key]
                inside[last] = data.draw(NUMBERS)
                lines[place] = json.dumps(event).encode()
    path = tmp_path_factory.getbasetemp() / "log"
    path.write_bytes(b"\n".join(lines))
    with suppress(InputError):
        application = read_event_log(path)
        stages = data.draw(st.sampled_from([*application.stages] or [0]))
        for subject in ("app", f"stage/{stages}"):
            json.dumps(explain_log(subject, application).as_dict())
