"""What fuzzing has found, and what it covers: each reader reads its small corpus as it must read any bytes."""

from pathlib import Path

import pytest

from tests.fuzz.oracle import judge, parts
from tests.fuzz.readers import READERS, Reader
from tests.fuzz.seeds import CORPUS, SEEDS, write_seeds

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

    def fails(folder: Path) -> int:
        return int((folder / "x").read_text())

    reader = Reader(fails, "x")
    faults = [judge(reader, content, tmp_path) for content in (b"7", b"seven", b"9" * 30)]
    assert [fault and fault.key.partition(" ")[0] for fault in faults] == [None, "ValueError", "range"]


def test_every_reader_has_something_to_begin_with(tmp_path: Path) -> None:
    for reader in READERS:
        (tmp_path / reader).mkdir()
        write_seeds(reader, tmp_path / reader)
        assert any((tmp_path / reader).iterdir())


def test_an_input_may_stand_for_several_files() -> None:
    assert parts(b"a\n%%% y\nb\n%%% z\nc\n", ("x", "y")) == {"x": b"a", "y": b"b\n%%% z\nc\n"}
