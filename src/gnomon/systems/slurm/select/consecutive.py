"""Best fit in consecutive nodes, the ordinary way: runs of neighbours of one weight, the tightest that suffices first.

Source: ``_eval_nodes_consec`` of ``src/plugins/select/cons_tres/job_test.c`` (22.05, 23.02) and of
``src/plugins/topology/common/eval_nodes.c`` (from 23.11).
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import ask, at
from gnomon.systems.slurm.select.columns import Hardware, Trial
from gnomon.systems.slurm.select.gres_cores import select_cores
from gnomon.systems.slurm.select.picking import completes, enough_nodes, has_gathered, is_done, take_node, take_required


@kernel
def open_run(t: Trial, i: int) -> None:
    """Begin run ``i``; it has no nodes yet."""
    t.run[at.R_CPUS, i] = 0
    t.run[at.R_NODES, i] = 0
    t.run[at.R_REQUIRED, i] = -1
    t.run[at.R_WEIGHT, i] = -1
    for r in range(t.ask[ask.REQUESTS]):
        t.run_total[i, r] = 0


@kernel
def part(t: Trial, i: int, before: int) -> int:
    """End run ``i`` before a node, unless it is empty: the run to go on with."""
    if t.run[at.R_NODES, i] > 0:
        t.run[at.R_LAST, i] = before
        i += 1
        open_run(t, i)
    t.run[at.R_REQUIRED, i] = -1
    return i


@kernel
def least_offer(t: Trial) -> int:
    """CPUs without which a node is of no use to a plain job (see :func:`task_bounds`)."""
    tasks = 1
    if t.ask[ask.TASKS_PER_NODE]:
        tasks = int(t.ask[ask.TASKS_PER_NODE])
    elif t.ask[ask.MAX_NODES] == 1 and t.ask[ask.TASKS]:
        tasks = int(t.ask[ask.TASKS])
    return 0 if t.ask[ask.OVERCOMMIT] else tasks * int(t.ask[ask.CPUS_PER_TASK])


@kernel
def find_runs(h: Hardware, t: Trial) -> int:
    """Part the open nodes into runs; how many there are."""
    i = 0
    open_run(t, 0)
    least = least_offer(t)
    last = -1
    for k in range(t.at[at.OPEN]):
        n = int(t.listed[k])
        if n != last + 1:
            i = part(t, i, last)
            t.run[at.R_WEIGHT, i] = -1
        last = n
        cpus = 0
        if t.open[n] and not t.required[n]:
            if t.at[at.PLAIN]:
                cpus = int(t.offer[n]) if t.offer[n] >= least else 0
            else:
                cpus = select_cores(h, t, n)
            t.here[n] = cpus
        if not t.open[n] or (cpus == 0 and not t.required[n]):
            t.open[n] = 0
            i = part(t, i, n - 1)
            t.run[at.R_WEIGHT, i] = -1
            continue
        if not t.ask[ask.CONTIGUOUS] and t.run[at.R_WEIGHT, i] not in (-1, t.weight[n]):
            i = part(t, i, n - 1)
        if t.run[at.R_NODES, i] == 0:
            t.run[at.R_FIRST, i] = n
        if t.required[n]:
            if t.run[at.R_REQUIRED, i] == -1:
                t.run[at.R_REQUIRED, i] = n
            continue
        t.run[at.R_CPUS, i] += cpus
        t.run[at.R_NODES, i] += 1
        t.run[at.R_WEIGHT, i] = t.weight[n]
        for r in range(t.ask[ask.REQUESTS]):
            t.run_total[i, r] += t.total[n, r]
    if t.run[at.R_NODES, i] > 0:
        t.run[at.R_LAST, i] = last
        i += 1
    return i


@kernel
def suffices(t: Trial, i: int) -> bool:
    """Whether run ``i`` has all that is still wanted."""
    if t.run[at.R_CPUS, i] < t.at[at.CPUS_LEFT] or not enough_nodes(t, int(t.run[at.R_NODES, i])):
        return False
    for r in range(t.ask[ask.REQUESTS]):
        wanted = t.want[r, ask.W_JOB]
        if wanted and t.gathered[r] < wanted and t.gathered[r] + t.run_total[i, r] < wanted:
            return False
    return True


@kernel
def is_better(t: Trial, i: int, best: int, enough: bool, best_enough: bool) -> bool:
    """Whether run ``i`` goes before the best so far."""
    if t.run[at.R_REQUIRED, best] == -1 and t.run[at.R_REQUIRED, i] != -1:
        return True
    if t.run[at.R_WEIGHT, i] < t.run[at.R_WEIGHT, best]:
        return True
    if t.run[at.R_WEIGHT, i] == t.run[at.R_WEIGHT, best]:
        if enough and (not best_enough or t.run[at.R_CPUS, i] < t.run[at.R_CPUS, best]):
            return True
        if not enough and t.run[at.R_CPUS, i] > t.run[at.R_CPUS, best]:
            return True
    return bool(enough and not best_enough and t.ask[ask.CONTIGUOUS])


@kernel
def best_run(t: Trial, runs: int, some_required: bool) -> int:
    """The run to take nodes from next, -1 none."""
    best, best_enough = -1, False
    together = t.ask[ask.CONTIGUOUS]
    for i in range(runs):
        if t.run[at.R_NODES, i] == 0 or (together and some_required and t.run[at.R_REQUIRED, i] == -1):
            continue
        enough = suffices(t, i)
        if best < 0 or is_better(t, i, best, enough, best_enough):
            best, best_enough = i, enough
        if together and some_required:
            for other in range(i + 1, runs):
                if t.run[at.R_REQUIRED, other] != -1:
                    return -1  # the required nodes are not in one block
    return -1 if together and not best_enough else best


@kernel
def keep_tightest(t: Trial, first: int, last: int) -> None:
    """If one node of a run is enough, leave none but the smallest such node."""
    best = -1
    for n in range(first, last + 1):
        if not t.open[n] or t.picked[n] or t.here[n] < t.at[at.CPUS_LEFT] or not completes(t, n):
            continue
        if best < 0 or t.here[n] < t.here[best]:
            best = n
            if t.here[n] == t.at[at.CPUS_LEFT]:
                break
    if best >= 0:
        for n in range(first, last + 1):
            if n != best:
                t.here[n] = 0


@kernel
def take_run(h: Hardware, t: Trial, i: int) -> None:
    """Choose nodes of run ``i`` in order; up, then down, from a required one."""
    first, last = int(t.run[at.R_FIRST, i]), int(t.run[at.R_LAST, i])
    middle = int(t.run[at.R_REQUIRED, i])
    if middle < 0:
        middle = first
        if t.at[at.NODES_LEFT] <= 1:
            keep_tightest(t, first, last)
    alone = t.run[at.R_REQUIRED, i] < 0
    for step in range(last - middle + 1 + max(0, middle - first)):  # it may begin behind nodes that are required
        n = middle + step if middle + step <= last else middle - 1 - (step - (last - middle + 1))
        if t.at[at.MOST_NODES_LEFT] == 0 or is_done(t):
            return
        if t.picked[n] or not t.open[n] or t.here[n] <= 0:
            continue
        if alone and t.at[at.MOST_NODES_LEFT] == 1 and t.here[n] < t.at[at.CPUS_LEFT]:
            continue  # only one more, and this one is too small
        take_node(h, t, n, int(t.here[n]))


@kernel
def pick_consecutive(h: Hardware, t: Trial) -> bool:
    """Choose by best fit in consecutive nodes."""
    done = take_required(h, t)
    if done != 0:
        return done > 0
    some_required = t.at[at.REQUIRED] > 0
    runs = find_runs(h, t)
    while t.at[at.MOST_NODES_LEFT] > 0:
        best = best_run(t, runs, some_required)
        if best < 0:
            break
        take_run(h, t, best)
        if is_done(t):
            return True
        t.run[at.R_CPUS, best] = 0
        t.run[at.R_NODES, best] = 0
    return t.at[at.CPUS_LEFT] <= 0 and has_gathered(t) and enough_nodes(t, 0)
