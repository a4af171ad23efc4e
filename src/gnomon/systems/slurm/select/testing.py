"""The test of one job: which nodes, which cores, which devices it would get.

Source: ``_job_test``, ``_select_nodes``, ``choose_nodes`` of ``src/plugins/select/cons_tres/job_test.c``; the sets of
nodes are those of ``_pick_best_nodes`` of ``src/slurmctld/node_scheduler.c``, which asks cons_tres once for all of them
(``single_select_job_test``) and linear for one after the other. What the source asks first, whether the
job would fit if nobody were there, is asked only by :func:`test` with EVER: who fits among others fits alone.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.ask import load
from gnomon.systems.slurm.select.at import reset
from gnomon.systems.slurm.select.columns import ANY_COUNT, BITS, Demands, Hardware, Occupied, Trial
from gnomon.systems.slurm.select.consecutive import pick_consecutive
from gnomon.systems.slurm.select.devices import take_devices
from gnomon.systems.slurm.select.free import is_free
from gnomon.systems.slurm.select.layout import lay_out
from gnomon.systems.slurm.select.linear import pick_linear
from gnomon.systems.slurm.select.nodes import is_plain, offer_node, sees_through
from gnomon.systems.slurm.select.offering import offer_cores
from gnomon.systems.slurm.select.orders import pick_in_order
from gnomon.systems.slurm.select.picking import begin
from gnomon.systems.slurm.select.rule import gives_cores
from gnomon.systems.slurm.select.tree import pick_tree

NOW: Final = 0
"""Now, on what is free."""
EVER: Final = 1
"""On the nodes as if they were empty; only whether, not where."""
PLAN: Final = 2
"""On what will be free, as backfill asks it."""
SOON: Final = 3
"""Now, as backfill asks it: whether the memory suffices for the cores that come out is found when the job starts."""


@kernel
def pick(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Choose among the open nodes in the way that holds (``_eval_nodes``)."""
    contiguous = t.ask[ask.CONTIGUOUS]
    busy_first = t.ask[ask.PLAN] and h.rule[rule.BUSY_NODES] and not contiguous
    lln = h.rule[rule.LLN] or t.ask[ask.LLN]
    spread = t.ask[ask.SPREAD]
    begin(t, int(spread or busy_first or lln))
    if h.rule[rule.LINEAR]:
        return pick_linear(h, t)
    if spread:
        return pick_in_order(h, o, t, 0)
    if busy_first:
        return pick_in_order(h, o, t, 2)
    if lln:
        return pick_in_order(h, o, t, 4)
    if h.rule[rule.SERIAL_AT_END] and t.ask[ask.MIN_CPUS] == 1 and t.ask[ask.REQ_NODES] == 1:
        return pick_in_order(h, o, t, 1)
    if h.rule[rule.TREE] and not contiguous and (h.rule[rule.TREE] == 1 or t.ask[ask.SWITCHES] > 0):
        return pick_tree(h, t)
    return pick_consecutive(h, t)


@kernel
def reopen(h: Hardware, t: Trial) -> int:
    """Open the nodes again that were open before the last choice, with their cores; how many."""
    count = 0
    for k in range(t.at[at.OPEN]):
        n = t.listed[k]
        t.open[n] = t.open_before[n]
        count += t.open[n]
        if t.open[n] and t.ask[ask.REQUESTS] > 0:
            for s in range(h.sockets[n]):
                t.keep[n, s] = t.keep_before[n, s]
    return count


@kernel
def choose(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Choose nodes; if that fails, again without those that have least, more and more of them."""
    most, cpus = 0, 0
    requests = t.ask[ask.REQUESTS] > 0
    for k in range(t.at[at.OPEN]):
        n = t.listed[k]
        t.open_before[n] = t.open[n]
        if t.open[n]:
            t.worth[n] = t.offer[n] + t.gpus[n]
            most = max(most, int(t.worth[n]))
            cpus += t.offer[n]
            if requests:
                for s in range(h.sockets[n]):
                    t.keep_before[n, s] = t.keep[n, s]
    if not requests and min(cpus, most * t.ask[ask.MOST_NODES]) < t.ask[ask.MIN_CPUS]:
        return False  # whatever is chosen, it would have less
    t.at[at.FIRST_PASS] = 1
    if pick(h, o, t):
        return True
    t.at[at.FIRST_PASS] = 0
    left = reopen(h, t)
    if left <= t.at[at.MIN_NODES]:
        return requests and pick(h, o, t)
    for worth in range(1, most):
        changed = False
        for k in range(t.at[at.OPEN]):
            n = t.listed[k]
            if t.open[n] and 0 < t.worth[n] <= worth and not t.required[n]:
                t.open[n] = 0
                t.open_before[n] = 0
                changed = True
                left -= 1
                if left <= t.at[at.MIN_NODES]:
                    break
        if changed or (worth == 1 and requests):
            if pick(h, o, t):
                return True
            reopen(h, t)
        if left <= t.at[at.MIN_NODES]:
            return False
    return False


@kernel
def offer_all(h: Hardware, o: Occupied, t: Trial, weight: int) -> bool:
    """Ask the usable nodes up to a weight what they offer; False: too few do, or a required one does not."""
    count = 0
    taken_too = not t.at[at.PLAIN] or t.at[at.EMPTY]
    all_weights = weight >= h.rule[rule.HEAVIEST]
    for n in range(len(t.open)):
        t.open[n] = 0
        t.here[n] = 0
        if t.usable[n] and (taken_too or o.idle[n] > 0) and (all_weights or h.weight[n] <= weight):
            cpus = offer_node(h, o, t, n)
            if cpus > 0:
                t.offer[n] = cpus
                t.open[n] = 1
                t.listed[count] = n
                count += 1
        if t.required[n] and not t.open[n]:
            return False
    t.at[at.OPEN] = count
    return bool(count >= t.at[at.MIN_NODES])


@kernel
def heavier(h: Hardware, t: Trial, above: int) -> int:
    """The least weight of a usable node above one, ANY_COUNT: there is none."""
    best = ANY_COUNT
    if above >= h.rule[rule.HEAVIEST]:
        return ANY_COUNT
    if h.rule[rule.LIGHTEST] == h.rule[rule.HEAVIEST]:
        return int(h.rule[rule.LIGHTEST])
    for n in range(len(t.usable)):
        if t.usable[n] and above < h.weight[n] < best:
            best = int(h.weight[n])
    return best


@kernel
def lets_in(h: Hardware, o: Occupied, t: Trial, n: int) -> bool:
    """Whether a node counts as one that could be had."""
    return sees_through(h, t) or bool(o.whole[n] == 0 and (t.ask[ask.ALONE] == 0 or o.jobs[n] == 0))


@kernel
def search(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Choose among all usable nodes; select/linear: among those of the first set, then of more and more of them."""
    weight = heavier(h, t, -1) if h.rule[rule.LINEAR] else int(h.rule[rule.HEAVIEST])
    while weight < ANY_COUNT:
        following = heavier(h, t, weight)
        few = False
        if following < ANY_COUNT:  # else those that offer something are counted
            count = 0
            for n in range(len(t.usable)):
                count += t.usable[n] > 0 and h.weight[n] <= weight and (t.at[at.EMPTY] > 0 or lets_in(h, o, t, n))
            few = count < t.ask[ask.MIN_NODES] or count < t.ask[ask.REQ_NODES]
        if not few and offer_all(h, o, t, weight) and choose(h, o, t):
            return True
        weight = following
    return False


@kernel
def mark_rows(h: Hardware, t: Trial, low: int, high: int) -> None:
    """Count the rows of partitions whose tier is between two as busy."""
    for q in range(len(t.row_busy)):
        if low <= h.tier[h.row_part[q]] <= high:
            t.row_busy[q] = 1


@kernel
def search_rows(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Where partitions are shared or jobs take turns: among the cores that jobs of lower standing use, too."""
    mine = t.ask[ask.PARTITION]
    tier = int(h.tier[mine])
    t.at[at.STEP] = at.ROWS
    t.at[at.PLAIN] = 0
    for q in range(len(t.row_busy)):
        t.row_busy[q] = 0
        p = h.row_part[q]
        if h.rule[rule.BY_PARTITION] and (h.tier[p] > tier or h.stays[p]):
            t.row_busy[q] = 1
    if not search(h, o, t):
        return False  # those above have it
    for q in range(len(t.row_busy)):
        t.at[at.ROWS_BUSY] |= t.row_busy[q] << q
    mark_rows(h, t, tier, tier)
    if search(h, o, t):
        for lower in range(tier - 1, -1, -1):  # spare those below as far as that goes
            mark_rows(h, t, lower, lower)
            if not search(h, o, t):
                for q in range(len(t.row_busy)):
                    if h.tier[h.row_part[q]] == lower:
                        t.row_busy[q] = 0
                break
        return search(h, o, t)
    row = 0
    for q in range(len(t.row_busy)):
        if h.row_part[q] != mine or row >= t.ask[ask.ROWS]:
            continue
        row += 1
        for other in range(len(t.row_busy)):
            t.row_busy[other] = (t.at[at.ROWS_BUSY] >> other) & 1
        t.row_busy[q] = 1
        if search(h, o, t):
            return True
    return False


@kernel
def collect(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Put the chosen nodes in a list; CPUs whose cores were given up are gone."""
    count = 0
    for k in range(t.at[at.OPEN]):
        n = t.listed[k]
        if not t.picked[n]:
            continue
        if t.at[at.PLAIN]:
            offer_cores(h, o, t, n)  # it fills ``keep``
        if t.ask[ask.REQUESTS] > 0:
            cores = 0
            for s in range(h.sockets[n]):
                cores += t.keep[n, s]
            t.offer[n] = min(int(t.offer[n]), cores * int(h.tpc[n]))
            if t.offer[n] == 0:
                return False
        t.node[count] = n
        count += 1
    t.at[at.COUNT_NODES] = count
    return count > 0


@kernel
def give_ids(h: Hardware, o: Occupied, t: Trial, i: int) -> int:
    """Which cores of the node in place ``i``: the first free ones of each socket; how many sockets that is."""
    n = int(t.node[i])
    size = int(h.cores[n])
    sockets = 0
    for w in range(t.words.shape[1]):
        t.words[i, w] = 0
    for s in range(h.sockets[n]):
        left = t.cores[i, s]
        sockets += left > 0
        for c in range(s * size, (s + 1) * size):
            if left > 0 and (is_free(h, o, t, n, c) or (t.ask[ask.WHOLE] > 0 and not h.barred[n, c])):
                t.words[i, c // BITS] |= 1 << (c % BITS)
                left -= 1
    return int(sockets)


@kernel
def give_cores(h: Hardware, o: Occupied, t: Trial) -> None:
    """Which cores on all nodes, and the CPUs in all."""
    total = 0
    for i in range(t.at[at.COUNT_NODES]):
        n = t.node[i]
        sockets = give_ids(h, o, t, i)
        if t.ask[ask.WHOLE]:
            total += h.cpus[n]
        elif h.rule[rule.UNIT] == rule.SOCKET:
            total += sockets * h.cores[n] * h.tpc[n]
        else:
            total += t.cpus[i]
    t.at[at.TOTAL_CPUS] = total


@kernel
def memory_for(h: Hardware, t: Trial, i: int) -> int:
    """Memory of the node in place ``i``."""
    n = t.node[i]
    each = t.ask[ask.MEMORY]
    if each < 0:
        memory = 0
        for r in range(t.ask[ask.REQUESTS]):
            of_one = t.want[r, ask.W_MEMORY] if t.want[r, ask.W_MEMORY] else t.want[r, ask.W_DEFAULT_MEMORY]
            memory += of_one * t.need[i, r]
        return int(memory)
    if each == 0:
        return int(h.memory[n])
    if not t.ask[ask.PER_CPU]:
        return int(each)
    cpus = t.cpus[i]
    if 0 < t.ask[ask.THREADS] < h.tpc[n] and gives_cores(h) and not h.rule[rule.LINEAR]:
        cpus = cpus // h.tpc[n] * t.ask[ask.THREADS]
    return int(each * cpus)


@kernel
def give_memory(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Memory on all nodes; False: there is too little."""
    for i in range(t.at[at.COUNT_NODES]):
        t.memory[i] = 0
        if h.rule[rule.MEMORY]:
            t.memory[i] = memory_for(h, t, i)
            if t.memory[i] > h.memory[t.node[i]] - o.memory[t.node[i]]:
                return False
    return True


@kernel
def finish(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Give the chosen nodes tasks, cores, devices and memory; False: it does not come out."""
    if not collect(h, o, t) or not lay_out(h, t, int(t.at[at.COUNT_NODES])):
        return False
    if not take_devices(h, o, t) or not (give_memory(h, o, t) or t.at[at.PLANS]):
        return False
    give_cores(h, o, t)
    return True


@kernel
def takes_idle_cpus(h: Hardware, share: int) -> bool:
    """Whether a job gets CPUs that nobody has, and no others; ``share``: its ``SHARE``."""
    if h.rule[rule.LINEAR] or h.rule[rule.GANG] or h.rule[rule.UNIT] == rule.NOTHING or len(h.row_part) > 0:
        return False
    return share == rule.ONE_ROW


@kernel
def has_too_few(h: Hardware, o: Occupied, t: Trial) -> bool:
    """Whether fewer CPUs than it asks for are free on all usable nodes together, where what is taken is not shared."""
    if not takes_idle_cpus(h, int(t.ask[ask.SHARE])):
        return False
    idle = 0
    for n in range(len(t.usable)):
        idle += int(t.usable[n]) * int(o.idle[n]) * int(h.tpc[n])
    return bool(idle < t.ask[ask.MIN_CPUS])


@kernel
def answer(h: Hardware, o: Occupied, t: Trial, mode: int) -> bool:
    """What :func:`test` answers, for the demand that is loaded."""
    reset(t)
    t.at[at.EMPTY] = mode == EVER
    t.at[at.STEP] = at.IDLE
    t.ask[ask.PLAN] = mode == PLAN
    t.at[at.PLANS] = mode in (PLAN, SOON)
    t.at[at.PLAIN] = is_plain(h, t)
    required = 0
    for n in range(len(t.required)):
        required += t.required[n]
    t.at[at.REQUIRED] = required
    least = t.ask[ask.MIN_NODES]
    if t.ask[ask.TASKS_PER_NODE] and t.ask[ask.TASKS] and not (h.rule[rule.LINEAR] and t.ask[ask.OVERCOMMIT]):
        least = max(least, -(-t.ask[ask.TASKS] // t.ask[ask.TASKS_PER_NODE]))
    t.at[at.MIN_NODES] = least
    if mode == EVER:
        t.ask[ask.WAITED] = 1  # fewer switches are only waited for
        return search(h, o, t)
    if has_too_few(h, o, t):
        return False
    if search(h, o, t):
        return finish(h, o, t)
    if t.at[at.FEWER_SWITCHES] or not (h.rule[rule.GANG] or t.ask[ask.SHARE] != rule.ONE_ROW):
        return False
    return search_rows(h, o, t) and finish(h, o, t)


@entry_kernel
def test(h: Hardware, o: Occupied, d: Demands, t: Trial, j: int, mode: int) -> int:
    """Whether demand ``j`` gets nodes among those that are usable and with those that are required: 1, else 0.

    The nodes, with tasks, CPUs, cores, memory and devices, are in the rows of the trial below ``COUNT_NODES``."""
    load(d, j, t)
    return int(answer(h, o, t, mode))
