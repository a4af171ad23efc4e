"""Files of Kubernetes: every way to write the same objects reads the same, and every mistake is one clear line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.constraints import Affinity, NodeSelectorTerm, Requirement, Taint
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.read.files import InputListError, objects_of, read
from tests.shared import SHARED, needs_shared
from tests.systems.kubernetes import play
from tests.systems.kubernetes.read.manifests import NODE, POD, listed, manifest, pod, put

DATA = Path(__file__).parents[3] / "data" / "kubernetes"

WAYS = {
    "documents": "---\n" + "---\n".join(map(manifest, (NODE, POD))) + "---\n# nothing\n",
    "helm template": f"---\n# Source: a\n{manifest(NODE)}---\n# Source: b\n\n{manifest(POD)}",
    "kubectl get -o yaml": manifest(listed(NODE, POD)),
    "an indented list": "apiVersion: v1\nkind: List\nitems:\n  # the first\n"
    + "".join(f"  - {json.dumps(one)}\n" for one in (NODE, POD)),
    "kubectl get -o json": json.dumps(listed(NODE, POD), indent=4),
    "compact": json.dumps(listed(NODE, POD)),
    "JSON lines": f"{json.dumps(NODE)}\n{json.dumps(POD)}\n",
    "JSON one after the other": f"{json.dumps(NODE, indent=2)}\n{json.dumps(POD, indent=2)}",
    "an array": json.dumps([NODE, POD]),
    "lists in a list": json.dumps(listed(listed(NODE), listed(POD)), indent=4),
    "flow style": f"{{apiVersion: v1, kind: List, items: [{json.dumps(NODE)}, {json.dumps(POD)}]}}",
    "a document on its marker": f"--- {json.dumps(NODE)}\n--- {json.dumps(POD)}\n...\n",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bytes_of", ["plain", "Windows", "byte order mark", "gzip"])
def test_all_ways_to_write_objects_read_alike(way: str, bytes_of: str, tmp_path: Path) -> None:
    text = WAYS[way]
    content = {
        "plain": text.encode(),
        "Windows": text.replace("\n", "\r\n").encode(),
        "byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "gzip": gzip.compress(text.encode()),
    }[bytes_of]
    assert read(put(tmp_path, content)) == objects_of([NODE, POD])


def test_fields_are_what_they_say() -> None:
    found = objects_of([NODE, POD])
    (node,), (one,) = found.nodes, found.pods
    assert (node.name, node.labels, node.unschedulable) == ("n1", {"zone": "a"}, True)
    assert node.taints == (Taint("gpu", "", "NoSchedule"),)
    assert node.allocatable == {"cpu": 4000, "memory": 2**33}
    assert (one.key, one.labels, one.spec.containers[0].requests) == ("team/p", {"app": "x"}, {"cpu": 500})
    assert (one.phase, one.order, one.priority) == ("Pending", 1, 0)


def test_a_typed_list_says_what_its_items_are() -> None:
    bare = {key: POD[key] for key in ("metadata", "spec")}
    assert objects_of([{"kind": "PodList", "apiVersion": "v1", "items": [bare]}]) == objects_of([POD])


def test_what_is_called_a_list_and_has_a_name_is_none() -> None:
    access = {"apiVersion": "x.io/v1", "kind": "AccessList", "metadata": {"name": "a"}, "items": ["b"]}
    assert objects_of([access]).notes[0].field == "x.io/v1 AccessList"
    assert objects_of([{"apiVersion": "v1", "kind": "List", "items": None}]) == Objects()


def test_recorded_objects(tmp_path: Path) -> None:
    """Objects of recorded cases; their requests by hand, from the sheet's rule."""
    found = read(str(DATA / "requests.json"))
    asked = {one.name: pod_requests(one.spec).get("cpu") for one in found.pods}
    assert asked == {
        "init-max-a": 1500,
        "init-max-b": 900,
        "sidecar-sum-a": 1100,
        "sidecar-sum-b": 1100,
        "sidecar-sum-c": 950,
        "host-network-port-d": 110,
    }
    again = put(tmp_path, manifest(json.loads((DATA / "requests.json").read_text())))
    assert read(again) == found


@needs_shared
def test_every_recorded_case_reads_without_a_note() -> None:
    assert SHARED is not None
    for path in sorted((SHARED / "golden/kubernetes").glob("*.json")):
        case = json.loads(path.read_text())
        found = objects_of(case["objects"])
        assert found.notes == ()
        assert len(found.pods) == sum(one["kind"] == "Pod" for one in case["objects"])


def test_pods_of_one_template_share_their_spec() -> None:
    several = objects_of(
        pod(f"p{i}", nodeName=f"n{i}", volumes=[{"name": f"token-{i}", "projected": {"sources": []}}]) for i in range(3)
    )
    assert len({id(one.spec) for one in several.pods}) == 1
    assert [one.node_name for one in several.pods] == ["n0", "n1", "n2"]


def test_affinity_and_what_it_means() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, {}]}}}
    (one,) = objects_of([pod("p", affinity=affinity)]).pods
    expected = (NodeSelectorTerm((Requirement("zone", "In", ("a",)),)), NodeSelectorTerm())
    assert one.spec.affinity == Affinity(node_required=expected)


def test_a_selector_that_is_left_out_is_not_an_empty_one() -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    found = objects_of(
        [
            {**budget, "metadata": {"name": "none"}, "spec": {}},
            {**budget, "metadata": {"name": "all"}, "spec": {"selector": {}}},
        ]
    ).disruption_budgets
    assert found[0].selector is None
    assert found[1].selector is not None
    assert found[1].selector.requirements == ()


def test_what_is_left_out_is_noted_once() -> None:
    values = [pod(f"p{i}", runtimeClassName="kata", futureField=1) for i in range(3)]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    other = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v"}}
    assert objects_of([*values, config, config, other]).notes == (
        Note("not modelled", "v1 ConfigMap", "objects of this kind are left out", 2),
        Note("not modelled", "batch.volcano.sh/v1alpha1 Job", "objects of this kind are left out", 1),
        Note("not modelled", "Pod.spec.futureField", "this field is left out", 3),
        Note("not modelled", "Pod.spec.runtimeClassName", "this field is left out", 3),
    )


def test_what_kubectl_adds_makes_no_noise() -> None:
    live = pod("p", dnsPolicy="ClusterFirst", securityContext={}, serviceAccountName="default", enableServiceLinks=True)
    live["metadata"] |= {"managedFields": [{"manager": "kubectl"}], "resourceVersion": "1", "generation": 2}
    live["status"] = {"phase": "Running", "qosClass": "Burstable", "podIPs": [{"ip": "10.0.0.1"}], "startTime": None}
    assert objects_of([live]).notes == ()


def test_a_name_is_there_once(tmp_path: Path) -> None:
    other = {**POD, "metadata": {"name": "p", "namespace": "team", "labels": {"app": "z"}}}
    path = put(tmp_path, f"{manifest(POD)}---\n{manifest(NODE)}---\n{manifest(other)}")
    with pytest.raises(InputError, match=r"Pod team/p, metadata.name: this is there twice \(first in .*, line 1\)"):
        read(path)
    elsewhere = {**POD, "metadata": {"name": "p", "namespace": "other"}}
    assert len(objects_of([POD, elsewhere]).pods) == 2


def test_one_object_in_two_files_counts_once(tmp_path: Path) -> None:
    first = put(tmp_path, manifest(listed(NODE, POD)), "a.yaml")
    second = put(tmp_path, json.dumps(listed(POD)), "b.json")
    (tmp_path / "link.yaml").symlink_to(first)
    names = [first, second, first, str(tmp_path / "." / "a.yaml"), str(tmp_path / "link.yaml")]
    assert read(names) == read(first)
    bare = pod("", priority=1)
    bare["metadata"] = {"generateName": "job-"}
    assert len(objects_of([bare, bare]).pods) == 2  # two creations are two pods


def test_of_two_states_of_one_object_the_first_counts() -> None:
    early = {**NODE, "metadata": {"name": "n1", "uid": "u"}}
    late = {**early, "spec": {"unschedulable": False}}
    found = objects_of([early, late, late])
    assert [node.unschedulable for node in found.nodes] == [True]
    assert found.notes == (
        Note("guess", "Node", "objects that are there in two states, of one uid: the first counts", 2),
    )
    with pytest.raises(InputError, match=r"Node n1, metadata\.name: this is there twice"):
        objects_of([early, {**late, "metadata": {"name": "n1", "uid": "v"}}])


def test_items_that_share_anchors(tmp_path: Path) -> None:
    start = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n"
    shared = "  spec: &s\n    containers:\n    - name: c\n"
    again = "- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: *s}\n"
    assert [one.name for one in read(put(tmp_path, start + shared + again)).pods] == ["a", "b"]


def test_a_configuration_is_kept_as_it_is() -> None:
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []}
    assert objects_of([config]).configuration == config
    assert objects_of([config, config]).configuration == config
    with pytest.raises(InputError, match="a second configuration"):
        objects_of([config, {**config, "parallelism": 4}])


def test_all_mistakes_of_a_configuration_are_told_with_their_lines(tmp_path: Path) -> None:
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 101\nprofiles:\n- plugins:\n    score:\n      enabled:\n      - name: NodeAfinity\n"
        "  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: -1\n"
    )
    path = put(tmp_path, text)
    pods = put(tmp_path, manifest(pod("p", priority="x")), "pods")
    with pytest.raises(InputListError) as caught:
        read([path, pods])
    assert [(one.file, one.line, one.field) for one in caught.value.errors] == [
        (path, 8, "KubeSchedulerConfiguration, profiles[0].plugins.score.enabled[0].name"),
        (path, 12, "KubeSchedulerConfiguration, profiles[0].pluginConfig[0].args.hardPodAffinityWeight"),
        (path, 3, "KubeSchedulerConfiguration, percentageOfNodesToScore"),
        (pods, caught.value.errors[-1].line, "Pod p, spec.priority"),
    ]


def test_what_a_configuration_says_beyond_the_model_is_noted() -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": True},
        "extenders": [{"urlPrefix": "http://x"}],
    }
    assert [note.field for note in objects_of([config]).notes] == ["KubeSchedulerConfiguration.extenders"]


def test_nothing_to_read() -> None:
    assert objects_of([]) == Objects()


def test_a_second_version_of_a_workload_belongs_to_the_changes_of_a_scenario() -> None:
    def shop(image: str) -> dict[str, Any]:
        return play.workload("Deployment", "shop", 1, play.spec(image=image))

    with pytest.raises(InputError, match=r"this is there twice.*allowed: a new version, as `changes` of a scenario"):
        objects_of([shop("app:1"), shop("app:2")])
