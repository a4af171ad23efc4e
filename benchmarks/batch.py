"""Rigid jobs in one pool: jobs per CPU second of the simulation alone, against plain Python on the same jobs.

The workload is ``gnomon.traces.synthetic.common`` (1,024 processors, load 0.85). Each row runs in a process of its own:
reading and compiling are not counted, the causal log is; the peak memory is that of the whole process. The peers run in
the same process right after: ``peer_batch`` and, where ../shared is there, its ``reference_easy.py``. Starts must be
equal.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from typing import Any

REFERENCE = Path(__file__).parents[2] / "shared" / "oracles" / "easy" / "reference_easy.py"
ROWS = [(jobs, policy) for jobs in (10_000, 100_000, 1_000_000) for policy in ("fcfs", "easy")]
PYTHON = [(100_000, policy) for policy in ("python order (asked once)", "python order (each pass)", "python placement")]
COLUMNS = "{:>9} {:28} {:>11} {:>10} {:>10} {:>8}"


def main() -> None:
    print(COLUMNS.format("jobs", "policy", "jobs/CPU s", "x peer", "x ref.", "peak MB"))
    for jobs, policy in ROWS + PYTHON:
        done = subprocess.run([sys.executable, "-m", "benchmarks.batch", str(jobs), policy], check=True, env=os.environ)
        assert done.returncode == 0


def measure(count: int, policy: str) -> None:
    from gnomon.api import Cluster, Scenario, parse_policy, simulate
    from gnomon.model.scenario import Policy
    from gnomon.traces.synthetic import common

    work = common(count)
    named = {
        "python order (asked once)": Policy(order=in_order_of_submission, backfill="easy"),
        "python order (each pass)": Policy(order=at_each_pass(), backfill="easy"),
        "python placement": Policy(backfill="easy", placement=the_first),
    }
    chosen = named.get(policy) or parse_policy(policy)
    cluster = Cluster.of_processors(1024)
    simulate(Scenario(cluster, common(100), chosen), compiled=True)  # loads the kernels
    run = simulate(Scenario(cluster, work, chosen), compiled=True)
    own = run.timings["simulate"] + run.timings["log"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    starts = run.outcome.start_ns // 10**9
    easy = chosen.backfill == "easy"
    peers = peer_s(work, easy, starts), reference_s(work, easy, starts)
    ratios = [f"{peer / own:.1f}" if peer else "" for peer in peers]
    print(COLUMNS.format(f"{count:,}", policy, f"{count / own:,.0f}", *ratios, peak), flush=True)


def in_order_of_submission(view: Any, tasks: Any) -> Any:
    return view.submit_ns[tasks]


def at_each_pass() -> Any:
    from gnomon.api import dynamic

    return dynamic(lambda view, tasks: view.submit_ns[tasks])


def the_first(view: Any, task: int, nodes: Any) -> int:
    return int(nodes[0])


def peer_s(work: Any, easy: bool, expected: Any) -> float:
    from benchmarks.peer_batch import starts

    jobs = list(zip(*(column.tolist() for column in columns(work)), strict=True))
    begun = process_time()
    found = starts(jobs, 1024, backfill=easy)
    spent = process_time() - begun
    assert found == expected.tolist(), "the peer disagrees"
    return spent


def reference_s(work: Any, easy: bool, expected: Any) -> float | None:
    if not REFERENCE.exists():
        return None
    spec = spec_from_file_location("reference_easy", REFERENCE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = zip(*(column.tolist() for column in columns(work)), strict=True)
    jobs = [(number, *row) for number, row in enumerate(rows, 1)]
    begun = process_time()
    found, _, _ = module.simulate(jobs, 1024, "easy" if easy else "fcfs")
    spent = process_time() - begun
    assert found == expected.tolist(), "the reference disagrees"
    return spent


def columns(work: Any) -> tuple[Any, ...]:
    import numpy as np

    sizes = np.array([shape.request.cpu_milli // 1000 for shape in work.shapes])[work.shape]
    run, estimate = work.duration_ns // 10**9, work.estimate_ns // 10**9
    return work.submit_ns // 10**9, np.minimum(run, estimate), sizes, estimate


if __name__ == "__main__":
    measure(int(sys.argv[1]), sys.argv[2])
