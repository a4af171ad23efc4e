"""Writing the log from kernels."""

from __future__ import annotations

from gnomon.engine.compiling import small_kernel
from gnomon.engine.world import INSTANT, NOW, ROWS, World


@small_kernel
def emit(w: World, kind: int, subject: int, node: int, cause: int, reason: int, value: int) -> int:
    """Append one row at the present time and return its number."""
    row = w.at[ROWS]
    w.log_t[row] = w.at[NOW]
    w.log_instant[row] = w.at[INSTANT]
    w.log_kind[row] = kind
    w.log_subject[row] = subject
    w.log_node[row] = node
    w.log_cause[row] = cause
    w.log_reason[row] = reason
    w.log_value[row] = value
    w.at[ROWS] = row + 1
    return row
