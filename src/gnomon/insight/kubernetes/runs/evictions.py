"""A pod that the descheduler sends away, perhaps again and again: from where to where, whether that ever ends, and what
would end it (user problem U16).

A run of the descheduler depends on the layout alone (how many pods of each kind are on each node), so a layout that
is there again means that the same evictions follow: a cycle without an end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from gnomon.engine.log import Kind, Log
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.changes import LIMIT, Change, Simulate, cost_of
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import Plain, counted, listed, span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.kubernetes.runs.reruns import in_step
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.descheduling import LOW, PERCENT, DeschedulerPolicy, Profile, Utilization
from gnomon.systems.kubernetes.api.objects import PodDisruptionBudget
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.descheduler.evictor import CRITICAL_FROM
from gnomon.systems.kubernetes.fleets.makers import INDEX_LABEL, ORDINAL_LABEL
from gnomon.systems.kubernetes.fleets.native import Native, native_of
from gnomon.systems.kubernetes.scheduler.account import LEFT

TIMES_SHOWN = 3
"""How many evictions are told with their times."""

PLACES_SHOWN = 5

_OF_ITS_CONTROLLER = frozenset(
    (
        HASH_LABEL,
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        ORDINAL_LABEL,
        INDEX_LABEL,
    )
)
"""Labels that controllers give, and that a selector by hand does not name."""

_Layout = frozenset[tuple[tuple[int, int, int], int]]


@dataclass(frozen=True)
class Evictions:
    """The evictions of a pod by the descheduler: rows of the log, the nodes where it was, one after the other, and the
    numbers of two evictions before which the layout was the same, if there are any."""

    rows: tuple[int, ...]
    places: tuple[str, ...]
    back: tuple[int, int] | None


def evictions(log: Log) -> dict[int, list[int]]:
    """The rows with which the descheduler ended attempts, by task."""
    found: dict[int, list[int]] = {}
    for row in sorted(row for row, one in log.details.items() if "plugin" in one and log.kind[row] == Kind.FAIL):
        found.setdefault(int(log.subject[row]), []).append(row)
    return found


def most_evicted(log: Log, tasks: Sequence[int]) -> int:
    """Of some tasks the one that the descheduler ended most often; -1 if it ended none."""
    found = evictions(log)
    among = [task for task in tasks if task in found]
    return max(among, key=lambda task: (len(found[task]), -task), default=-1)


def story(ground: Ground, task: int) -> Evictions | None:
    """What the descheduler did with a pod; None if it was something else that ended it last, or nothing."""
    log = ground.past.log
    rows = evictions(log).get(task, [])
    fails = rows_of(log, (task,), Kind.FAIL)
    if not rows or int(fails[-1]) != rows[-1]:
        return None
    starts = rows_of(log, (task,), Kind.START).tolist()
    places = tuple(ground.node_name(int(log.node[row])) for row in starts)
    layouts = _layouts(ground)
    seen: dict[_Layout, int] = {}
    for number, row in enumerate(rows):
        layout = layouts[int(log.t_ns[row])]
        if layout in seen:
            return Evictions(tuple(rows), places, (seen[layout], number))
        seen[layout] = number
    return Evictions(tuple(rows), places, None)


def _layouts(ground: Ground) -> dict[int, _Layout]:
    """By the time of each cycle in which something was evicted, how many pods of each kind were on each node."""
    log, work = ground.past.log, ground.work
    where: dict[int, int] = {}
    found: dict[int, _Layout] = {}
    for row in range(len(log)):
        kind, task = Kind(int(log.kind[row])), int(log.subject[row])
        if kind is Kind.START:
            where[task] = int(log.node[row])
        elif kind in LEFT and task >= 0:
            if "plugin" in log.details.get(row, {}) and int(log.t_ns[row]) not in found:
                counts = Counter((int(work.job[one]), int(work.shape[one]), node) for one, node in where.items())
                found[int(log.t_ns[row])] = frozenset(counts.items())
            where.pop(task, None)
    return found


# ------------------------------------------------------------------ in words


def native_text(log: Log, found: Evictions) -> str:
    """The event of the last eviction."""
    said = log.details[int(log.cause[found.rows[-1]])]
    return f"{said['reason']}: {said['message']}"


def sentences(ground: Ground, task: int, found: Evictions) -> str:
    """What happened, whether it goes on, and why."""
    log, native = ground.past.log, native_of(ground.scenario)
    times = [span(int(log.t_ns[row])) for row in found.rows]
    plugin = log.details[found.rows[-1]]["plugin"]
    more = len(times) - TIMES_SHOWN
    told = times if more <= 0 else [*times[:TIMES_SHOWN], f"{counted(more, 'more time')}"]
    path = " → ".join([*found.places[:PLACES_SHOWN], *(["…"] if len(found.places) > PLACES_SHOWN else [])])
    text = f"{native.pods[task].key} is evicted by the descheduler ({plugin}) at {listed(told)}: {path}"
    if found.back is not None:
        first, again = (times[number] for number in found.back)
        text += f". At {again} the pods are where they were at {first}, so this goes on for ever"
    loads, most = _loads(ground, found)
    if loads:
        text += f". Wherever it is, its node is over the target: {listed(loads, 4)}, where {most} may be"
    if _fits(native) and loads:
        text += "; nodeFit does not stop it, for it does fit elsewhere"
    return text + "."


def _fits(native: Native) -> bool:
    policy = native.objects.descheduler
    return policy is not None and any(one.evictor.node_fit for one in policy.profiles)


def _loads(ground: Ground, found: Evictions) -> tuple[list[str], str]:
    """On each node from which it was evicted how much was asked for there, and how much may be."""
    log, told, bounds = ground.past.log, dict[str, str](), dict[str, None]()
    for row in found.rows:
        facts, node = log.details[row], ground.node_name(int(log.node[row]))
        if "resource" in facts and node not in told:
            name = str(facts["resource"])
            used, bound, offered = (int(facts[key]) for key in ("used", "bound", "offered"))
            written = f"{format_quantity(used, name)} of {format_quantity(offered, name)}"
            told[node] = f"{_percent(used, offered)} of {name} on {node} ({written})"
            bounds[_percent(bound, offered)] = None
    return list(told.values()), " or ".join(bounds)


def _percent(part: int, whole: int) -> str:
    return f"{float(Fraction(100 * part, max(whole, 1))):.4g} %"


# ------------------------------------------------------------------ what would end it


@dataclass(frozen=True)
class _Try:
    what: str
    object: str
    field: str
    before: Plain | None
    after: Plain | None
    size: float
    scenario: Scenario


def against_evictions(ground: Ground, task: int, found: Evictions, simulate: Simulate) -> list[Change]:
    """The changes after which the pod is never evicted, each simulated, the smallest first."""
    told: list[Change] = []
    for one in _tries(ground, task, found):
        try:
            log = simulate(one.scenario)
        except InputError:
            continue
        if task not in evictions(log):
            cost = cost_of(LIMIT, one.size)
            text = f"{one.what}: it stays where it is"
            told.append(Change(text, one.object, one.field, one.before, one.after, cost, confirmed=True))
    return sorted(told, key=lambda one: one.cost)


def _tries(ground: Ground, task: int, found: Evictions) -> Iterator[_Try]:
    scenario, native = ground.scenario, native_of(ground.scenario)
    policy = native.objects.descheduler
    if policy is None:
        return
    yield from _higher_targets(ground, task, found, policy)
    yield from _spared_by_label(scenario, native, task)
    yield from _spared_by_priority(scenario, native, policy, task)
    yield from _spared_by_replicas(scenario, native, policy, task)
    pod = native.pods[task]
    if pod.labels.keys() - _OF_ITS_CONTROLLER and not any(
        one.namespace == pod.namespace and selects(one.selector, pod.labels)
        for one in native.objects.disruption_budgets
    ):
        own = sorted((key, value) for key, value in pod.labels.items() if key not in _OF_ITS_CONTROLLER)
        selector = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in own))
        budget = PodDisruptionBudget(f"{pod.name}-stays", pod.namespace, selector, max_unavailable=0)
        objects = replace(native.objects, disruption_budgets=(*native.objects.disruption_budgets, budget))
        labels = ",".join(f"{key}={value}" for key, value in own)
        yield _Try(
            f"a PodDisruptionBudget for {labels} with maxUnavailable 0 (no drain can send it away then, either)",
            f"poddisruptionbudget/{pod.namespace}/{budget.name}",
            "spec.maxUnavailable",
            None,
            0,
            3.0,
            replace(scenario, native=replace(native, objects=objects)),
        )


def _with_policy(scenario: Scenario, change: Callable[[Profile], Profile]) -> Scenario:
    native = native_of(scenario)
    policy = native.objects.descheduler
    assert policy is not None
    changed = replace(policy, profiles=tuple(change(one) for one in policy.profiles))
    return replace(scenario, native=replace(native, objects=replace(native.objects, descheduler=changed)))


def _higher_targets(ground: Ground, task: int, found: Evictions, policy: DeschedulerPolicy) -> Iterator[_Try]:
    """Targets that no node was over when it was evicted there: its share with what else is there, wherever it was."""
    log, needed, where = ground.past.log, dict[str, Fraction](), dict[str, str]()
    for row in found.rows:
        facts = log.details[row]
        if facts["plugin"] != LOW or "resource" not in facts:
            return
        name, load = str(facts["resource"]), Fraction(100 * int(facts["used"]), int(facts["offered"]))
        if load > needed.get(name, 0):
            needed[name], where[name] = load, ground.node_name(int(log.node[row]))
    targets = {name: ceil(load) for name, load in needed.items()}
    present = [one for one in policy.plugins if isinstance(one, Utilization) and one.name == LOW and not one.deviation]
    if not targets or not present or any(name not in present[0].targets for name in targets):
        return
    before = {name: Fraction(present[0].targets[name], PERCENT) for name in targets}

    def raised(profile: Profile) -> Profile:
        return replace(
            profile,
            balance=tuple(
                replace(one, targets={**one.targets, **{name: most * PERCENT for name, most in targets.items()}})
                if one in present
                else one
                for one in profile.balance
            ),
        )

    native = native_of(ground.scenario)
    name = max(targets, key=lambda one: targets[one] - before[one])
    own = pod_requests(native.pods[task].spec).get(name, 0)
    node = next(one for one in native.objects.nodes if one.name == where[name])
    share = ceil(Fraction(100 * own, max(node.allocatable.get(name, 0), 1)))
    phrases = [f"{one} {float(before[one]):g} → {most}" for one, most in targets.items()]
    yield _Try(
        f"targetThresholds {listed(phrases)}, as much as its own share of {share} and what else is on {where[name]}",
        f"deschedulerpolicy/{LOW}",
        f"targetThresholds.{name}",
        float(before[name]) if before[name].denominator > 1 else int(before[name]),
        targets[name],
        float((targets[name] - before[name]) / max(before[name], Fraction(1))),
        _with_policy(ground.scenario, raised),
    )


def _spared_by_label(scenario: Scenario, native: Native, task: int) -> Iterator[_Try]:
    """The evictor passes over pods with the label that fewest others have."""
    pod = native.pods[task]
    others = Counter((key, value) for one in native.pods for key, value in one.labels.items())
    labels = [item for item in pod.labels.items() if item[0] not in _OF_ITS_CONTROLLER]
    own = sorted(labels, key=lambda item: (others[item], item))
    if not own:
        return
    key, value = own[0]
    rule = Requirement(key, "NotIn", (value,))

    def sparing(profile: Profile) -> Profile:
        before = profile.evictor.label_selector or LabelSelector()
        selector = LabelSelector((*before.requirements, rule))
        return replace(profile, evictor=replace(profile.evictor, label_selector=selector))

    what = f"DefaultEvictor.labelSelector {key} NotIn ({value})"
    yield _Try(
        what, "deschedulerpolicy/DefaultEvictor", "labelSelector", None, f"{key} NotIn ({value})", 1.0,
        _with_policy(scenario, sparing),
    )  # fmt: skip


def _spared_by_priority(scenario: Scenario, native: Native, policy: DeschedulerPolicy, task: int) -> Iterator[_Try]:
    """A priority above the others', from which on the evictor passes over pods."""
    if any(one.evictor.priority_threshold is not None or one.evictor.priority_class for one in policy.profiles):
        return
    pod = native.pods[task]
    peers = [
        one for one, other in enumerate(native.pods) if (other.namespace, other.owner) == (pod.namespace, pod.owner)
    ]
    others = [other.priority for one, other in enumerate(native.pods) if one not in peers]
    most = max((one for one in others if one < CRITICAL_FROM), default=-1)
    wanted = max(most + 1, pod.priority)
    varied = scenario if wanted == pod.priority else vary.with_column(scenario, "priority", peers, wanted)
    raised = in_step(scenario, varied)
    if raised is None:
        return

    def sparing(profile: Profile) -> Profile:
        return replace(profile, evictor=replace(profile.evictor, priority_threshold=wanted))

    give = "" if wanted == pod.priority else f", and the pod the priority {wanted}"
    yield _Try(
        f"DefaultEvictor.priorityThreshold.value {wanted}{give}", "deschedulerpolicy/DefaultEvictor",
        "priorityThreshold.value", None, wanted, 1.5, _with_policy(raised, sparing),
    )  # fmt: skip


def _spared_by_replicas(scenario: Scenario, native: Native, policy: DeschedulerPolicy, task: int) -> Iterator[_Try]:
    """The evictor passes over workloads with few pods."""
    pod = native.pods[task]
    count = sum(1 for one in native.pods if pod.owner and (one.namespace, one.owner) == (pod.namespace, pod.owner))
    if not count or any(one.evictor.min_replicas > count for one in policy.profiles):
        return

    def sparing(profile: Profile) -> Profile:
        return replace(profile, evictor=replace(profile.evictor, min_replicas=count + 1))

    before = max(one.evictor.min_replicas for one in policy.profiles)
    yield _Try(
        f"DefaultEvictor.minReplicas {count + 1}", "deschedulerpolicy/DefaultEvictor", "minReplicas", before,
        count + 1, 2.0, _with_policy(scenario, sparing),
    )  # fmt: skip
