"""What comes of use: attempts that are killed or sent away, nodes under pressure, changes of speed."""

from __future__ import annotations

from typing import Final

from gnomon.control.attempt import Attempt
from gnomon.control.board import PRESSED, Board
from gnomon.control.copies import Copies
from gnomon.control.machines import Machines
from gnomon.control.redistribution import Redistribution
from gnomon.control.timers import Timers
from gnomon.engine.log import Kind, Reason
from gnomon.resources.node_use import Incident

_SLOWED_BY: Final = {
    "quota": Reason.QUOTA,
    "cpu": Reason.CPU,
    "disk-io": Reason.DISK_RATE,
    "pauses": Reason.PAUSES,
    "slow": Reason.SLOW,
    "spilling": Reason.SPILLING,
    "full": Reason.FULL_SPEED,
}
_SHORT_OF: Final = {"memory": Reason.NODE_MEMORY, "disk": Reason.DISK, "store": Reason.STORE}


class Using:
    """Writes the rows of incidents, and has done to attempts and nodes what they say.

    ``fault_row``: of each node the row of the latest fault that bears on its use.
    """

    def __init__(self, board: Board, timers: Timers, machines: Machines, again: Redistribution, copies: Copies) -> None:
        self._board, self._timers, self._machines = board, timers, machines
        self._again, self._copies = again, copies
        self._pressure: dict[tuple[int, str], int] = {}
        self.fault_row: dict[int, int] = {}

    def incident(self, node: int, attempt: Attempt | None, incident: Incident) -> None:
        """Something has come of the use of a node."""
        numbers = dict(incident.numbers)
        match incident.kind:
            case "kill" if attempt is not None:
                self._kill(node, attempt, incident, numbers)
            case "evict" if attempt is not None:
                row = self._pressure.get((node, incident.resource), -1)
                self._after_grace(attempt, row, incident.grace_ns, numbers)
            case "pressure" | "spill":
                self._short(node, incident, numbers)
                if incident.kind == "pressure":
                    self._board.close(node, PRESSED, self._pressure[node, incident.resource])
            case "calm":
                row = self._pressure.pop((node, incident.resource), -1)
                value = int(numbers.pop("available", 0))
                short_of = _SHORT_OF[incident.resource]
                calm = self._board.row(Kind.CALM, node=node, cause=row, reason=short_of, value=value, details=numbers)
                if not any(where == node for where, _ in self._pressure):
                    self._board.open(node, PRESSED, calm)
            case "speed" if attempt is not None and attempt.counts:
                speed = int(numbers.pop("speed_e4", 0))
                reason = _SLOWED_BY[incident.cause]
                cause = max(int(self._board.w.start_row[attempt.task]), self.fault_row.get(node, -1))
                self._board.row(
                    Kind.SPEED, task=attempt.task, node=node, cause=cause, reason=reason, value=speed, details=numbers
                )

    def _short(self, node: int, incident: Incident, numbers: dict[str, int | str]) -> int:
        """A node is short of something: the row."""
        cause = self._origin(node)
        value = int(numbers.get("available", 0))
        reason = Reason.SPILLING if incident.kind == "spill" else _SHORT_OF[incident.resource]
        row = self._board.row(Kind.PRESSURE, node=node, cause=cause, reason=reason, value=value, details=numbers)
        self._pressure[node, incident.resource] = row
        return row

    def _origin(self, node: int) -> int:
        """The row that made a node short of something: the fault that is on, or the start of who came there last."""
        starts = [int(self._board.w.start_row[task]) for task in self._board.placed(node)]
        return self.fault_row.get(node, max(starts, default=-1))

    def _kill(self, node: int, attempt: Attempt, incident: Incident, numbers: dict[str, int | str]) -> None:
        own = incident.resource == "memory" and "limit" in numbers
        if own:
            reason, cause = Reason.MEMORY, int(self._board.w.start_row[attempt.task])
        elif incident.resource == "disk-io":  # nothing is used up: too many share the disk
            reason, cause = Reason.DISK, self._origin(node)
        else:
            reason = _SHORT_OF[incident.resource]
            cause = self._pressure.get((node, incident.resource), -1)
            if cause < 0 or self._board.w.log_t[cause] < self._board.now:
                cause = self._short(node, incident, numbers)
                self._pressure.pop((node, incident.resource))
        self._end(attempt, reason, cause, numbers, retriable=incident.retriable)

    def _after_grace(self, attempt: Attempt, row: int, grace_ns: int, numbers: dict[str, int | str]) -> None:
        def gone() -> None:
            if attempt.key in self._machines.attempts:
                self._end(attempt, Reason.EVICTED, row, numbers)

        if grace_ns:
            self._timers.at(self._board.now + grace_ns, gone)
        else:
            gone()

    def _end(
        self, attempt: Attempt, reason: Reason, cause: int, numbers: dict[str, int | str], *, retriable: bool = True
    ) -> None:
        if not attempt.counts:
            self._copies.stop(attempt, reason, cause)
        elif attempt.node in self._machines.cut:
            self._machines.stop(attempt)  # of which the control plane hears when the partition is over
        else:
            self._again.fail(attempt.task, reason, cause, retriable=retriable, details=numbers)
