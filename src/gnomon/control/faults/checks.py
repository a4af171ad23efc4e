"""Whether the faults of a scenario make sense, before a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import fields
from itertools import pairwise
from math import isfinite

from gnomon.control.faults import KINDS
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.recovery.processes import SHAPES
from gnomon.recovery.targets import MEMBERS, NOBODY, NODES, Directory, Targets

EXPECTED_MAX = 5_000_000
"""How many faults of one target may be expected of a process within the horizon."""

_Span = tuple[int, int, int, str]


def check(scenario: Scenario) -> None:
    """Raise InputError, its field ``faults[i]...``, for faults that cannot be, or would silently never be.

    Targets that are not there or of the wrong sort; times below zero, means that are not above zero; an amount out of
    range, or where the kind has none; a fault that would begin after the horizon; a partition between sets that share a
    member; partitions of the same two sets, crashes or reboots of one node, or stops of one control member that
    overlap. Of drawn faults only the means and bounds are known here: what they hit may be down already.
    """
    directory = Directory(scenario)
    spans: dict[Hashable, list[_Span]] = defaultdict(list)
    for position, fault in enumerate(scenario.faults):
        field = f"faults[{position}]"
        if isinstance(fault, FailureProcess):
            _check_process(fault, field, scenario.limits.until_ns)
        else:
            _check_times(fault, field, scenario.limits.until_ns)
        targets, others = _sides(fault, directory, field)
        _check_amount(fault, targets, scenario.cluster, field)
        if isinstance(fault, Failure):
            for key, what in _exclusive(fault.kind, targets, others, scenario.cluster):
                spans[key].append((fault.at_ns, fault.until_ns, position, what))
    for span in spans.values():
        _check_overlaps(span)


def _check_times(failure: Failure, field: str, horizon_ns: int) -> None:
    _not_negative(failure, field)
    _within(failure.at_ns, f"{field}.at_ns", horizon_ns)


def _check_process(process: FailureProcess, field: str, horizon_ns: int) -> None:
    _not_negative(process, field)
    if process.mtbf_ns <= 0:
        raise InputError("not a mean time", field=f"{field}.mtbf_ns", found=process.mtbf_ns, allowed="above 0")
    _within(process.from_ns, f"{field}.from_ns", horizon_ns)
    if process.until_ns <= process.from_ns:
        allowed = f"after from_ns, {process.from_ns}"
        raise InputError("no fault can begin", field=f"{field}.until_ns", found=process.until_ns, allowed=allowed)
    expected = (min(process.until_ns, horizon_ns) - process.from_ns) // (process.mtbf_ns + process.mttr_ns)
    if horizon_ns < NEVER and expected > EXPECTED_MAX:
        problem, allowed = "so many faults cannot be simulated", "at most five million of one target within the run"
        raise InputError(problem, field=f"{field}.mtbf_ns", found=expected, allowed=allowed)
    _check_shape(process.law, process.shape, f"{field}.shape")
    _check_shape(process.repair_law, process.repair_shape, f"{field}.repair_shape")


def _check_shape(law: Law, shape: float, field: str) -> None:
    if law not in SHAPES:
        if shape != 1:
            raise InputError(f"the law {law.value} has no shape", field=field, found=shape, allowed="1, or nothing")
        return
    least, most = SHAPES[law]
    if not isfinite(shape) or not least <= shape <= most:
        allowed = f"{least:g} to {most:g}"
        raise InputError(f"not a shape of the law {law.value}", field=field, found=shape, allowed=allowed)


def _not_negative(fault: Failure | FailureProcess, field: str) -> None:
    for name in (one.name for one in fields(fault) if one.name.endswith("_ns")):
        if (value := getattr(fault, name)) < 0:
            raise InputError("a time below zero", field=f"{field}.{name}", found=value, allowed="0 or more")


def _within(at_ns: int, field: str, horizon_ns: int) -> None:
    if at_ns > horizon_ns or at_ns >= NEVER:
        allowed = f"up to {min(horizon_ns, NEVER - 1)}"
        raise InputError("begins after the end of the run", field=field, found=at_ns, allowed=allowed)


def _sides(fault: Failure | FailureProcess, directory: Directory, field: str) -> tuple[Targets, Targets]:
    """Whom the fault hits, and the other side of a partition."""
    kind, hits = fault.kind, KINDS[fault.kind].hits
    targets = directory.resolve(fault.targets, kind=kind, field=f"{field}.targets", hits=hits)
    if not targets and not KINDS[kind].words.nobody[0]:
        allowed = "one target or more" if not fault.targets else "what the scenario has"
        raise InputError(f"a fault of kind {kind.value} that hits nobody", field=f"{field}.targets", allowed=allowed)
    if not KINDS[kind].two_sides:
        if fault.others:
            problem = f"a fault of kind {kind.value} has no other side"
            raise InputError(problem, field=f"{field}.others", found=fault.others)
        return targets, NOBODY
    if not fault.others:
        others = directory.rest(targets)
        if not others:
            raise InputError("nobody is left on the other side", field=f"{field}.targets", found=fault.targets)
        return targets, others
    others = directory.resolve(fault.others, kind=kind, field=f"{field}.others", hits=hits)
    if targets.meets(others):
        common = directory.each(_common(targets, others))[0][0]
        raise InputError("on both sides of the partition", field=f"{field}.others", found=common)
    return targets, others


def _common(targets: Targets, others: Targets) -> Targets:
    nodes, members = set(others.nodes), set(others.control)
    return Targets(
        tuple(node for node in targets.nodes if node in nodes), (), tuple(m for m in targets.control if m in members)
    )


def _check_amount(fault: Failure | FailureProcess, targets: Targets, cluster: Cluster, field: str) -> None:
    kind, amount, field = KINDS[fault.kind].amount, fault.amount, f"{field}.amount"
    if kind is None:
        if amount:
            raise InputError(
                f"a fault of kind {fault.kind.value} has no amount", field=field, found=amount, allowed="0"
            )
        return
    if not kind.least <= amount <= kind.most:
        raise InputError("out of range", field=field, found=amount, allowed=kind.what)
    for node in targets.nodes:
        try:
            kind.check(cluster.nodes[node], amount)
        except InputError as error:
            raise error.at(field=field) from None


def _exclusive(kind: Fault, targets: Targets, others: Targets, cluster: Cluster) -> Iterator[tuple[Hashable, str]]:
    """What must not be under two such faults at a time: a key, and what it is called."""
    what = KINDS[kind].excludes
    if not what:
        return
    if KINDS[kind].two_sides:
        yield (what, frozenset(((targets.nodes, targets.control), (others.nodes, others.control)))), what
        return
    for node in targets.nodes:
        yield (what, NODES, node), f"{what} of node {cluster.nodes[node].name!r}"
    for member in targets.control:
        yield (what, MEMBERS, member), f"{what} of control member {member}"


def _check_overlaps(spans: list[_Span]) -> None:
    spans.sort()
    for (begin, end, before, _), (following, _, position, what) in pairwise(spans):
        if following < end or following == begin:
            earlier, later = sorted((before, position))
            problem = f"overlapping {what}: faults[{earlier}] is of the same time"
            raise InputError(problem, field=f"faults[{later}].at_ns", found=following if later == position else begin)
