"""The ledger: does a shape fit a row, which devices does it get, take and give back. Exact integers throughout."""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.engine.world import CHANGES, I64x2, World


@small_kernel
def fits(w: World, rows: I64x2, n: int, s: int) -> bool:
    """Whether row ``n`` has room for shape ``s``: every plain dimension, and enough devices with enough left each."""
    plain = w.need.shape[1] - 1
    for d in range(plain):
        if w.need[s, d] > rows[n, d]:
            return False
    wanted = w.gpus[s]
    if wanted == 0:
        return True
    share = w.share[s]
    for k in range(plain, rows.shape[1]):
        if rows[n, k] >= share:
            wanted -= 1
            if wanted == 0:
                return True
    return False


@kernel
def pick_devices(w: World, rows: I64x2, n: int, s: int) -> int:
    """The devices (bits) for shape ``s``: whole ones by lowest index; a share goes to the device with least left
    that still has room, lowest index at a tie, so that whole devices stay whole."""
    wanted = w.gpus[s]
    if wanted == 0:
        return 0
    plain = w.need.shape[1] - 1
    share = w.share[s]
    bits = 0
    if wanted == 1:
        best = -1
        for k in range(plain, rows.shape[1]):
            if rows[n, k] >= share and (best < 0 or rows[n, k] < rows[n, best]):
                best = k
        return 1 << (best - plain)
    for k in range(plain, rows.shape[1]):
        if wanted > 0 and rows[n, k] >= share:
            bits |= 1 << (k - plain)
            wanted -= 1
    return bits


@kernel
def has_place(w: World, task: int) -> bool:
    """Whether the node and the devices that were chosen for a task are free now."""
    n, s, bits = w.node[task], w.shape[task], w.devices[task]
    plain = w.need.shape[1] - 1
    for d in range(plain):
        if w.need[s, d] > w.free[n, d]:
            return False
    for k in range(plain, w.free.shape[1]):
        if (bits >> (k - plain)) & 1 and w.free[n, k] < w.share[s]:
            return False
    return True


@small_kernel
def move(w: World, rows: I64x2, n: int, s: int, bits: int, sign: int) -> None:
    """Take (``sign`` -1) what shape ``s`` needs from row ``n``, or give it back (+1)."""
    plain = w.need.shape[1] - 1
    for d in range(plain):
        rows[n, d] += sign * w.need[s, d]
    k = plain
    while bits:
        if bits & 1:
            rows[n, k] += sign * w.share[s]
        bits >>= 1
        k += 1


@small_kernel
def touch(w: World, n: int) -> None:
    """Note that the free row of node ``n`` changed, for whoever keeps scores of it."""
    w.changed[w.at[CHANGES] % len(w.changed)] = n
    w.changed_at[n] = w.at[CHANGES]
    w.at[CHANGES] += 1


@kernel
def copy_rows(target: I64x2, source: I64x2) -> None:
    """Copy all rows."""
    for n in range(target.shape[0]):
        for k in range(target.shape[1]):
            target[n, k] = source[n, k]


@kernel
def copy_row(target: I64x2, n: int, source: I64x2, m: int) -> None:
    """Copy row ``m`` of one into row ``n`` of the other."""
    for k in range(target.shape[1]):
        target[n, k] = source[m, k]


@kernel
def lower_row(target: I64x2, n: int, source: I64x2, m: int) -> None:
    """Lower row ``n`` of one to row ``m`` of the other, where that has less."""
    for k in range(target.shape[1]):
        target[n, k] = min(target[n, k], source[m, k])
