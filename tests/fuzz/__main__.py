"""Fuzz one reader: ``python -m tests.fuzz READER --minutes 20``. Needs atheris, which is not in the lock file."""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import re
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.fuzz.seeds import ROOT, write_seeds

INSTALL: Final = "atheris is missing: pip install atheris (wheels for Linux; it is not in the lock file)"
COMPILED: Final = re.compile(r"^from gnomon\.engine\.(compiling|fast)|^import numba", re.MULTILINE)
"""Modules with kernels stay as they are: Numba does not compile bytecode that counts edges."""

READING: Final = ("formats", "api", "traces", "systems", "model")
INPUT_BYTES_MAX: Final = 16_000
ADDRESS_SPACE: Final = 6 * 2**30


def main() -> None:
    """Fuzz until the CPU minutes are over. Faults are kept in the work folder, each kind once; their number is the exit
    code."""
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("reader", help="a name in tests/fuzz/readers.py")
    arguments.add_argument("--minutes", type=float, default=20.0, help="CPU minutes")
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "gnomon-fuzz", metavar="FOLDER")
    said = arguments.parse_args()
    try:
        atheris: Any = import_module("atheris")
    except ImportError:
        sys.exit(INSTALL)
    with atheris.instrument_imports(include=["gnomon"], exclude=_left_alone()):
        for name in _modules():
            import_module(name)
        from tests.fuzz.readers import READERS
    if said.reader not in READERS:
        sys.exit(f"no such reader: {said.reader}; there are {', '.join(READERS)}")
    work: Path = said.work / said.reader
    for folder in ("corpus", "faults", "seeds"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    write_seeds(said.reader, work / "seeds")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    _fuzz(atheris, work, _tried(said.reader, said.minutes, work))


def _tried(name: str, minutes: float, work: Path) -> Callable[[bytes], None]:
    """What the fuzzer calls with each input."""
    from tests.fuzz.oracle import judge
    from tests.fuzz.readers import READERS

    memory = Path("/dev/shm")  # files in it cost nothing
    place = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    known: set[str] = set()
    figures = {"cpu_s": 0, "executions": 0, "faults": 0}
    began = time.process_time()

    def tried(data: bytes) -> None:
        figures["executions"] += 1
        fault = judge(READERS[name], data, place)
        if fault is not None and fault.key not in known:
            known.add(fault.key)
            kept = work / "faults" / f"{zlib.crc32(fault.key.encode()):08x}"
            kept.with_suffix(".bin").write_bytes(data)
            kept.with_suffix(".txt").write_text(f"{fault.key}\n{fault.text}\n", errors="backslashreplace")
            sys.stderr.write(f"FAULT {fault.key} -> {kept}.bin\n")
        used = time.process_time() - began
        over = used > 60 * minutes
        if over or used > figures["cpu_s"] + 10:
            figures.update(cpu_s=round(used), faults=len(known))
            (work / f"figures-{os.getpid()}.json").write_text(json.dumps({"reader": name, **figures}))
        if over:
            os._exit(min(len(known), 100))

    return tried


def _fuzz(atheris: Any, work: Path, tried: Callable[[bytes], None]) -> None:
    """Start the fuzzer, which does not return."""
    from tests.fuzz.mutate import crossed, mutator

    seeds = [path.read_bytes() for path in (work / "seeds").iterdir()]
    words = sorted({word for seed in seeds for word in re.findall(rb"[A-Za-z][\w./-]{1,40}", seed)})
    options = [f"-max_len={INPUT_BYTES_MAX}", "-timeout=600", "-rss_limit_mb=0", "-reload=0", "-print_final_stats=1"]
    folders = [f"-artifact_prefix={work}/", str(work / "corpus"), str(work / "seeds")]
    own = mutator(lambda data, most: atheris.Mutate(data, most), words)  # another function once it fuzzes
    atheris.Setup([sys.argv[0], *options, *folders], tried, custom_mutator=own, custom_crossover=crossed)
    atheris.Fuzz()


def _modules() -> list[str]:
    """All modules but those of the interfaces."""
    import gnomon

    names = [one.name for one in pkgutil.walk_packages(gnomon.__path__, "gnomon.")]
    return [name for name in names if not name.startswith(("gnomon.cli", "gnomon.__main__", "gnomon.engine.fast"))]


def _left_alone() -> list[str]:
    """Modules whose edges are not counted: those with kernels, and what readers do not reach."""
    source = ROOT / "src"
    paths = {path: path.relative_to(source).with_suffix("").parts for path in source.glob("gnomon/**/*.py")}
    return [
        ".".join(parts)
        for path, parts in paths.items()
        if parts[1] not in READING or COMPILED.search(path.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    main()
