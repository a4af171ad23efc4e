"""Compiled kernels: kept for the next process, in a folder that may be missing, damaged or read-only."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

from gnomon.engine import fast
from gnomon.engine.compiling import Role

pytestmark = pytest.mark.slow


def twice(number: int) -> int:
    return 2 * number


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for compiled kernels of which there is one; compiled anew at each call of :func:`doubled`."""
    monkeypatch.setattr(fast, "KERNELS", {twice: Role.ENTRY})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path
    fast._forms.cache_clear()


def doubled(number: int) -> int:
    fast._forms.cache_clear()
    return int(fast.compiled(twice)(number))


def files(cache: Path, pattern: str) -> list[Path]:
    return sorted(cache.rglob(pattern))


def test_what_one_process_compiled_is_there_for_the_next(cache: Path) -> None:
    assert doubled(21) == 42
    (kept,) = files(cache, "*.nbc")
    before = kept.stat().st_mtime_ns
    assert doubled(21) == 42
    assert kept.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"\x80", b"junk"])
@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_a_damaged_file_is_compiled_again(cache: Path, pattern: str, content: bytes) -> None:
    doubled(1)
    (kept,) = files(cache, pattern)
    kept.write_bytes(content)
    assert doubled(21) == 42
    assert doubled(21) == 42
    assert files(cache, pattern)[0].read_bytes() != content


def test_a_folder_where_a_file_should_be(cache: Path) -> None:
    doubled(1)
    (kept,) = files(cache, "*.nbc")
    kept.unlink()
    kept.mkdir()
    assert doubled(21) == 42


@pytest.mark.parametrize("home", ["", "relative", "/dev/null"])
def test_without_a_folder_nothing_is_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setenv("HOME", "/dev/null")
    assert doubled(21) == 42
    assert list(tmp_path.iterdir()) == []


def test_processors_that_share_a_home_have_folders_of_their_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two that compile at once give the same name to code that only one of them can run."""
    assert doubled(21) == 42
    code = type(cpu_target.target_context.codegen())
    monkeypatch.setattr(code, "magic_tuple", lambda self: ("a triple", "another processor", "+avx512f"))
    assert doubled(21) == 42
    assert len(files(cache, "kernels-*")) == 2


def test_folders_that_were_not_used_for_longest_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "FOLDERS_MAX", 2)
    for age, name in enumerate(("old", "older")):
        folder = cache / "gnomon" / f"kernels-{name}"
        folder.mkdir(parents=True)
        os.utime(folder, (1000 - age, 1000 - age))
    assert doubled(21) == 42
    (made,) = set(files(cache, "kernels-*")) - {cache / "gnomon" / "kernels-old"}
    os.utime(made, (1, 1))
    assert doubled(21) == 42
    assert made.stat().st_mtime > 1, "what is used is marked so"


def test_kernels_are_compiled_where_numba_is_told_not_to(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast.config, "DISABLE_JIT", 1)
    assert doubled(21) == 42
    assert files(cache, "*.nbc")
    assert fast.config.DISABLE_JIT == 1


def test_what_cannot_be_compiled_is_raised(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(number: int) -> int:
        return len(number)  # type: ignore[arg-type]

    monkeypatch.setattr(fast, "KERNELS", {wrong: Role.ENTRY})
    with pytest.raises(TypingError, match="len"):
        fast.compiled(wrong)
