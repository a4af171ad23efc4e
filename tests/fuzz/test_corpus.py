"""What fuzzing has found, and what it covers: each reader reads its small corpus as it must read any bytes."""

from pathlib import Path

import pytest

from tests.fuzz.oracle import judge, parts
from tests.fuzz.readers import READERS
from tests.fuzz.seeds import CORPUS, SEEDS

pytestmark = pytest.mark.unit

FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
BYTES_MAX = 300_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CORPUS).as_posix())
def test_a_reader_gives_what_fits_in_the_ledger_or_an_input_error(path: Path, tmp_path: Path) -> None:
    fault = judge(READERS[path.parent.name], path.read_bytes(), tmp_path)
    assert fault is None, fault.text


def test_every_reader_has_a_corpus_and_it_stays_small() -> None:
    assert {path.parent.name for path in FILES} == READERS.keys() >= SEEDS.keys()
    assert sum(path.stat().st_size for path in FILES) < BYTES_MAX


def test_what_is_not_caught_is_a_fault(tmp_path: Path) -> None:
    """The oracle sees what a reader must not do."""
    from tests.fuzz.readers import Reader

    def fails(folder: Path) -> int:
        return int((folder / "x").read_text())

    reader = Reader(fails, "x")
    assert judge(reader, b"7", tmp_path) is None
    assert (fault := judge(reader, b"seven", tmp_path)) is not None and fault.key.startswith("ValueError")
    assert (fault := judge(reader, b"9" * 30, tmp_path)) is not None and "64 bits" in fault.text


def test_an_input_may_stand_for_several_files() -> None:
    assert parts(b"a\n%%% y\nb\n%%% z\nc\n", ("x", "y")) == {"x": b"a", "y": b"b\n%%% z\nc\n"}
