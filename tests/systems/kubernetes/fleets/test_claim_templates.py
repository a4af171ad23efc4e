"""Claims of StatefulSets: bound where their pod goes first, which stays there from then on (sheet §4.3)."""

from __future__ import annotations

from typing import Any

from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from gnomon.systems.kubernetes.api.constraints import ZONE
from gnomon.systems.kubernetes.fleets.native import Native
from tests.systems.kubernetes.play import Object, S, node, play, pod, rows, spec, starts, workload


def db(replicas: int, **more: Any) -> Object:
    return workload("StatefulSet", "db", replicas, spec(requests={"cpu": "1"}), **more)


def storage(mode: str = "WaitForFirstConsumer", **more: Any) -> Object:
    metadata = {"name": "fast"}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}
    return {**kind, "provisioner": "disk.example.com", "volumeBindingMode": mode, **more}


def claiming(replicas: int, **more: Any) -> Object:
    claim = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    spec = {**claim, "resources": {"requests": {"storage": "10Gi"}}}
    return db(replicas, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": spec}], **more)


def nodes() -> list[Object]:
    return [node(f"n{i}", cpu="1500m", **{ZONE: f"z{i}"}) for i in (1, 2)]


def test_one_a_template_and_ordinal() -> None:
    native = play([*nodes(), storage(), claiming(2)], until_s=60).scenario.native
    assert isinstance(native, Native)
    assert [one.name for one in native.objects.claims] == ["data-db-0", "data-db-1"]
    assert [one.spec.volumes[0].source for one in native.pods] == ["data-db-0", "data-db-1"]


def test_a_pod_comes_back_to_the_zone_of_its_volume_alone() -> None:
    """It is deleted; when it is to come again its zone is full, and it waits, though the other zone has room."""
    down, again = claiming(0), claiming(1)
    other = pod("other", requests={"cpu": "1"}, nodeSelector={"kubernetes.io/hostname": "?"})
    first = play([*nodes(), storage(), claiming(1)], until_s=60)
    home = rows(first, Kind.START)[0][3]
    other["spec"]["nodeSelector"] = {"kubernetes.io/hostname": home}
    changes = [(100, [down]), (200, [other]), (300, [again])]
    run = play([*nodes(), storage(), claiming(1)], until_s=600, changes=changes)
    assert [(task, where) for _, _, task, where, _ in rows(run, Kind.START)] == [("db-0", home), ("other", home)]
    (message,) = {
        one["message"] for one in run.log.details.values() if "nodes are available" in str(one.get("message"))
    }
    assert str(message).startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match PersistentVolume's node affinity."
    )


def test_the_next_pod_of_a_deployment_may_not_leave_the_zone_of_its_claim_though_that_is_lost() -> None:
    claim: Object = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d"}}
    claim["spec"] = {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}
    template = spec(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}])
    shop = workload("Deployment", "shop", 1, template)
    objects = [*nodes(), storage(), claim, shop]
    home = rows(play(objects, until_s=60), Kind.START)[0][3]
    run = play(objects, until_s=3000, faults=[Failure(Fault.CRASH, 100 * S, 7200 * S, (f"node/{home}",))])
    assert len(starts(run)) == 1
    last = [one["message"] for one in run.log.details.values() if "nodes are available" in str(one.get("message"))][-1]
    assert str(last).startswith(
        "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, "
        "1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }."
    )


def test_a_class_that_binds_at_once_gives_a_volume_at_once() -> None:
    where = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z2"]}]}]
    run = play([*nodes(), storage("Immediate", allowedTopologies=where), claiming(1)], until_s=60)
    assert [(task, node) for _, _, task, node, _ in rows(run, Kind.START)] == [("db-0", "n2")]


def test_without_a_class_that_makes_one_it_waits_for_a_volume() -> None:
    run = play([*nodes(), claiming(1)], until_s=60)
    assert starts(run) == []
    assert "pod has unbound immediate PersistentVolumeClaims" in str(run.log.details)


def test_claims_that_are_there_are_taken() -> None:
    metadata = {"name": "data-db-0", "namespace": "default"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
    run = play([*nodes(), {**claim, "spec": {"volumeName": "gone"}}, claiming(1)], until_s=60)
    assert starts(run) == []
