"""scontrol create, update and delete of a reservation (``create_resv``, ``update_resv``, ``delete_resv``)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gnomon.systems.slurm.cluster.reservations import FOREVER, Reservation, choose_nodes
from gnomon.systems.slurm.cluster.state import MINUTE, Mask, Partition, State
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.notation.times import limit_minutes

Answer = tuple[str, int]
"""What is printed, and the exit code."""


def mask_of(state: State, names: Iterable[str]) -> Mask:
    """The nodes of these names."""
    mask = np.zeros(len(state.conf.nodes), np.bool_)
    mask[[state.node(name) for name in names if state.node(name) >= 0]] = True
    return mask


def create(state: State, pairs: dict[str, str]) -> Answer:
    """A reservation."""
    name = pairs.get("reservationname") or pairs.get("reservation") or f"resv_{len(state.reservations) + 1}"
    start = state.moment_ns(pairs.get("starttime", "now"))
    flags = frozenset(word.strip().upper() for word in pairs.get("flags", "").split(",") if word)
    end = state.moment_ns(pairs["endtime"]) if "endtime" in pairs else start + _length_ns(pairs.get("duration", ""))
    partition = state.partitions.get(pairs.get("partitionname", ""))
    nodes, cores = _reserved(state, pairs, partition)
    if not (pairs.get("users") or pairs.get("accounts")):
        return "Error creating the reservation: Reservation request missing users, accounts or groups", 1
    if pairs.get("nodes", "").upper() == "ALL":
        flags |= {"ALL_NODES" if "PART_NODES" not in flags or partition is None else "PART_NODES"}
    licenses = {one.partition(":")[0]: int(one.partition(":")[2] or 1) for one in _words(pairs.get("licenses", ""))}
    state.reservations[name] = Reservation(
        name,
        start,
        end,
        nodes,
        users=_words(pairs.get("users", "")),
        accounts=_words(pairs.get("accounts", "")),
        flags=flags,
        partition=pairs.get("partitionname", ""),
        cores=cores,
        licenses=licenses,
    )
    return f"Reservation created: {name}", 0


def delete(state: State, name: str) -> Answer:
    """A reservation is gone, unless jobs in it run or wait."""
    if name not in state.reservations:
        return "slurm_delete_reservation error: Requested reservation is invalid", 1
    if any(job.request.reservation == name for job in [*state.running, *state.pending]):
        return f"delete_reservation ReservationName={name}: Requested reservation is in use", 1
    del state.reservations[name]
    return "", 0


def _words(text: str) -> tuple[str, ...]:
    return tuple(one for one in text.split(",") if one)


def _length_ns(text: str) -> int:
    minutes = limit_minutes(text) if text else None
    return FOREVER if minutes is None else minutes * MINUTE


def _reserved(
    state: State, pairs: dict[str, str], partition: Partition | None
) -> tuple[Mask, dict[int, tuple[int, ...]]]:
    """The nodes of a reservation, and the cores on them where it asks for cores."""
    pool = (
        partition.nodes
        if partition is not None
        else next(
            (one.nodes for one in state.partitions.values() if one.conf.default),
            np.ones(len(state.conf.nodes), np.bool_),
        )
    )
    said = pairs.get("nodes", "")
    if said.upper() == "ALL":
        nodes = np.ones(len(state.conf.nodes), np.bool_)
    elif said:
        nodes = mask_of(state, expand(said))
    elif "nodecnt" in pairs:
        nodes = choose_nodes(state, pool & state.up, int(pairs["nodecnt"].split(",")[0]))
    else:
        nodes = pool.copy()
    if "corecnt" not in pairs:
        return nodes, {}
    counts = [int(one) for one in pairs["corecnt"].split(",")]
    numbers = np.flatnonzero(nodes).tolist()
    per_node = counts if len(counts) == len(numbers) else [counts[0]] + [0] * (len(numbers) - 1)
    cores = {n: tuple(range(count)) for n, count in zip(numbers, per_node, strict=True) if count}
    return mask_of(state, state.names(list(cores))), cores


def update(state: State, pairs: dict[str, str]) -> Answer:
    """A reservation has other times or nodes."""
    reservation = state.reservations.get(pairs["reservationname"])
    if reservation is None:
        return "slurm_update error: Requested reservation is invalid", 1
    if "starttime" in pairs:
        reservation.start_ns = state.moment_ns(pairs["starttime"])
    if "duration" in pairs:
        reservation.end_ns = reservation.start_ns + _length_ns(pairs["duration"])
    if "endtime" in pairs:
        reservation.end_ns = state.moment_ns(pairs["endtime"])
    if pairs.get("nodes"):
        reservation.nodes = mask_of(state, expand(pairs["nodes"]) if pairs["nodes"] != "ALL" else state.numbers)
    return "", 0
