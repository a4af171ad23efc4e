"""Jobs take their shares of nodes and give them back; which shares they have is kept in ``Running``.

Source: ``job_res_add_job``, ``job_res_rm_job`` of ``src/plugins/select/cons_tres/job_resources.c``. Rows of a shared
partition are not packed anew when a job leaves one.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.systems.slurm.select.columns import BITS, Hardware, Occupied, Running

ALL: Final = 0
CORES_ONLY: Final = 1
"""A job is suspended, or goes on: it keeps memory and devices."""


@kernel
def has_core(r: Running, m: int, c: int) -> bool:
    """Whether a share has a core."""
    return bool((r.cores[m, c // BITS] >> (c % BITS)) & 1)


@kernel
def fits_row(h: Hardware, o: Occupied, r: Running, job: int, q: int) -> bool:
    """Whether no core of a job is in use in a row."""
    m = r.first[job]
    while m >= 0:
        n = r.node[m]
        for c in range(h.sockets[n] * h.cores[n]):
            if o.rows[q, n, c] and has_core(r, m, c):
                return False
        m = r.after[m]
    return True


@kernel
def find_row(h: Hardware, o: Occupied, r: Running, job: int) -> int:
    """The first row of its partition that has room for a job, -1 none."""
    for q in range(len(h.row_part)):
        if h.row_part[q] == r.partition[job] and fits_row(h, o, r, job, q):
            return q
    return -1


@kernel
def shift_cores(h: Hardware, o: Occupied, r: Running, m: int, sign: int) -> int:
    """Take (1) or give (-1) the cores of a share; how many they are."""
    n = r.node[m]
    size = h.cores[n]
    count = 0
    for w in range(r.cores.shape[1]):
        word, c = r.cores[m, w], w * BITS
        while word:
            if word & 1:
                count += 1
                was = o.cores[n, c]
                o.cores[n, c] += sign
                if not h.barred[n, c] and (was == 0) != (o.cores[n, c] == 0):
                    o.free[n, c // size] -= sign
                    o.idle[n] -= sign
            word >>= 1
            c += 1
    return count


@kernel
def shift_share(h: Hardware, o: Occupied, r: Running, m: int, job: int, sign: int) -> None:
    """Take or give the cores of a share with all that is counted by jobs."""
    n = r.node[m]
    count = shift_cores(h, o, r, m, sign)
    o.jobs[n] += sign
    o.whole[n] += sign * r.whole[job]
    o.state[n] += sign * r.share[job]
    slot = h.track[r.partition[job]]
    if slot >= 0:
        o.part_jobs[slot, n] += sign
        o.part_cores[slot, n] += sign * count
    q = r.row[job]
    if q >= 0:
        for c in range(h.sockets[n] * h.cores[n]):
            if has_core(r, m, c):
                o.rows[q, n, c] += sign


@entry_kernel
def shift(h: Hardware, o: Occupied, r: Running, job: int, sign: int, what: int) -> int:
    """A job takes (1) or gives back (-1) all that it has, or its cores alone; how many nodes."""
    if sign > 0 and len(h.row_part) > 0:
        r.row[job] = find_row(h, o, r, job)
    count = 0
    m = r.first[job]
    while m >= 0:
        shift_share(h, o, r, int(m), job, sign)
        if what == ALL:
            n = r.node[m]
            o.memory[n] += sign * r.memory[m]
            for k in range(h.kind.shape[1]):
                o.taken[n, k] += sign * r.devices[m, k]
        count += 1
        m = r.after[m]
    return count
