"""What a first use costs: CPU seconds of whole commands, and of compiling the kernels into an empty cache."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from benchmarks.results import ROOT, Row
from benchmarks.slurm import CONF, NODES

COLUMNS = {"what": ("", "{}"), "s": ("CPU s", "{:.1f}")}


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        conf, log = folder / "slurm.conf", folder / "jobs.swf"
        conf.write_text(CONF.format(nodes=NODES["HPC2N"]))
        plain = ("simulate", log, "--cluster", "240", "--policy", "easy")
        taken("generate", log, "--jobs", "5000", "--procs", "240", "--load", "0.5", cache=folder)
        yield {"what": "`gnomon --help`", "s": taken("--help", cache=folder)}
        small = ("simulate", ROOT / "examples" / "why-pending.yaml")
        yield {"what": "a small scenario (plain kernels, nothing compiled)", "s": taken(*small, cache=folder)}
        first, again = taken(*plain, cache=folder), taken(*plain, cache=folder)
        yield {"what": "compiling all kernels, once for each version of them", "s": first - again}
        slurm = ("simulate", log, "--cluster", conf)
        more = taken(*slurm, cache=folder) - taken(*slurm, cache=folder)
        yield {"what": "the same of Slurm's kernels, from 300 jobs on", "s": more}
        yield {"what": "loading the compiled kernels", "s": again - taken(*small, cache=folder)}


def taken(*arguments: object, cache: Path) -> float:
    """CPU time of a command, in seconds."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "gnomon", *map(str, arguments)]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
