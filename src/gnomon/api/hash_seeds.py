"""What a job makes in processes with different hash seeds: the order of sets, and ``hash`` of texts, differ there.

Python seeds its hash anew in every process, unless ``PYTHONHASHSEED`` says otherwise; so two attempts at a task that
run in two workers can make different things, which two in one process never would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, Final

from gnomon.api.jobs import load_job, splits_of
from gnomon.dataflow.execute import Chain, run_plan
from gnomon.dataflow.findings import Finding, Level
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import Plan, PlanStage, cut

SEEDS: Final = ("1", "2")
TIMEOUT_S: Final = 600
_PLACED: Final = " in partition "
_PROGRAM: Final = "from gnomon.api.hash_seeds import told; told()"


def seed_findings(file: str, plan: Plan, limit: int) -> Iterator[Finding]:
    """Run a job in two processes, and compare what each task makes; the first task that differs is looked into."""
    made = _asked(file, limit, None)
    if made is None:
        return
    one, other = made
    for place in one:
        if one[place] != other.get(place):
            number, index = map(int, place.split())
            finding = _looked_into(plan.stages[number], _asked(file, limit, (number, index)))
            if finding is not None:
                yield finding
            return


def _looked_into(stage: PlanStage, made: list[dict[str, Any]] | None) -> Finding | None:
    """The first operator of a task that makes something else with each seed."""
    one, other = made or ({}, {})
    for position, texts in one.items():
        again = other.get(position, [])
        if sorted(texts) != sorted(again):
            mine = next((text for text in texts if text not in again), "nothing")
            same = mine.rpartition(_PLACED)[0] + _PLACED
            others = [text for text in again if text not in texts]
            theirs = next((text for text in others if text.startswith(same)), [*others, "nothing"][0])
            shown = tuple(f"PYTHONHASHSEED={seed}: {text}" for seed, text in zip(SEEDS, (mine, theirs), strict=True))
            level = Level.WARNING if stage.writes is None else Level.ERROR
            problem = "what a task makes depends on the hash seed, which each worker process draws for itself"
            fix = "sort sets before walking through them, and use no hash(); or set PYTHONHASHSEED for all workers"
            return Finding("attempts", level, position.partition(" ")[2], problem, mine, shown, fix)
    return None


def told() -> None:
    """The child's side: read what is asked from stdin, write what was made to stdout."""
    asked = json.load(sys.stdin)
    answer, sys.stdout = sys.stdout, sys.stderr  # what the job prints is no answer
    job = load_job(asked["file"])
    plan = cut(job.graph, Rules(), splits_of(job, limit=asked["limit"]))
    base = run_plan(plan)
    if asked["task"] is None:
        made: dict[str, Any] = {
            f"{one.stage} {one.index}": _digest([one.records] if one.buckets is None else list(one.buckets))
            for one in base.attempts
        }
    else:
        stage = plan.stages[asked["task"][0]]
        made = {}
        for number, part in plan.layout.inside(stage.root, asked["task"][1]):
            records = list(Chain(plan.layout, base.fetch).records(number, part))
            made[f"{len(made)} {plan.layout.stages[number].name}"] = [canonical(record) for record in records]
        if stage.writes is not None:
            reader = plan.layout.stages[stage.writes.target].name
            (attempt,) = [one for one in base.attempts if (one.stage, one.index) == tuple(asked["task"])]
            made[f"{len(made)} {reader}"] = [
                f"{canonical(record)}{_PLACED}{place}"
                for place, bucket in enumerate(attempt.buckets or ())
                for record in bucket
            ]
    json.dump(made, answer)


def canonical(value: Any) -> str:
    """A value as a text that is the same in every process: sets and dicts in the order of their texts.

    >>> canonical(({"b", "a"}, [1.5])), canonical({"x": {2, 1}})
    ("({'a', 'b'}, [1.5])", "{'x': {1, 2}}")
    """
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{canonical(key)}: {canonical(one)}" for key, one in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(canonical, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(canonical, value)) + ("," if len(value) == 1 else "") + ")"
    held = getattr(value, "__dict__", None)
    if held is not None and getattr(type(value), "__repr__", None) is object.__repr__:
        return f"{type(value).__name__}{canonical(held)}"
    return repr(value)


def _digest(parts: list[list[Any] | None]) -> str:
    """Of the bags of records in each part, whatever their order."""
    texts = [sorted(map(canonical, part or ())) for part in parts]
    return sha256(json.dumps(texts).encode()).hexdigest()


def _asked(file: str, limit: int, task: tuple[int, int] | None) -> list[dict[str, Any]] | None:
    """What processes with each of the seeds say, side by side. None where one fails: what fails in every process has
    been found before."""
    question = json.dumps({"file": os.path.abspath(file), "limit": limit, "task": task})
    path = os.pathsep.join(place for place in sys.path if place)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            text=True,
        )
        for seed in SEEDS
    ]
    with ThreadPoolExecutor(len(children)) as pool:
        answers = list(pool.map(lambda child: child.communicate(question, timeout=TIMEOUT_S)[0], children))
    if any(child.returncode != 0 for child in children):
        return None
    return [json.loads(answer) for answer in answers]
