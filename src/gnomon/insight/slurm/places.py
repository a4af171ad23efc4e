"""What is the matter with a node or a partition: its state, who is there, who waits and for what."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.classes import NodeClass
from gnomon.insight.explain.phrases import listed, span
from gnomon.insight.slurm.arrays import DEMAND
from gnomon.insight.slurm.moment import in_line
from gnomon.insight.slurm.rehearsal import Rehearsal
from gnomon.insight.slurm.subjects import named
from gnomon.systems.slurm.cluster.state import State

NAMED_MAX = 5


def state_of(state: State, n: int) -> str:
    """The state of a node as sinfo shows it, with the flag behind it."""
    busy = bool(state.occupancy.busy_nodes()[n])
    power = state.power
    if n in state.down:
        return "down"
    if n in state.drained:
        return "draining" if busy else "drained"
    if power is not None and n in power.asleep:
        return "powering_down" if n in state.completing else "idle~"
    if n in state.completing:
        return "completing"
    conf = state.conf.nodes[n]
    idle = int(state.occupancy.columns.columns.idle[n]) > 0
    word = ("mixed" if idle and conf.cpus > 1 else "allocated") if busy else "idle"
    if power is not None and n in power.waking:
        return f"{word}#"
    planned = any(n in job.planned_nodes for job in state.pending if job.planned_ns > state.now_ns)
    return f"{word}-" if planned and word == "idle" else word


def explain_node(name: str, played: Rehearsal) -> Explanation:
    """Explain a node at the time that a rehearsal has come to."""
    state = played.state
    name = named("node", name, [node.name for node in state.conf.nodes])
    n, now = state.node(name), span(state.now_ns)
    word, conf = state_of(state, n), state.conf.nodes[n]
    here = [job for job in state.running if n in job.allocation.nodes]
    why = state.down.get(n) or state.drained.get(n)
    parts = [f"{name} is {word} at {now}" + (f" ({why})" if why else "")]
    if here:
        ends = max(job.end_ns for job in here)
        parts.append(f"{'job' if len(here) == 1 else 'jobs'} {listed([job.name for job in here], NAMED_MAX)} run there")
        if ends and all(job.end_ns for job in here):
            parts.append(f"by their time limits it is empty at {span(ends)}")
    idle = int(state.occupancy.columns.columns.idle[n]) * max(1, conf.cpus // (conf.sockets * conf.cores))
    memory = conf.memory_mb - conf.mem_spec_mb - int(state.occupancy.columns.columns.memory[n])
    free = f"{min(idle, conf.effective_cpus)} of {conf.effective_cpus} CPUs"
    parts.append(
        f"{free} and {memory} of {conf.memory_mb} MB of memory are free" if conf.memory_mb > 1 else f"{free} are free"
    )
    planned = [job for job in state.pending if n in job.planned_nodes and job.planned_ns >= 0]
    for job in sorted(planned, key=lambda job: job.planned_ns)[:2]:
        parts.append(f"backfill keeps it for job {job.name} from {span(job.planned_ns)}")
    for one in state.reservations.values():
        if one.nodes[n] and one.end_ns > state.now_ns:
            parts.append(f"reservation {one.name} has it from {span(one.start_ns)} to {span(one.end_ns)}")
    return Explanation(f"node/{name}", word, "; ".join(parts) + ".", word)


def explain_partition(name: str, played: Rehearsal) -> Explanation:
    """Explain a partition: what its nodes do, who waits for what, and what of that is demand for nodes."""
    state = played.state
    name = named("partition", name, list(state.partitions))
    partition, now = state.partitions[name], span(state.now_ns)
    mine = np.flatnonzero(partition.nodes).tolist()
    words = Counter(state_of(state, n) for n in mine)
    waiting = [job for job in state.pending if name in job.partitions]
    reasons = Counter(job.reason for job in waiting)
    running = [job for job in state.running if job.partition == name]
    demand = sum(count for reason, count in reasons.items() if reason in DEMAND)
    line = [job for job, part in in_line(state) if part is partition]
    text = f"partition {name} ({partition.conf.state}) at {now}: {len(running)} of its jobs run, {len(waiting)} wait"
    if reasons:
        text += f" ({', '.join(f'{count} {reason}' for reason, count in reasons.most_common(4))})"
    if waiting:
        text += f"; of those that wait {demand} are demand for nodes, the others would not start on more of them"
    if line:
        head = line[0]
        text += f"; the first in line is job {head.name} (priority {head.priority}, {head.reason})"
        if head.planned_ns > state.now_ns:
            text += f", which backfill expects to start at {span(head.planned_ns)}"
    classes = []
    for word, count in words.most_common():
        example = next(n for n in mine if state_of(state, n) == word)
        why = state.down.get(example) or state.drained.get(example)
        classes.append(NodeClass(count, state.conf.nodes[example].name, (word, *((why,) if why else ()))))
    return Explanation(
        f"partition/{name}", partition.conf.state.lower(), text + ".", partition.conf.state, (), tuple(classes)
    )
