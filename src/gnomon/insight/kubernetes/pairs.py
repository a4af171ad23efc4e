"""Two changes together, where two rules hold a pod and no single change helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gnomon.insight.explain.changes import Change
from gnomon.insight.kubernetes.bench import Bench, Option, search

FIRST_MAX: Final = 10
"""How many changes are tried as the first of a pair, the cheapest of each field."""

NODES_MAX: Final = 2_000_000
"""No pairs are tried where nodes times trials would be more."""


def pairs(bench: Bench, options: Callable[[Bench], Iterable[Option]], most: int) -> list[Change]:
    """The pairs that help, the cheapest first: a change of the pod's own, and another on top of that."""
    firsts: dict[tuple[str, object], Option] = {}
    for one in sorted(options(bench), key=lambda one: one.cost):
        if one.spec is not None:
            firsts.setdefault((one.group or one.field, one.after if not one.group else ""), one)
    if len(bench.state.nodes) * bench.trials > NODES_MAX:
        return []
    found: dict[frozenset[tuple[str, object]], Change] = {}
    for first in [*firsts.values()][:FIRST_MAX]:
        assert first.spec is not None
        moment = replace(bench.moment, pod=replace(bench.pod, spec=first.spec))
        changed = Bench(moment, bench.target)
        for second in search(options(changed), changed, most):
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
