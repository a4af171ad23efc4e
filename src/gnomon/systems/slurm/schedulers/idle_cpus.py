"""When as many CPUs are idle as a job asks for, at the earliest: most of the looks into the future are spared by it.

``has_too_few`` refuses a job nodes that have fewer idle CPUs than it asks for, in all, so it does not start before
running jobs have given back as many (:mod:`gnomon.systems.slurm.select.future` takes them out in the order of their
ends).
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.world import I64
from gnomon.systems.slurm.select import ask
from gnomon.systems.slurm.select.columns import BITS, Demands, Hardware, Occupied, Running
from gnomon.systems.slurm.select.future import NEVER
from gnomon.systems.slurm.select.testing import takes_idle_cpus


@kernel
def foresee(h: Hardware, o: Occupied, r: Running) -> None:
    """How many CPUs are idle, in all, as one running job after the other ends."""
    idle = 0
    for n in range(len(o.idle)):
        idle += int(o.idle[n]) * int(h.tpc[n])
    for k in range(int(r.listed[0])):
        m = r.first[r.order[k]]
        while m >= 0:
            idle += int(r.cpus[m])
            m = r.after[m]
        r.freed[k] = idle


@kernel
def soonest(h: Hardware, d: Demands, r: Running, row: int, now: int) -> int:
    """A job cannot start before then, whatever nodes it is left: too few CPUs are idle; NEVER: nor later."""
    if not takes_idle_cpus(h, int(d.value[row, ask.SHARE])):
        return now
    low, high = 0, int(r.listed[0])
    while low < high:
        middle = (low + high) // 2
        if r.freed[middle] < d.value[row, ask.MIN_CPUS]:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return now
    return int(r.ends[low]) if low < r.listed[0] else NEVER


@kernel
def soonest_on(h: Hardware, o: Occupied, d: Demands, r: Running, left: I64, row: int, now: int) -> int:
    """The same of some nodes, a bit each."""
    wanted = d.value[row, ask.MIN_CPUS]
    if not takes_idle_cpus(h, int(d.value[row, ask.SHARE])):
        return now
    idle = 0
    for n in range(len(o.idle)):
        idle += int((left[n // BITS] >> (n % BITS)) & 1) * int(o.idle[n]) * int(h.tpc[n])
    if idle >= wanted:
        return now
    for k in range(int(r.listed[0])):
        m = r.first[r.order[k]]
        while m >= 0:
            n = r.node[m]
            idle += int((left[n // BITS] >> (n % BITS)) & 1) * int(r.cpus[m])
            m = r.after[m]
        if idle >= wanted:
            return int(max(now + 1, r.ends[k]))
    return NEVER
