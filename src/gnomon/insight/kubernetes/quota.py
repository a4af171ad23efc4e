"""A pod that a quota refuses: which quota, by how much, who holds it."""

from __future__ import annotations

from gnomon.insight.explain.phrases import Numbers, listed
from gnomon.insight.explain.waits import Wait
from gnomon.insight.kubernetes.classes import quantity, shown
from gnomon.insight.kubernetes.moment import Moment, quota_key, usage_of
from gnomon.insight.kubernetes.pod_waits import PodWait
from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.policies import ResourceQuota
from gnomon.systems.kubernetes.apiserver.quotas import applies

Over = dict[str, tuple[int, int, int]]
"""By what a quota limits, where it is exceeded: asked, used, hard."""


def binding(moment: Moment) -> tuple[ResourceQuota, Over] | None:
    """The quota that refuses the pod, and by what it limits (asked, used, hard) where it is exceeded; None: a limit
    range, a priority class that is not there, or a field that is missing."""
    for quota in moment.objects.resource_quotas:
        if f"exceeded quota: {quota.name}," not in moment.refused:
            continue  # limit ranges and priority classes are looked at first, and so is a quota that stands before it
        used = moment.in_use[quota_key(quota)]
        asked = usage_of(quota, moment.pod)
        over = {
            name: (amount, used.get(name, 0), quota.hard[name])
            for name, amount in asked.items()
            if used.get(name, 0) + amount > quota.hard[name]
        }
        if over:
            return quota, over
    return None


def quota_wait(moment: Moment) -> Wait:
    """The refusal as a wait for a limit."""
    found = binding(moment)
    if found is None:
        return PodWait("infeasible", "admission", f"pod/{moment.pod.key}", moment.refused)
    quota, over = found
    numbers: Numbers = {}
    for name, (asked, used, hard) in over.items():
        numbers |= {f"asked_{name}": shown_of(name, asked), f"used_{name}": shown_of(name, used)}
        numbers[f"limit_{name}"] = shown_of(name, hard)
    parts = [
        f"{name} {amount_of(name, asked)} asked, {amount_of(name, used)} of {amount_of(name, hard)} used"
        for name, (asked, used, hard) in over.items()
    ]
    text = listed(parts)
    return PodWait("limit", "quota", f"resourcequota/{quota.namespace}/{quota.name}", text, numbers, NEVER)


def shown_of(name: str, amount: int) -> int | float:
    """An amount by the name that quotas have for it."""
    return shown(name.rpartition(".")[2] if name.endswith("cpu") else name, amount)


def quota_summary(moment: Moment) -> str:
    """The refusal in a sentence."""
    pod = moment.pod
    found = binding(moment)
    if found is None:
        return f"{pod.key} is not created: {moment.refused}"
    quota, over = found
    parts = [
        f"{name} of {amount_of(name, hard)}, of which {amount_of(name, used)} is used and it asks for "
        f"{amount_of(name, asked)} ({amount_of(name, used + asked)} > {amount_of(name, hard)})"
        for name, (asked, used, hard) in over.items()
    ]
    what = f"the quota {quota.namespace}/{quota.name} allows {listed(parts)}"
    return f"{pod.key} is not created, and the scheduler never sees it: {what}{_held_idle(moment, quota, over)}"


def _held_idle(moment: Moment, quota: ResourceQuota, over: Over) -> str:
    """That those who hold the quota wait themselves."""
    holders = holders_of(moment, quota, over)
    if not holders or any(one.node_name for one in holders):
        return ""
    return f"; it is held by {listed([one.key for one in holders], 4)}, of which none has a node"


def holders_of(moment: Moment, quota: ResourceQuota, over: Over) -> list[Pod]:
    """The pods that count in what is exceeded."""
    counting = [one for one in moment.created if applies(quota, one)]
    return [one for one in counting if any(usage_of(quota, one).get(name) for name in over)]


def amount_of(name: str, amount: int) -> str:
    """An amount as one writes it in a quota."""
    return quantity(name, amount).partition(" ")[0]
