"""Rigid jobs in one pool: jobs per CPU second of the simulation alone, against plain Python on the same jobs.

The workload is ``gnomon.traces.synthetic.common`` (1,024 processors, load 0.85). Each row runs in a process of its own:
reading and compiling are not counted, the causal log is; the peak memory is that of the whole process. The peers run in
the same process right after: ``peer_batch`` and, where ../shared is there, its ``reference_easy.py``. Starts must be
equal.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.results import Row, own_process

REFERENCE = Path(__file__).parents[2] / "shared" / "oracles" / "easy" / "reference_easy.py"
ROWS = [(jobs, policy) for jobs in (10_000, 100_000, 1_000_000) for policy in ("fcfs", "easy")]
PYTHON = [
    (100_000, f"{what} written in Python{asked}, with easy")
    for what, asked in (("an order", ", asked once"), ("an order", ", asked at each pass"), ("a placement", ""))
]
COLUMNS = {
    "jobs": ("jobs", "{:,}"),
    "policy": ("policy", "{}"),
    "rate": ("jobs per CPU s", "{:,}"),
    "peer": ("× peer", "{:.1f}"),
    "reference": ("× ref.", "{:.1f}"),
    "peak_mb": ("peak MB", "{:,}"),
}


def rows() -> Iterator[Row]:
    return (own_process("benchmarks.batch", *row) for row in ROWS + PYTHON)


def measure(count: int, policy: str) -> Row:
    from gnomon.api import Cluster, Scenario, parse_policy, simulate
    from gnomon.model.scenario import Policy
    from gnomon.traces.synthetic import common

    work = common(count)
    named = {
        PYTHON[0][1]: Policy(order=in_order_of_submission, backfill="easy"),
        PYTHON[1][1]: Policy(order=at_each_pass(), backfill="easy"),
        PYTHON[2][1]: Policy(backfill="easy", placement=the_first),
    }
    chosen = named.get(policy) or parse_policy(policy)
    cluster = Cluster.of_processors(1024)
    simulate(Scenario(cluster, common(100), chosen), compiled=True)  # loads the kernels
    run = simulate(Scenario(cluster, work, chosen), compiled=True)
    own = run.timings["simulate"] + run.timings["log"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    starts = run.outcome.start_ns // 10**9
    easy = chosen.backfill == "easy"
    peer, reference = peer_s(work, easy, starts) / own, reference_s(work, easy, starts)
    return {
        "jobs": count,
        "policy": policy,
        "rate": round(count / own),
        "peer": round(peer, 2),
        "reference": reference and round(reference / own, 2),
        "peak_mb": peak,
    }


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
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
