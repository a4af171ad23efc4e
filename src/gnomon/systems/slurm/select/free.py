"""Which cores are free: none but those without a job, or, where partitions are shared, those of the rows that count."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.systems.slurm.select import at, rule
from gnomon.systems.slurm.select.columns import Hardware, Occupied, Trial


@kernel
def is_free(h: Hardware, o: Occupied, t: Trial, n: int, c: int) -> bool:
    """Whether a core counts as free in the step that goes on."""
    if h.barred[n, c]:
        return False
    if t.at[at.EMPTY]:
        return True
    if t.at[at.STEP] == at.ROWS:
        for q in range(len(t.row_busy)):
            if t.row_busy[q] and o.rows[q, n, c]:
                return False
        return True
    return bool(o.cores[n, c] == 0)


@kernel
def free_cores(h: Hardware, o: Occupied, t: Trial, n: int) -> int:
    """Put the free cores of each socket in ``S_FREE``; how many they are."""
    total = 0
    size = int(h.cores[n])
    for s in range(h.sockets[n]):
        if t.at[at.EMPTY]:
            free = int(h.every[n, s])
        elif t.at[at.STEP] == at.ROWS:
            free = 0
            for c in range(s * size, (s + 1) * size):
                free += is_free(h, o, t, n, c)
        else:
            free = int(o.free[n, s])
        if h.rule[rule.UNIT] == rule.SOCKET and free < size:  # a socket in use is not shared
            free = 0
        t.sock[at.S_FREE, s] = free
        total += free
    return total
