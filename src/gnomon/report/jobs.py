"""A job described: what each stage says of itself, what crosses the network, and what runs, as tables and a drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text

from gnomon.dataflow.layout import Exchange, Layout, Splits, function_name
from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.dataflow.stage import WIDE, Rule, Stage
from gnomon.model.resources import Resources
from gnomon.report.text import plain, table

PROPERTIES = ("BOUNDED", "PARTITIONS", "STATE", "PROGRESS", "RECOVERS FROM", "RESOURCES")

SplitsOf = Callable[[int], Splits]
"""``splits_of(least)``: the parts of the text files that a job reads, at least so many of each."""


def description(plan: Plan, *, head: str = "", runs: Text | None = None) -> Text:
    """The tables and the drawing, for people; ``head`` and ``runs`` in place of the sentence and the drawing."""
    blocks = [
        Text(head or headline(plan)),
        table(["STAGE", *PROPERTIES], [[stage.name, *properties(stage, plan.layout)] for stage in stages(plan)]),
        Text("OVER THE NETWORK", style="bold") + "\n" + _crossing(plan),
        Text("WHAT RUNS", style="bold") + "\n" + (runs or drawing(plan)),
    ]
    return Text("\n\n").join(blocks)


def document(plan: Plan) -> dict[str, Any]:
    """The same for programs."""
    fields = ("boundedness", "partitions", "state", "progress", "recovery", "resources")
    return {
        "name": plan.name,
        "stages": [
            {"name": stage.name, **dict(zip(fields, properties(stage, plan.layout), strict=True))}
            for stage in stages(plan)
        ],
        "exchanges": [
            {
                "number": exchange.number,
                "from": plan.layout.stages[exchange.source].name,
                "to": plan.layout.stages[exchange.target].name,
                "partitioner": exchange.partitioner,
                "partitions": exchange.partitions,
                "combined": combining(exchange),
            }
            for exchange in plan.exchanges
        ],
        "jobs": [{"name": job.name, "stages": list(job.stages)} for job in plan.jobs],
        "runs": [
            {
                "number": stage.number,
                "tasks": stage.tasks,
                "chain": chain(stage),
                "parents": list(stage.parents),
                "writes": None if stage.writes is None else stage.writes.number,
                "skipped": stage.skipped,
            }
            for stage in plan.stages
        ],
    }


def headline(plan: Plan) -> str:
    """The size of a job in a sentence."""
    tasks = sum(stage.tasks for stage in plan.run)
    return (
        f"{plain(plan.name)}: {many(len(plan.layout.graph.stages), 'operator')}, "
        f"{many(len(plan.exchanges), 'shuffle')}, "
        f"{many(len(plan.jobs), 'job')}, {many(len(plan.run), 'stage')} to run with {many(tasks, 'task')}"
    )


def stages(plan: Plan) -> tuple[Stage, ...]:
    """What the table has a row for."""
    return plan.layout.graph.stages


def properties(stage: Stage, layout: Layout) -> list[str]:
    """The six things that a stage says, as texts."""
    return [
        str(stage.boundedness),
        f"{layout.counts[stage.number]:,}: {parted(stage, layout)}",
        str(stage.state),
        str(stage.progress),
        str(stage.recovery),
        resources(stage.resources),
    ]


def parted(stage: Stage, layout: Layout) -> str:
    """How the records of a stage are parted."""
    rule = stage.partition.rule
    crossing = [exchange for exchange in layout.exchanges if exchange.target == stage.number]
    if stage.operator in WIDE and rule != Rule.BROADCAST:
        return crossing[0].partitioner if crossing else "as its input is already"
    if not stage.inputs:
        return "splits of files" if stage.partition.count is None else "as given"
    if rule == Rule.JOINED:
        return f"those of {' and '.join(layout.stages[one].name for one in stage.inputs)} together"
    return f"as {layout.stages[stage.inputs[0]].name}"


def resources(amount: Resources) -> str:
    """What a task asks for."""
    memory = amount.memory_bytes
    parts = [f"{amount.cpu_milli / 1000:g} cpu"] + [f"{memory / 2**20:,.6g} MiB"] * (memory > 0)
    return ", ".join(parts)


def combining(exchange: Exchange) -> str:
    """Whether and how values are combined before they cross."""
    if callable(exchange.combine):
        return function_name(exchange.combine)
    if not exchange.combine or exchange.aggregate is None:
        return "no"
    return function_name(exchange.aggregate.merge)


def chain(stage: PlanStage) -> list[str]:
    """The operators of a stage that runs, in the order of the records."""
    return [stage.layout.stages[number].name for number in stage.chain]


def drawing(plan: Plan) -> Text:
    """The stages that run as lines, each with what it sends where."""
    readers: dict[tuple[int, int], list[int]] = {}
    for stage in plan.stages:
        for exchange in stage.reads:
            readers.setdefault((stage.job, exchange.number), []).append(stage.number)
    rows: list[str] = []
    for job in plan.jobs:
        if len(plan.jobs) > 1:
            rows.append(f"job {job.number}: {plain(job.name)}")
        for number in job.stages:
            stage = plan.stages[number]
            skipped = ", skipped: its output is there" if stage.skipped else ""
            rows.append(f"[{number}] {plain(' > '.join(chain(stage)))}   {many(stage.tasks, 'task')}{skipped}")
            if stage.writes is not None:
                to = ", ".join(f"[{one}]" for one in readers.get((stage.job, stage.writes.number), ()))
                rows.append(f"      == {sending(stage.writes)} ==> {to}")
            elif stage.samples is not None:
                rows.append(
                    f"      -- a sample of its keys decides the bounds of {plain(job.name.removeprefix('sample for '))}"
                )
    return Text("\n".join(rows))


def sending(exchange: Exchange) -> str:
    """What an exchange does, in few words."""
    combined = combining(exchange)
    after = "" if combined == "no" else f", combined by {combined}"
    if exchange.rule == Rule.BROADCAST:
        return f"broadcast to all{after}"
    return f"{exchange.partitioner} into {exchange.partitions:,}{after}"


def _crossing(plan: Plan) -> Text:
    layout = plan.layout
    rows = [
        [
            layout.stages[exchange.source].name,
            layout.stages[exchange.target].name,
            exchange.partitioner,
            f"{exchange.partitions:,}",
            combining(exchange),
        ]
        for exchange in plan.exchanges
    ]
    edges = sum(len(stage.inputs) for stage in layout.graph.stages)
    stay = edges - len(rows)
    end = f"{many(stay, 'edge')} {'stays' if stay == 1 else 'stay'} within a task"
    if not rows:
        return Text(f"nothing; {end}")
    heads = ["FROM", "TO", "PARTITIONED BY", "INTO", "COMBINED BEFORE"]
    return table(heads, rows, right=[3]) + f"\n{end}"


def many(count: int, word: str) -> str:
    """So many of something."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
