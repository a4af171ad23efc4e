"""Pressure: a node that has too little left of a resource sends its tasks away, one after the other.

Source: Kubernetes sheet 8 (eviction manager: a period of 10 s, one victim a loop, the condition stays for a while), Ray
sheet 4 (memory monitor: every 250 ms, one kill at a time). While a victim is on its way out no second one is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.engine.periods import at_or_after
from gnomon.model.operation import Pressure
from gnomon.model.resources import NEVER
from gnomon.resources.incident import Incident
from gnomon.resources.memory import may_retry
from gnomon.resources.node_state import NodeState, first_tick, look
from gnomon.resources.victims import ORDERS, Candidate


@dataclass(slots=True)
class PressureWatch:
    """One rule of pressure and how it stands: ``on``: the node is under pressure; ``enough_since``: since when there is
    enough again (-1: there is not)."""

    rule: Pressure
    on: bool = False
    enough_since: int = -1

    @property
    def is_immediate(self) -> bool:
        """Whether it acts at the moment itself, and not at its next look."""
        return self.rule.check_ns == 0

    def is_safe(self, state: NodeState) -> bool:
        """Whether nothing that runs now can ever bring the pressure about."""
        return not self.on and state.least_left(self.rule.resource) >= self.rule.below

    def next_ns(self, state: NodeState, from_ns: int) -> int:
        """When to look next, NEVER if there is no need."""
        rule = self.rule
        if self.is_safe(state):
            return NEVER
        if not self.on or self.enough_since >= 0:
            short = first_tick(
                lambda t: state.first_short(rule.resource, rule.below, t),
                lambda t: state.left(rule.resource, t) < rule.below,
                from_ns,
                rule.check_ns,
            )
            calm = at_or_after(max(from_ns, self.enough_since + rule.calm_ns), rule.check_ns) if self.on else NEVER
            return min(short, calm)
        if self._victims(state, from_ns):
            return at_or_after(from_ns, rule.check_ns)
        enough = at_or_after(state.first_enough(rule.resource, rule.below, from_ns), rule.check_ns)
        return min(enough, at_or_after(self._next_victim(state, from_ns), rule.check_ns))

    def happen(self, state: NodeState, now: int) -> list[Incident]:
        """What happens at a look: pressure, a victim (at once: victims, until there is enough), calm."""
        rule = self.rule
        if (rule.check_ns and now % rule.check_ns) or self.is_safe(state):
            return []
        found: list[Incident] = []
        while (left := state.left(rule.resource, now)) < rule.below:
            if not self.on:
                found.append(Incident("pressure", -1, "", rule.resource, self._numbers(left)))
            self.on, self.enough_since = True, -1
            victims = self._victims(state, now)
            if not victims:
                return found
            found.append(self._evict(state, now, victims))
            if rule.check_ns or rule.grace_ns:
                return found
        if self.on and self.enough_since < 0:
            self.enough_since = now
        if self.on and now >= self.enough_since + rule.calm_ns:
            self.on, self.enough_since = False, -1
            found.append(Incident("calm", -1, "", rule.resource, self._numbers(left)))
        return found

    def _numbers(self, left: int) -> tuple[tuple[str, int | str], ...]:
        return ("available", left), ("below", self.rule.below)

    def _victims(self, state: NodeState, now: int) -> list[Candidate]:
        if any(one.leaving for one in state.present()):
            return []
        choice = state.candidates(self.rule.resource, now)
        return ORDERS[self.rule.order](choice) if choice else []

    def _next_victim(self, state: NodeState, from_ns: int) -> int:
        """When somebody may become a victim whom the order does not take now: one who begins to use something, or
        comes to be over his limit."""
        if any(one.leaving for one in state.present()):
            return NEVER
        name, soonest = self.rule.resource, NEVER
        for one in state.present():
            if name in one.curves:
                bound = one.running.limit.memory_bytes if one.use(name, from_ns) and name == "memory" else 0
                when = look([(one.curves[name], one.began)], bound, from_ns)
                soonest = min(soonest, when if when > from_ns else NEVER)
        return soonest

    def _evict(self, state: NodeState, now: int, victims: list[Candidate]) -> Incident:
        rule, victim = self.rule, victims[0]
        numbers = (
            *self._numbers(state.left(rule.resource, now)),
            ("used", victim.used),
            ("request", victim.request),
            ("order", rule.order),
        )
        again = may_retry(rule.order, victims, victim)
        one = state.attempts[victim.task]
        if rule.grace_ns:
            one.leaving = True
        else:
            state.kill(one, now)
        return Incident("evict", victim.task, "evicted", rule.resource, numbers, rule.grace_ns, again)
