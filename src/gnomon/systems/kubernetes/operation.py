"""How a Kubernetes cluster is run: the constants of kubelet and controllers, as the shared parts take them.

Sources (semantics sheets §8 to §11): ``pkg/kubelet/apis/config/v1beta1/defaults.go``, ``pkg/kubelet/eviction``,
``pkg/controller/nodelifecycle``, ``cmd/kube-controller-manager`` options, component-base's leader election, of the
versions that the sheet names; node-monitor-grace-period by PR 126287 (1.32).
"""

from __future__ import annotations

from typing import Final

from gnomon.model.operation import ControlPlane, Enforcement, Eviction, Heartbeat, Operation, Pressure
from gnomon.model.recovery import Backoff, Recovery, Retry
from gnomon.systems.kubernetes.api.constraints import TOLERATION_S, ZONE
from gnomon.systems.kubernetes.api.objects import Pod

SECOND: Final = 10**9
MEBI: Final = 2**20

NEWEST: Final = (1, 34)
"""The version that is modelled unless another is asked for."""

LEASE_RENEWAL_S: Final = 10
MONITOR_PERIOD_S: Final = 5
EVICTION_PERIOD_S: Final = 10
PRESSURE_TRANSITION_S: Final = 300
HARD_MEMORY: Final = 100 * MEBI

CRASH_LOOP: Final = Backoff(first_ns=10 * SECOND, factor_e4=20_000, most_ns=300 * SECOND, free=1, reset_ns=600 * SECOND)
"""Restarts of a container: the first at once, then 10 s doubling to 5 min, anew after 10 min of running."""

OWN_DOING: Final = ("exit", "memory", "killed")
"""What a container dies of by itself: it is restarted where it is."""

TAKEN_AWAY: Final = ("node", "evicted", "drained", "disk", "store", "device", "peer")
"""What takes the pod as a whole."""


def grace_s(version: tuple[int, int]) -> int:
    """node-monitor-grace-period: 40 s up to 1.31, 50 s from 1.32 on.

    >>> grace_s((1, 31)), grace_s((1, 32))
    (40, 50)
    """
    return 50 if version >= (1, 32) else 40


def operation_of(version: tuple[int, int] = NEWEST) -> Operation:
    """The defaults of a version."""
    return Operation(
        enforcement=Enforcement(
            pressures=(
                Pressure(
                    "memory",
                    below=HARD_MEMORY,
                    check_ns=EVICTION_PERIOD_S * SECOND,
                    order="over-request",
                    calm_ns=PRESSURE_TRANSITION_S * SECOND,
                ),
            ),
            out_of_memory="oom-score",
        ),
        detection=Heartbeat(
            LEASE_RENEWAL_S * SECOND, MONITOR_PERIOD_S * SECOND, grace_s(version) * SECOND, since="seen"
        ),
        eviction=Eviction(
            after_ns=TOLERATION_S * SECOND,
            every_ns=10 * SECOND,
            zone=ZONE,
            partial_e4=5_500,
            partial_more=2,
            large=50,
            partial_every_ns=100 * SECOND,
            all_stop=True,
        ),
        control=ControlPlane(members=3, lease_ns=15 * SECOND, step_down_ns=10 * SECOND),
    )


def recovery_of(pod: Pod) -> Recovery:
    """What is done when an attempt of a pod is lost, by its restart policy and by who made it.

    A container is restarted in place by the kubelet; a pod that is gone as a whole is made anew by its controller, and
    by nobody if it has none. How often a Job's pods are, its controller says, which counts them all.
    """
    if pod.owner is not None and pod.owner.kind == "Job" and pod.spec.restart_policy == "Never":
        return Recovery((Retry((*OWN_DOING, *TAKEN_AWAY)),))
    restarts = Retry(OWN_DOING, -1 if pod.spec.restart_policy != "Never" else 0, CRASH_LOOP, in_place=True)
    return Recovery((restarts, Retry(TAKEN_AWAY, -1 if pod.owner is not None else 0)))
