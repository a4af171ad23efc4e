"""Two changes together, where two rules hold a pod and no single change helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gnomon.insight.explain.changes import Change
from gnomon.insight.kubernetes.levers.bench import TRIALS_MAX, Bench, Lever, search

FIRST_MAX: Final = 10
"""How many changes are tried as the first of a pair, the cheapest of each field."""

WORK_MAX: Final = 200_000
"""As many nodes times trials may the search for the second of a pair be; 20 trials in any case, and 100 at most."""


def pairs(bench: Bench, levers: Callable[[Bench], Iterable[Lever]], most: int) -> list[Change]:
    """The pairs that help, the cheapest first: a change of the pod's own, and another on top of that."""
    firsts: dict[tuple[str, object], Lever] = {}
    for one in sorted(levers(bench), key=lambda one: one.cost):
        if one.spec is not None:
            firsts.setdefault((one.group or one.field, one.after if not one.group else ""), one)
    trials = min(max(WORK_MAX // max(len(bench.state.nodes), 1), 20), 100)
    found: dict[frozenset[tuple[str, object]], Change] = {}
    for first in [*firsts.values()][:FIRST_MAX]:
        assert first.spec is not None
        moment = replace(bench.moment, pod=replace(bench.pod, spec=first.spec))
        changed = Bench(moment, bench.target)
        changed.trials = TRIALS_MAX - trials
        for second in search(levers(changed), changed, most):
            if second.field == first.field or second.field == "":
                continue
            both = frozenset(((first.field, first.after), (second.field, second.after)))
            cost = round(max(first.cost, second.cost) + 0.0001, 4)
            found.setdefault(
                both,
                Change(
                    f"{first.phrase}, and {second.what}",
                    " and ".join(dict.fromkeys((first.object, second.object))),
                    f"{first.field} and {second.field}",
                    f"{first.before} and {second.before}",
                    f"{first.after} and {second.after}",
                    cost,
                    confirmed=True,
                ),
            )
    return sorted(found.values(), key=lambda one: one.cost)[:most]
