"""``gnomon check``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Gnomon
from tests.shared import EXAMPLES

JOBS = EXAMPLES / "dataflow"


def test_a_wrong_combiner_ends_with_1_and_shows_what_it_gives(gnomon: Gnomon) -> None:
    ended = gnomon("check", JOBS / "average.py")
    assert ended.code == 1
    assert ended.out.startswith("error combiner  ")
    # the true mean of north, 23, is that of the run without a combiner
    assert "  run never: ('north', 23.0)\n" in ended.out
    assert ended.err == "1 error, 0 warnings, 0 notes\n"


def test_the_hot_key_of_the_skewed_join(gnomon: Gnomon) -> None:
    ended = gnomon("check", JOBS / "skewed_join.py", JOBS / "wordcount.py", "-o", "json")
    assert ended.code == 0
    (finding,) = json.loads(ended.out)
    assert (finding["rule"], finding["stage"], finding["record"]) == ("skew", "by customer", "key 7")
    assert "(40 %)" in finding["problem"]


def test_a_function_that_raises(gnomon: Gnomon, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        "from gnomon.dataflow import Dataflow\nflow = Dataflow()\n"
        "def parse(text):\n    return int(text)\n"
        "flow.source([['1', 'x']]).map(parse).collect()\n"
    )
    ended = gnomon("check", job)
    assert ended.code == 1
    assert "shown by: 'x'" in ended.out
    assert "ValueError" in ended.out
    assert "Traceback" not in ended.err
