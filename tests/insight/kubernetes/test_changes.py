"""Changes are tried by running the scheduling cycle again; here each kind on the smallest cluster that needs it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gnomon.api import explain
from gnomon.insight.explain import Explanation
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of


def node(name: str, *, spec: str = "{}", labels: str = "", cpu: str = "4", pods: int = 110) -> str:
    more = f", {labels}" if labels else ""
    amounts = f'{{cpu: "{cpu}", memory: 8Gi, pods: {pods}}}'
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}{more}}}}}
spec: {spec}
status: {{allocatable: {amounts}, capacity: {amounts}}}
"""


def pod(name: str, *, on: str = "", cpu: str = "1", labels: str = "", spec: str = "", container: str = "") -> str:
    bound = f"nodeName: {on}, " if on else ""
    more = f", {container}" if container else ""
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, uid: u-{name}, labels: {{{labels}}}}}
spec: {{{bound}{spec}containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}{more}}}]}}
"""


CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{{}accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
"""
DISKS = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}, provisioner: disk.csi.example}"


def told(subject: str, *documents: str, why_not: str | None = None) -> Explanation:
    values = [value for text in documents for value in yaml.safe_load_all(text)]
    return explain(subject, scenario_of(objects_of(values)), why_not=why_not)


def first(found: Explanation) -> tuple[Any, ...]:
    change = found.changes[0]
    return change.field, change.before, change.after


class TestOwnChanges:
    def test_the_taint_that_is_tolerated_with_one_toleration_comes_first(self) -> None:
        found = told(
            "p",
            node("a", spec="{taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]}"),
            node("b", spec="{taints: [{key: gpu, value: a100, effect: NoSchedule}, {key: team, effect: NoExecute}]}"),
            node("c", spec="{taints: [{key: team, value: ml, effect: NoSchedule}]}"),
            pod("p"),
        )
        assert first(found) == ("spec.tolerations", None, "team=ml:NoSchedule")
        assert [one.after for one in found.changes if one.field == "spec.tolerations"] == [
            "team=ml:NoSchedule",
            "node-role.kubernetes.io/control-plane:NoSchedule",
            "gpu=a100:NoSchedule and team:NoExecute",
        ]

    def test_a_node_that_is_not_ready_is_no_advice(self) -> None:
        taint = "{taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}"
        found = told("p", node("a", spec=taint), pod("p"))
        assert not any(one.field == "spec.tolerations" for one in found.changes)

    def test_the_largest_request_that_fits_somewhere(self) -> None:
        found = told(
            "p", node("a"), node("b"), pod("x", on="a", cpu="3"), pod("y", on="b", cpu="1500m"), pod("p", cpu="4")
        )
        assert first(found) == ("spec.containers[c].resources.requests.cpu", "4", "2500m")
        assert found.changes[0].what.endswith("it fits on b")
        assert found.changes[0].cost == pytest.approx(1 + 0.375 / 1.375, abs=1e-4)

    def test_a_priority_class_that_preempts(self) -> None:
        gold = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, value: 100}"
        found = told("p", gold, node("a"), pod("x", on="a", cpu="3"), pod("p", cpu="2"))
        assert ("spec.priorityClassName", 0, "gold") in [(one.field, one.before, one.after) for one in found.changes]
        (change,) = (one for one in found.changes if one.field == "spec.priorityClassName")
        assert "takes the place of default/x on a" in change.what


class TestConstraints:
    def test_a_key_that_nodes_spell_otherwise(self) -> None:
        found = told("p", node("a", labels="disk-type: ssd"), pod("p", spec="nodeSelector: {disktype: ssd}, "))
        assert first(found) == ("spec.nodeSelector", "disktype=ssd", "disk-type=ssd")

    def test_a_value_of_the_required_affinity(self) -> None:
        terms = "[{matchExpressions: [{key: pool, operator: In, values: [bach]}]}]"
        required = f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}"
        spec = f"affinity: {{nodeAffinity: {required}}}, "
        found = told("p", node("a", labels="pool: batch"), pod("p", spec=spec))
        assert first(found) == ("spec.affinity.nodeAffinity.required[0].pool", "bach", "bach, batch")

    def test_an_anti_affinity_term_and_the_pod_that_it_bars(self) -> None:
        term = "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]"
        spec = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {term}}}}}, "
        found = told("p", node("a"), pod("x", on="a", labels="app: db"), pod("p", labels="app: db", spec=spec))
        assert found.waiting[0].object == "pod/default/x"
        assert [one.field or one.object for one in found.changes[:3]] == [
            "spec.priority",  # the order of kinds: own priority before own constraints
            "spec.affinity.podAntiAffinity.required[0]",
            "pod/default/x",
        ]

    def test_a_host_port_and_who_has_it(self) -> None:
        port = "ports: [{containerPort: 80, hostPort: 8080}]"
        found = told("p", node("a"), pod("x", on="a", container=port), pod("p", container=port))
        assert "host port 8080 is taken on 1 node (on a by default/x)" in found.summary
        assert "take no host port 8080: it fits on a" in [one.what for one in found.changes]

    def test_gates(self) -> None:
        found = told("p", node("a"), pod("p", spec="schedulingGates: [{name: example.com/hold}], "))
        assert (found.state, found.native) == ("waiting", "waiting for scheduling gates: [example.com/hold]")
        assert first(found) == ("spec.schedulingGates", "example.com/hold", None)


class TestOthers:
    def test_a_cordoned_node(self) -> None:
        found = told("p", node("a", spec="{unschedulable: true}"), pod("p"))
        assert found.native.startswith("0/1 nodes are available: 1 node(s) were unschedulable.")
        assert first(found) == ("spec.unschedulable", "true", "false")

    def test_the_smallest_pod_whose_end_makes_room_and_less_for_a_larger_one(self) -> None:
        found = told("p", node("a"), pod("x", on="a", cpu="1"), pod("y", on="a", cpu="3"), pod("p", cpu="1"))
        others = [(one.object, one.before, one.after) for one in found.changes if 4 <= one.cost < 5]
        assert others == [("pod/default/y", "3 cpu", "2 cpu"), ("pod/default/x", "running", None)]

    def test_one_more_node_like_one_that_is_there(self) -> None:
        found = told("p", node("a", pods=1), pod("x", on="a"), pod("p"))
        assert found.changes[-1].what == "one more node like a: it fits on that"

    def test_nothing_is_told_that_was_not_confirmed(self) -> None:
        found = told("p", node("a"), pod("p", spec="nodeSelector: {pool: x}, schedulingGates: [{name: a/b}], "))
        assert found.changes == ()

    def test_two_changes_where_two_rules_hold_it(self) -> None:
        """It is too large for the node, and the node has another label."""
        found = told("p", node("a"), pod("p", cpu="8", spec="nodeSelector: {pool: x}, "))
        assert found.notes[:2] == (
            "no single change that was tried lets it fit",
            "what is listed is two changes together",
        )
        assert [one.what for one in found.changes] == [
            "no longer select nodes by pool=x, and ask for 4 cpu instead of 8: it fits on a"
        ]


class TestWhyNot:
    def test_the_points_of_both_nodes_by_plugin(self) -> None:
        found = told("p", node("a"), node("b"), pod("x", on="a", cpu="2"), pod("p"), why_not="a").as_dict()["why_not"]
        mine, other = found["scores"]
        assert (mine["node"], other["node"], found["fits"]) == ("a", "b", True)
        assert mine["total"] == sum(mine["scores"].values()) < other["total"]

    def test_each_plugin_that_tells_them_apart_is_named(self) -> None:
        found = told("p", node("a"), node("b"), pod("x", on="a", cpu="2"), pod("p"), why_not="a").why_not
        assert found is not None
        mine, other = found.as_dict()["scores"]
        apart = [name for name in mine["scores"] if mine["scores"][name] != other["scores"][name]]
        assert apart
        for name in apart:
            assert f"{name} {mine['scores'][name]} to {other['scores'][name]}" in found.text

    def test_an_unknown_node(self) -> None:
        from gnomon.model.errors import InputError

        with pytest.raises(InputError, match="node"):
            told("p", node("a"), pod("p"), why_not="aa")


def test_pods_in_front_take_their_places_first() -> None:
    found = told("p", node("a"), pod("q", cpu="3", spec="priority: 5, "), pod("p", cpu="2"))
    assert "default/q, which stands in front of it, takes its place on a" in [one.text for one in found.chain]
    assert found.native.startswith("0/1 nodes are available: 1 Insufficient cpu.")


class TestNotTried:
    def test_a_scheduler_that_is_not_there(self) -> None:
        found = told("p", node("a"), pod("p", spec="schedulerName: gang, "))
        assert found.native == "no scheduler of the name gang is set up, and nobody looks at it"
        assert first(found) == ("spec.schedulerName", "gang", "default-scheduler")

    def test_a_claim_that_is_not_there_bars_all_nodes(self) -> None:
        claim = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], "
        found = told("p", node("a"), node("b"), pod("p", spec=claim))
        text = 'persistentvolumeclaim "data" not found'
        assert found.native == f"0/2 nodes are available: {text}. not found"
        assert [(one.nodes, one.reasons, one.as_dict()["plugin"]) for one in found.classes] == [
            (2, (text,), "VolumeBinding")
        ]


class TestInARealCluster:
    """What a controller would undo, or takes from a sibling, is no help."""

    OWNED = "{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}"

    def owned(self, name: str, owner: str = OWNED, **more: Any) -> str:
        return pod(name, **more).replace("metadata: {", f"metadata: {{ownerReferences: [{owner}], ")

    def test_no_sibling_is_robbed(self) -> None:
        """A priority in its template would be its siblings' too, and a sibling that is deleted is made anew."""
        found = told("web-b", node("a"), self.owned("web-a", on="a", cpu="3"), self.owned("web-b", cpu="3"))
        assert not any("priority" in one.field for one in found.changes)
        assert not any("web-a" in one.what for one in found.changes)

    def test_another_workload_is_scaled_down_and_its_pod_not_only_deleted(self) -> None:
        other = self.OWNED.replace("web", "cart")
        found = told("p", node("a"), self.owned("cart-a", other, on="a", cpu="3"), pod("p", cpu="3"))
        (change,) = (one for one in found.changes if one.field == "spec.replicas")
        assert (change.object, change.before, change.after) == ("replicaset/default/cart", 1, 0)
        assert not any(one.what.startswith("delete") for one in found.changes)

    def test_the_last_of_a_set_goes_first(self) -> None:
        other = self.OWNED.replace("web", "db").replace("ReplicaSet", "StatefulSet")
        on_two = [self.owned(f"db-{i}", other, on=name, cpu="3") for i, name in enumerate("ab")]
        found = told("p", node("a"), node("b"), *on_two, pod("p", cpu="3"))
        (change,) = (one for one in found.changes if one.field == "spec.replicas")
        assert change.what == "scale statefulset/default/db from 2 to 1, which frees b: it fits on b"

    def test_a_priority_that_takes_the_place_of_others(self) -> None:
        other = self.OWNED.replace("web", "cart")
        found = told("web-b", node("a"), self.owned("cart-a", other, on="a", cpu="3"), self.owned("web-b", cpu="3"))
        assert any(one.field == "spec.priority" for one in found.changes)


class TestRemedies:
    def test_a_node_that_is_ready_again(self) -> None:
        taint = "{taints: [{key: node.kubernetes.io/unreachable, effect: NoSchedule}]}"
        found = told("p", node("a", spec=taint), pod("p"))
        assert "a is Ready again: it fits on a" in [one.what for one in found.changes]
        assert found.waiting[0].kind == "event"

    @pytest.mark.parametrize(
        ("names", "classes", "why", "change"),
        [
            (
                "storageClassName: fast, ",
                (),
                "asks for the StorageClass fast, which is not among the objects",
                "create the StorageClass fast: it fits on a",
            ),
            (
                "",
                (),
                "names no StorageClass, and none that is the default is among the objects",
                "a volume for the PersistentVolumeClaim default/data: it fits on a",
            ),
            (
                "storageClassName: slow, ",
                (DISKS,),
                "waits until disk.csi.example has made its volume (StorageClass slow)",
                "a volume for the PersistentVolumeClaim default/data: it fits on a",
            ),
        ],
    )
    def test_a_claim_without_a_volume(self, names: str, classes: tuple[str, ...], why: str, change: str) -> None:
        """The event says neither which claim it is nor why it has no volume."""
        wanted = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], "
        found = told("p", node("a"), *classes, CLAIM.format(names), pod("p", spec=wanted))
        assert found.summary.endswith(f"pod has unbound immediate PersistentVolumeClaims: the claim default/data {why}")
        assert [one.what for one in found.changes] == [change]

    def test_the_claim_that_is_missing_and_one_of_a_like_name(self) -> None:
        claim = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-0}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}
"""
        local = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: x/y}"
        local = local.replace("provisioner", "volumeBindingMode: WaitForFirstConsumer, provisioner")
        wanted = "volumes: [{name: d, persistentVolumeClaim: {claimName: data-O}}], "
        found = told("p", node("a"), local, claim, pod("p", spec=wanted))
        assert [one.what for one in found.changes] == [
            "claimName: data-O → data-0: it fits on a",
            "create the PersistentVolumeClaim default/data-O: it fits on a",
        ]

    def test_a_priority_class_by_its_right_name(self) -> None:
        gold = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: gold}, value: 100}"
        unborn = pod("p", spec="priorityClassName: glod, ").replace("uid: u-p, ", "")
        found = told("p", gold, node("a"), unborn)
        assert found.state == "rejected"
        assert first(found) == ("spec.priorityClassName", "glod", "gold")

    def test_an_amount_within_the_limit_range(self) -> None:
        """Of a limit range and a quota that are both exceeded the former speaks first, and the change meets both."""
        ranges = "{apiVersion: v1, kind: LimitRange, metadata: {name: r}, spec: {limits: [{type: Container, "
        ranges += "max: {memory: 2Gi}}]}}"
        quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {limits.memory: 1Gi}}}"
        unborn = pod("p").replace("uid: u-p, ", "").replace("{requests:", "{limits: {memory: 3Gi}, requests:")
        found = told("p", node("a"), ranges, quota, unborn)
        assert found.native == 'pods "p" is forbidden: maximum memory usage per Container is 2Gi, but limit is 3Gi'
        assert found.native in found.summary
        assert found.waiting[0].rule == "admission"
        assert [one.what for one in found.changes] == [
            "limits.memory: 3Gi → 1Gi, requests.memory: 3Gi → 1Gi: it is created, and it fits on a"
        ]

    def test_as_many_replicas_as_the_quota_lets_be(self) -> None:
        quota = '{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: "2"}}}'
        web = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}
"""
        found = told("deployment/web", node("a"), quota, web)
        assert "scale deployment/default/web from 3 to 2: the quota refuses none of them" in [
            one.what for one in found.changes
        ]


class TestWordsOfASnapshot:
    """Nothing was simulated, and nothing has happened."""

    def test_a_pod_that_is_there_would_be_scheduled(self) -> None:
        said = (
            "status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: too small}]}"
        )
        found = told("p", node("a"), pod("p") + said)
        assert (found.state, found.native) == ("would be scheduled", "Successfully assigned default/p to a")
        assert found.notes == ("the snapshot says of default/p: Unschedulable: too small",)

    def test_a_pod_of_a_manifest_would_be_created(self) -> None:
        found = told("p", node("a"), pod("p").replace("uid: u-p, ", ""))
        assert found.state == "would be created and scheduled"

    def test_since_when_it_is_pending_is_known_of_its_creation(self) -> None:
        made = pod("p", cpu="8").replace("metadata: {", "metadata: {creationTimestamp: '2026-01-02T03:04:05Z', ")
        found = told("p", node("a"), made)
        assert found.summary.endswith("; it is pending since 2026-01-02 03:04:05 UTC")
        assert "from_s" not in found.waiting[0].as_dict()["numbers"]
