"""The scenario: cluster + work + policy + limits, all that a run is a function of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gnomon.model.cluster import Cluster
from gnomon.model.fault import Failure, FailureProcess
from gnomon.model.operation import Operation
from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import Work

Option = str | int | float | bool

PYTHON_ORDER, PYTHON_PLACEMENT = "order", "placement"
"""The names under which the options of an order or placement written in Python stand."""


@dataclass(frozen=True)
class Policy:
    """How to order, backfill and place, by name; ``gnomon.api.parse_policy("sjf+easy")`` makes one of text.

    ``order``, ``backfill`` ("" for none) and ``placement`` are names (``gnomon.api.POLICY_NAMES``), or a callable
    written in Python: ``order(view, waiting) -> keys`` and ``placement(view, task, feasible) -> node``
    (:mod:`gnomon.scheduling.custom`). ``options`` holds what stood after the colons, by part:
    ``{"easy": {"extra": False}}``; the options of a callable stand under "order" or "placement". ``text`` is how it
    is called in results; if it is not given, the names of its parts.

    >>> def widest_first(view, tasks):
    ...     return -view.cpu_milli[tasks]
    >>> Policy().text, Policy("sjf", "easy").text, Policy(order=widest_first, backfill="easy").text
    ('fcfs', 'sjf+easy', 'widest_first+easy')
    """

    order: str | Callable[..., Any] = "fcfs"
    backfill: str = ""
    placement: str | Callable[..., Any] = "first-fit"
    options: tuple[tuple[str, tuple[tuple[str, Option], ...]], ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            parts = (_name(self.order), Policy.order), (self.backfill, ""), (_name(self.placement), Policy.placement)
            text = "+".join(name for name, default in parts if name != default)
            object.__setattr__(self, "text", text or Policy.order)

    def option(self, part: str, name: str, default: Option) -> Option:
        """What was said for ``part:name=``, or the default."""
        return dict(dict(self.options).get(part, ())).get(name, default)

    def with_order(self, order: Callable[..., Any]) -> Policy:
        """This policy with an order written in Python in place of the named one, whose options stay.

        >>> def widest_first(view, tasks):
        ...     return -view.cpu_milli[tasks]
        >>> Policy(options=(("fcfs", (("head", True),)),), text="fcfs:head=committed").with_order(widest_first).text
        'widest_first:head=committed'
        """
        named, name = str(self.order), _name(order)
        text = self.text.replace(named, name, 1) if named in self.text else f"{name}+{self.text}"
        options = tuple((PYTHON_ORDER if part == named else part, given) for part, given in self.options)
        return replace(self, order=order, options=options, text=text)


def _name(part: str | Callable[..., Any]) -> str:
    """What a part of a policy is called."""
    return part if isinstance(part, str) else getattr(part, "__name__", type(part).__name__)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A user or a queue with a share (weight) and a limit on what it may hold at a time (None: no limit)."""

    name: str
    weight: float = 1.0
    limit: Resources | None = None
    max_running: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a run; reaching one is a reported result, not a hang.

    ``events``: most log rows; ``until_ns``: the horizon; ``repeats``: most passes at one instant without progress.
    """

    events: int = 2**40
    until_ns: int = NEVER
    repeats: int = 1_000_000


@dataclass(frozen=True)
class Scenario:
    """All that a run is a function of, besides the code.

    - ``cluster``, ``work``, ``policy``: where, what, and by which rules; ``system``: whose rules these are.
    - ``seed``: of all that is random; ``limits``: where the run ends, if not by itself.
    - ``name``: what it is called; ``source``: the file it comes from.
    - ``kill_at_limit``: a task that reaches its estimate is killed (else it runs on for its real duration).
    - ``gang``: jobs of several tasks start all or nothing; off, their tasks are placed one by one, hold what they
      have and wait for their peers.
    - ``tenants_by``: "user" or "queue", whom fair orders and limits look at; ``tenants``: their shares and limits.
    - ``preempt``: a task may take the place of running tasks of lower priority.
    - ``native``: what only the scenario's system reads, in its own terms.
    - ``faults``: what goes wrong; ``operation``: how use is enforced, and how what goes wrong is noticed and answered.
    - ``properties``: what is to hold of every run, in words that a search for faults that break it understands.
    """

    cluster: Cluster
    work: Work
    policy: Policy = field(default_factory=Policy)
    system: str = "plain"
    seed: int = 0
    limits: Limits = Limits()
    kill_at_limit: bool = True
    gang: bool = True
    preempt: bool = False
    tenants_by: str = "user"
    tenants: Sequence[Tenant] = ()
    name: str = ""
    source: str = ""
    faults: tuple[Failure | FailureProcess, ...] = ()
    operation: Operation = Operation()
    properties: tuple[str, ...] = ()
    native: object = field(default=None, compare=False, repr=False)
