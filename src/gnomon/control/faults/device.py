"""A node loses a device [its number]; the task on it dies."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Amount, Draws, Kind, Unit, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.engine.log import Reason
from gnomon.model.cluster import Node
from gnomon.model.errors import InputError
from gnomon.recovery.faults import Event


def _lose(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    board, machines, number = strikes.board, strikes.machines, event.failure.amount
    bit, name = 1 << number, f"device {event.number}"
    lost = strikes.under_way["device", node]
    lost[event.number] = number
    machines.lack(node, name)
    for attempt in machines.on(node):
        if not attempt.counts and attempt.devices & bit:
            strikes.copies.stop(attempt, Reason.DEVICE, row)
    for task in board.placed(node):
        if board.w.node[task] == node and int(board.w.devices[task]) & bit:
            strikes.end(task, Reason.DEVICE, row)
    strikes.again.lose_device(node, bit)
    board.lose_device(node, number)

    def over(heal: int) -> None:
        del lost[event.number]
        if number not in lost.values():
            board.restore_device(node, number)
            board.offer(node, heal)
        machines.well(node, name)

    return over


def _check(node: Node, number: int) -> None:
    if number >= node.capacity.gpus:
        allowed = f"0 to {node.capacity.gpus - 1}" if node.capacity.gpus else "a node with devices"
        raise InputError(f"node {node.name!r} has no such device", found=number, allowed=allowed)


def _number(draws: Draws, node: Node | None) -> int:
    return draws.below(node.capacity.gpus) if node else 0


KIND: Final = Kind(
    Words("{who} loses device {amount}", "the device of {who} is there again", past="lost a device"),
    amount=Amount("number", Unit.NUMBER, "the device's number, from 0", draw=_number, default=0, check=_check),
    on_node=_lose,
    on=lambda node: bool(node.capacity.gpus),
)
