"""What fuzzing begins with: files of the project, and the small corpus that is kept of earlier runs."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CORPUS: Final = ROOT / "tests" / "fuzz" / "corpus"
BYTES_MAX: Final = 6_000
SEEDS: Final = {
    "yaml": ("examples/*.yaml", "examples/kubernetes/*.yaml"),
    "scenario": ("examples/*.yaml", "examples/*/*.yaml", "tests/data/explain/*.yaml"),
    "kubernetes": (
        *("examples/kubernetes/*.yaml", "examples/kubernetes/pending/*.yaml"),
        "tests/data/kubernetes/*.json",
    ),
    "slurm-conf": ("tests/data/slurm/conf/*/slurm.conf", "examples/*/slurm.conf"),
    "slurm-accounts": ("tests/data/slurm/accounting/sacctmgr-*", "examples/*/*.dump", "examples/overload/qos.txt"),
    "sbatch": ("tests/data/slurm/sbatch/*.*sh", "examples/slurm/*.sh", "examples/*/*.session"),
    "slurm-printed": (
        *("tests/data/slurm/printed/*/s[qcpid]*", "tests/data/slurm/accounting/s[ph]*.txt"),
        "tests/data/slurm/conf/*/show-*.txt",
    ),
    "sacct": ("tests/data/slurm/printed/sacct/*",),
    "traces": ("tests/data/traces/*.swf", "tests/data/traces/[ot]*.csv", "examples/*/*.csv"),
    "failures": ("tests/data/traces/*-*.csv", "examples/data/LANL*.csv.gz"),
    "spark": ("examples/spark/*.gz", "tests/data/spark/wordcount*"),
    "settings": ("examples/mapreduce/*.xml",),
    "recognise": ("examples/*.yaml", "examples/*/*.*", "tests/data/*/*.*", "tests/data/slurm/*/*.*"),
}
"""Patterns from the project's root, by reader."""


def write_seeds(reader: str, folder: Path) -> None:
    """Each file that a reader begins with, unpacked; text is cut to a size."""
    corpus = CORPUS / reader
    paths = [path for pattern in SEEDS.get(reader, ()) for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    for path in [*paths, *(sorted(corpus.iterdir()) if corpus.is_dir() else ())]:
        content = path.read_bytes()
        if path.parent != corpus:
            content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
            if len(content) > BYTES_MAX and content.isascii():
                content = content[: content.rfind(b"\n", 0, BYTES_MAX) + 1] or content[:BYTES_MAX]
        (folder / f"{zlib.crc32(content):08x}-{path.name}").write_bytes(content)
