"""Word count on local processes, end to end, against a script by hand: multiprocessing and a Counter.

The text is made first: words drawn by Zipf's law from a vocabulary, the same bytes for the same size. Both read it with
the same number of processes, one after the other on the same machine, and write ``word TAB count`` for each word; the
counts must be equal. The bounds: within 3 times the script's time, all processes together within 1 GB (the sum of their
resident sets, looked at every 50 ms, the process that starts them included).

One GB of text by default, which takes minutes; ``BENCH_SIZE=64M`` asks for less, ``BENCH_DIR`` says where it lies.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter

from benchmarks.results import Row

VOCABULARY = 100_000
JOB = """
from operator import add
from gnomon.dataflow import Dataflow

flow = Dataflow("wordcount")
lines = flow.text("text.txt")
pairs = lines.flat_map(str.split).map(lambda word: (word, 1))
pairs.reduce_by_key(add, partitions=2).sink("out")
"""


PROCESSES, MEMORY = "2", "1Gi"
COLUMNS = {
    "bytes": ("bytes of text", "{:,}"),
    "how": ("", "{}"),
    "s": ("s", "{:.1f}"),
    "cpu_s": ("CPU s", "{:.1f}"),
    "peak_mb": ("peak of all processes, MB", "{:,}"),
    "times": ("× the CPU time by hand", "{:.1f}"),
}


def rows() -> Iterator[Row]:
    from gnomon.model.quantity import parse_memory

    with TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
        folder = Path(name)
        (folder / "job.py").write_text(JOB)
        text = folder / "text.txt"
        generate(text, parse_memory(os.environ.get("BENCH_SIZE", "1G")))
        peer = timed([sys.executable, "-m", "benchmarks.dataflow", "peer", str(text), PROCESSES])
        command = [sys.executable, "-m", "gnomon", "run", str(folder / "job.py")]
        own = timed([*command, "--workers", PROCESSES, "--memory", MEMORY])
        assert counts(folder / "out") == counts(folder / "peer"), "the peer disagrees"
        for how, (spent, cpu, peak) in (("by hand", peer), (f"`gnomon run --memory {MEMORY}`", own)):
            yield {
                "bytes": text.stat().st_size,
                "how": how,
                "s": round(spent, 1),
                "cpu_s": round(cpu, 1),
                "peak_mb": round(peak / 1e6),
                "times": round(cpu / peer[1], 2),
            }


def generate(path: Path, size: int, seed: int = 1) -> None:
    """A text of so many bytes: twelve words a line, the n-th most frequent word with a weight of 1/n."""
    import numpy as np

    random = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = np.array(["".join(random.choice(letters, length)) for length in random.integers(2, 11, VOCABULARY)], object)
    reached = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    done = 0
    with path.open("wb") as file:
        while done < size:
            chosen = words[np.searchsorted(reached / reached[-1], random.random(120_000))]
            data = "".join(" ".join(row) + "\n" for row in chosen.reshape(-1, 12).tolist()).encode()[: size - done]
            file.write(data)
            done += len(data)


def peer(path: str, processes: int) -> None:
    """What one would write by hand: each process counts a range of the file, the counters are added up."""
    size = Path(path).stat().st_size
    cuts = [size * number // processes for number in range(processes + 1)]
    with get_context("fork").Pool(processes) as pool:
        parts = pool.starmap(count, [(path, *cuts[number : number + 2]) for number in range(processes)])
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    out = Path(path).parent / "peer"
    out.mkdir()
    with (out / "part-r-00000").open("w", encoding="utf-8") as file:
        file.writelines(f"{word}\t{times}\n" for word, times in total.items())


def count(path: str, start: int, end: int) -> Counter[str]:
    counter: Counter[str] = Counter()
    with open(path, "rb") as file:
        if start:
            file.seek(start)
            start += len(file.readline())
        for line in file:
            if start > end:
                break
            start += len(line)
            counter.update(line.decode().split())
    return counter


def counts(folder: Path) -> dict[str, str]:
    lines = (line for path in folder.glob("part-*") for line in path.read_text(encoding="utf-8").splitlines())
    return dict(line.split("\t") for line in lines)


def timed(command: list[str]) -> tuple[float, float, int]:
    """How long a command takes [s], the CPU time [s] of it and its children, and the most bytes that they held at
    once."""
    begun, before = perf_counter(), cpu_of_children()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    ended, peak = Event(), [0]

    def watch() -> None:
        while not ended.wait(0.05):
            peak[0] = max(peak[0], sum(map(resident, family(process.pid))))

    watcher = Thread(target=watch)
    watcher.start()
    code = process.wait()
    spent = perf_counter() - begun
    ended.set()
    watcher.join()
    assert code == 0, f"{command} ended with {code}"
    return spent, cpu_of_children() - before, peak[0]


def cpu_of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def family(pid: int) -> Iterator[int]:
    """A process and all that it started, as Linux tells."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    peer(sys.argv[2], int(sys.argv[3]))
