"""Probes that kill, Jobs that are cleaned up, claims of StatefulSets, DaemonSets that change, CronJobs, a descheduler
and pods that leave, at random and with faults among them: every invariant holds after every instant."""

from __future__ import annotations

import random

import pytest

from gnomon.model.errors import InputError
from tests.systems.kubernetes.descheduler.test_cycle import budget, policy
from tests.systems.kubernetes.play import Object, job, node, play, pod, spec, workload
from tests.systems.kubernetes.test_random_clusters import fault, priority

STORAGE: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "sc"},
    "provisioner": "x",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "sc", "resources": {"requests": {"storage": "1Gi"}}},
}
USES = ("10Mi", "0s 10Mi, 5m 2Gi", "0s 1Gi, 1m 40Gi")


def times(draw: random.Random) -> Object:
    found = {"ready-after": f"{draw.choice([0, 5, 30])}s", "stops-after": f"{draw.choice([0, 3, 20])}s"}
    for name, said in (("live-after", "20s"), ("hangs-after", "60s"), ("usage-memory", draw.choice(USES))):
        if draw.random() < 0.3:
            found[name] = said
    return {f"gnomon.dev/{name}": said for name, said in found.items()}


def template(draw: random.Random, version: int, **more: object) -> Object:
    limits = {"memory": "1Gi"} if draw.random() < 0.3 else {}
    found = spec(image=f"a:{version}", requests={"cpu": draw.choice(["100m", "1"])}, limits=limits, **more)
    found["priorityClassName"] = draw.choice(["low", "high"])
    for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
        if draw.random() < 0.35:
            period, failures = draw.choice([1, 10]), draw.choice([1, 3])
            found["containers"][0][kind] = {"periodSeconds": period, "failureThreshold": failures}
    return found


def daemons(draw: random.Random, version: int) -> Object:
    bounds = draw.choice([{"maxSurge": 1, "maxUnavailable": 0}, {"maxUnavailable": "50%"}])
    update = {"type": "RollingUpdate", "rollingUpdate": bounds}
    found = workload("DaemonSet", "ds", 1, template(draw, version), times(draw), updateStrategy=update)
    del found["spec"]["replicas"]
    return found


def jobs(draw: random.Random) -> list[Object]:
    lasts = {**times(draw), "gnomon.dev/duration": f"{draw.choice([10, 100, 400])}s"}
    policies = {"restartPolicy": draw.choice(["Never", "OnFailure"])}
    counts = {"completions": draw.randint(1, 4), "parallelism": draw.randint(0, 3), "completionMode": "Indexed"}
    one = job("j", template(draw, 1, **policies), lasts, **counts, ttlSecondsAfterFinished=draw.choice([0, 60]))
    made = {"spec": job("x", template(draw, 1, restartPolicy="OnFailure"), backoffLimit=2)["spec"]}
    made["spec"]["template"]["metadata"] = {"annotations": lasts}
    rule = {"schedule": "*/2 * * * *", "concurrencyPolicy": draw.choice(["Allow", "Forbid", "Replace"])}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "cj"},
        "spec": {**rule, "jobTemplate": made},
    }
    return [one, cron]


def bare(draw: random.Random, number: int, nodes: int) -> Object:
    found = pod(f"p{number}", times(draw), requests={"cpu": "500m"})
    if draw.random() < 0.6:
        found["spec"]["nodeName"] = f"n{draw.randrange(nodes + 1)}"
    if draw.random() < 0.4:
        found["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    return found


def played(seed: int) -> bytes | str:
    draw = random.Random(seed)
    number = draw.randint(2, 4)
    nodes = [node(f"n{k}", cpu=draw.choice(["2", "4"]), memory=draw.choice(["4Gi", "32Gi"])) for k in range(number)]
    objects = [*nodes, priority("low", 1), priority("high", 100), STORAGE, *jobs(draw), daemons(draw, 1)]
    update = draw.choice([{"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}])
    claims = {"volumeClaimTemplates": [CLAIM], "updateStrategy": update}
    objects.append(workload("StatefulSet", "s", 2, template(draw, 1), times(draw), **claims))
    objects.append(workload("Deployment", "d", draw.randint(1, 4), template(draw, 1), times(draw)))
    objects.append(budget("b", "d", maxUnavailable=draw.choice([0, 1, "50%"])))
    if draw.random() < 0.5:
        low = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 40}}
        objects.append(policy({"LowNodeUtilization": low}))
    objects += [bare(draw, k, number) for k in range(draw.randint(0, 3))]
    changes = sorted(((draw.randint(1, 600), [daemons(draw, version)]) for version in (2, 3)), key=lambda one: one[0])
    faults = [fault(draw, number) for _ in range(draw.randint(1, 4))]
    return play(objects, until_s=1500, faults=faults, changes=changes, seed=seed).log.digest()


@pytest.mark.parametrize("seed", range(16))
def test_invariants_hold_and_runs_repeat(seed: int) -> None:
    try:
        digest = played(seed)
    except InputError as error:
        if "overlapping" not in str(error):  # two outages of one node at a time are refused
            raise
        return
    if seed % 5 == 1:
        assert digest == played(seed)
