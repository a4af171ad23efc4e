"""What depends on the hash seed of a process is found, though two attempts in one process are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.checking import check_job
from gnomon.api.jobs import load_job
from gnomon.dataflow.findings import Finding, Level

pytestmark = pytest.mark.slow

START = "from gnomon.dataflow import Dataflow\nflow = Dataflow()\nlines = flow.source([['to be or not to be']])\n"


def found(folder: Path, text: str) -> list[Finding]:
    (folder / "job.py").write_text(START + text)
    return check_job(load_job(folder / "job.py"))


def test_a_partitioner_by_pythons_hash(tmp_path: Path) -> None:
    text = "words = lines.flat_map(str.split).key_by(str)\n"
    text += "words.group_by_key(partitions=64, partitioner=hash, name='g').collect()\n"
    (finding,) = found(tmp_path, text)
    assert (finding.rule, finding.level, finding.stage) == ("attempts", Level.ERROR, "g")
    one, other = (text.partition(": ")[2].partition(" in partition ") for text in finding.alternatives)
    assert one[0] == other[0]
    assert one[2] != other[2]


def test_the_first_of_a_set(tmp_path: Path) -> None:
    text = "lines.map(lambda line: list(set(line.split())), name='words').collect()\n"
    (finding,) = found(tmp_path, text)
    assert (finding.rule, finding.level, finding.stage) == ("attempts", Level.WARNING, "words")
    assert [one.split(":")[0] for one in finding.alternatives] == ["PYTHONHASHSEED=1", "PYTHONHASHSEED=2"]


@pytest.mark.parametrize(
    "made", ["set(line.split())", "sorted(set(line.split()))", "{word: 1 for word in set(line.split())}"]
)
def test_sets_as_such_are_the_same_everywhere(tmp_path: Path, made: str) -> None:
    assert found(tmp_path, f"lines.map(lambda line: {made}).collect()\n") == []
