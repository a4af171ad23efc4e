"""Rows of demands, and a trial of the right size."""

from __future__ import annotations

import numpy as np

from gnomon.systems.slurm.select import ask, at
from gnomon.systems.slurm.select.columns import BITS, REQUESTS, Demands, Hardware, Trial
from gnomon.systems.slurm.select.demand import Demand
from gnomon.systems.slurm.select.speed import Columns


class Rows:
    """The demands that have been asked so far, one row for all that are equal."""

    def __init__(self, rows: int = 64) -> None:
        self.columns: Columns[Demands] = Columns(self._empty(rows))
        self._rows: dict[Demand, int] = {}

    @staticmethod
    def _empty(rows: int) -> Demands:
        value = np.zeros((rows, ask.COUNT), np.int64)
        return Demands(value, np.zeros((rows, REQUESTS, ask.W_COUNT), np.int64))

    def of(self, demand: Demand) -> int:
        """The row of a demand."""
        found = self._rows.get(demand)
        if found is not None:
            return found
        row, old = len(self._rows), self.columns.columns
        if row == len(old.value):
            new = self._empty(row * 2)
            new.value[:row], new.gres[:row] = old.value, old.gres
            self.columns = Columns(new)
        self.columns.columns.value[row] = demand.value
        for r, wanted in enumerate(demand.gres):
            self.columns.columns.gres[row, r] = wanted
        self._rows[demand] = row
        return row


def trial_for(h: Hardware) -> Trial:
    """A trial for some hardware."""
    n, cores = h.barred.shape
    sockets, holders = h.every.shape[1], h.kind.shape[1]

    def tiny() -> np.ndarray[tuple[int], np.dtype[np.int8]]:
        return np.zeros(n, np.int8)

    def small() -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.zeros(n, np.int32)

    def large(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return np.zeros(shape, np.int64)

    def by_socket() -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        return np.zeros((n, sockets), np.int32)

    return Trial(
        usable=tiny(),
        required=tiny(),
        extra=large(n),
        ask=large(ask.COUNT),
        want=large(REQUESTS, ask.W_COUNT),
        at=large(at.SIZE),
        sock=large(at.S_SIZE, sockets),
        row_busy=np.zeros(len(h.row_part), np.int8),
        open=tiny(),
        listed=small(),
        open_before=tiny(),
        offer=small(),
        most=small(),
        gpus=small(),
        worth=small(),
        here=small(),
        weight=large(n),
        keep=by_socket(),
        keep_before=by_socket(),
        total=large(n, REQUESTS),
        anywhere=large(n, REQUESTS),
        near=large(n, REQUESTS, sockets),
        limit=large(n, REQUESTS),
        run=large(at.R_SIZE, n + 1),
        run_total=large(n + 1, REQUESTS),
        gathered=large(REQUESTS),
        switch=large(4, max(1, len(h.level))),
        picked=tiny(),
        node=small(),
        cpus=small(),
        tasks=small(),
        cores=by_socket(),
        memory=large(n),
        words=large(n, -(-cores // BITS)),
        devices=np.zeros((n, holders), np.int32),
        need=large(n, REQUESTS),
        linked=large(holders),
    )
