"""Files of Kubernetes: every way to write the same objects reads the same, and every mistake is one clear line."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.constraints import Affinity, NodeSelectorTerm, Requirement, Taint
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.read.files import InputListError, objects_of, read
from tests.shared import SHARED, needs_shared
from tests.systems.kubernetes import play

DATA = Path(__file__).parents[3] / "data" / "kubernetes"

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}], "unschedulable": True},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi"}, "images": [{"names": ["a:1"], "sizeBytes": 5}]},
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "team", "labels": {"app": "x"}},
    "spec": {"containers": [{"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "500m"}}}]},
}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {**POD, "metadata": {"name": name}, "spec": {**POD["spec"], **spec}}


def put(tmp_path: Path, text: str | bytes, name: str = "file") -> str:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def manifest(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False))


def listed(*values: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": list(values), "kind": "List", "metadata": {"resourceVersion": ""}}


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


WRONG = {
    "a quantity": (
        pod("p", overhead={"cpu": "2 Gi"}),
        "Pod p, spec.overhead.cpu: not a quantity; allowed: for instance",
    ),
    "a huge quantity": (pod("p", overhead={"cpu": "1e+30"}), "Pod p, spec.overhead.cpu: a quantity too large"),
    "half a device": (
        pod("p", overhead={"nvidia.com/gpu": 0.5}),
        "Pod p, spec.overhead.nvidia.com/gpu: not a quantity of an extended resource: must be an integer, found 0.5",
    ),
    "a type": (pod("p", hostNetwork="yes"), "Pod p, spec.hostNetwork: true or false is wanted, found 'yes'"),
    "a number as text": (pod("p", priority="5"), "Pod p, spec.priority: a whole number is wanted, found '5'"),
    "text that is a number": (pod("p", nodeSelector={"gen": 5}), "Pod p, spec.nodeSelector.gen: text is wanted"),
    "a mapping for a list": (pod("p", containers={"name": "c"}), "Pod p, spec.containers: a list is wanted"),
    "a slip": (
        pod("p", nodeSelctor={"a": "b"}),
        "Pod p, spec.nodeSelctor: unknown field (did you mean 'nodeSelector'?)",
    ),
    "an operator": (
        pod("p", tolerations=[{"key": "a", "operator": "Is"}]),
        "Pod p, spec.tolerations[0].operator: not one of the values that are allowed, found 'Is'",
    ),
    "no containers": (pod("p", containers=[]), "Pod p, spec.containers: a pod needs a container"),
    "no name": ({**POD, "metadata": {}}, "Pod, metadata.name: this is missing"),
    "no kind": ({"apiVersion": "v1", "metadata": {"name": "x"}}, "an object x, kind: this is missing"),
    "no object": ("hello", "an object of Kubernetes is wanted"),
    "a time": (
        {**POD, "status": {"startTime": "yesterday"}},
        "Pod team/p, status.startTime: not a time, found 'yesterday'",
    ),
    "a selector beside its template": (
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "r"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "c"}}, "spec": POD["spec"]},
            },
        },
        "ReplicaSet r, spec.template.metadata.labels: `selector` does not match template `labels`",
    ),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("printed", [manifest, json.dumps])
def test_mistakes_name_file_line_object_and_field(case: str, printed: Any, tmp_path: Path) -> None:
    value, problem = WRONG[case]
    path = put(tmp_path, printed(value) if case != "no object" else "- hello\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.line is not None
    assert str(caught.value).startswith(f"{path}, line {caught.value.line}")
    assert problem in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    bad = pod("bad", hostNetwork=3)
    as_json = json.dumps(listed(NODE, POD, bad), indent=4)
    for text in (manifest(listed(NODE, POD, bad)), as_json, f"{manifest(NODE)}---\n{manifest(bad)}"):
        with pytest.raises(InputError) as caught:
            read(put(tmp_path, text))
        assert caught.value.line is not None
        assert "hostNetwork" in text.split("\n")[caught.value.line - 1]


def test_all_mistakes_of_all_files_are_told(tmp_path: Path) -> None:
    first = put(tmp_path, f"{manifest(pod('a', hostNetwork=1))}---\na: [\n---\n{manifest(POD)}", "first.yaml")
    second = put(tmp_path, manifest(pod("b", priority="x", nodeName=4)), "second.yaml")
    with pytest.raises(InputListError) as caught:
        read([first, str(tmp_path / "absent.yaml"), second])
    places = [(Path(one.file or "").name, one.field) for one in caught.value.errors]
    assert places == [
        ("first.yaml", "Pod a, spec.hostNetwork"),
        ("first.yaml", None),
        ("absent.yaml", None),
        ("second.yaml", "Pod b, spec.priority"),
        ("second.yaml", "Pod b, spec.nodeName"),
    ]
    assert caught.value.exit_code == 2
    assert len(str(caught.value).splitlines()) == 5


def test_only_the_first_mistakes_are_shown() -> None:
    with pytest.raises(InputListError, match=r"\.\.\. and 5 more$"):
        objects_of(pod(f"p{i}", hostNetwork=1) for i in range(25))


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


def replica_set(name: str, owner: str) -> dict[str, Any]:
    reference = {"kind": "ReplicaSet", "name": owner, "controller": True}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "ownerReferences": [reference]},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }


def test_an_object_that_owns_itself(tmp_path: Path) -> None:
    circle = [replica_set("a", "b"), replica_set("b", "a"), replica_set("c", "absent")]
    with pytest.raises(InputError, match=r"ReplicaSet default/a, metadata\.ownerReferences: this object owns itself"):
        objects_of(circle)
    bad = put(tmp_path, manifest(pod("bad", hostNetwork=3)), "bad.yaml")
    for text in (manifest(listed(*circle)), json.dumps(listed(*circle), indent=4), "---\n".join(map(manifest, circle))):
        path = put(tmp_path, text)
        with pytest.raises(InputListError) as caught:
            read([path, bad])
        (hosts, cycle) = caught.value.errors
        assert hosts.file == bad
        assert (cycle.file, cycle.line is not None) == (path, True)
        end = cycle.line or 0
        assert any("ownerReferences" in line for line in text.split("\n")[end - 2 : end])  # its key or its first line


def test_a_pod_that_owns_itself() -> None:
    """The API server looks at no circle; but a pod that is not made yet cannot know its own uid."""
    reference = {"kind": "Pod", "name": "p", "controller": True, "uid": "u", "apiVersion": "v1"}
    made = {**POD, "metadata": {"name": "p", "uid": "u", "ownerReferences": [reference]}}
    assert len(objects_of([made]).pods) == 1
    with pytest.raises(InputError, match=r"Pod default/p, metadata\.ownerReferences: this object owns itself"):
        objects_of([{**made, "metadata": {"name": "p", "ownerReferences": [reference]}}])


BOMB = "".join(f"a{n + 1}: &a{n + 1} [{','.join([f'*a{n}'] * 9)}]\n" for n in range(9))

JUNK: dict[str, tuple[Any, ...]] = {
    "tabs": (b"apiVersion: v1\nkind: Pod\nmetadata:\n\tname: a\n", "line 4", "not tabs"),
    "a template of Helm": (b"kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n", "line 3", "helm template"),
    "a file that is a template of Helm": (b"{{- if .Values.x }}\nkind: Pod\n{{- end }}\n", "line 1", "helm template"),
    "a bomb": (b"a0: &a0 [1]\n" + BOMB.encode(), "line", "more than 1000000 values"),
    "cut off": (json.dumps(listed(NODE, POD), indent=4).encode()[:-300], "line", "not JSON"),
    "no UTF-8": (b"apiVersion: v1\nkind: \xff\n", "line 2", "not UTF-8"),
    "deep": (b"a: " + b"[" * 5000, "line 1", "nesting depth"),
    "deep JSON": (b"[" * 5000, "nested too deep"),
    "lists in lists": (b"[" * 900 + b"]" * 900, "an object of Kubernetes is wanted"),
    "deep and plain": (b"\n".join(b" " * n + b"a:" for n in range(2000)), "nested more than 100 deep"),
    "no number": (b"apiVersion: v1\nkind: Pod\nspec: {overhead: {cpu: 1.5e400}}", "line 3", "not a finite number"),
    "no file of text": (b"\x00\x01", "line 1", "NUL"),
}


@pytest.mark.parametrize("case", JUNK)
def test_junk_is_one_clear_line(case: str, tmp_path: Path) -> None:
    content, *parts = JUNK[case]
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


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


def test_a_mistake_is_told_once() -> None:
    value = pod("p", containers="c", nodeName=7)
    value["metadata"]["name"] = 12
    with pytest.raises(InputListError) as caught:
        objects_of([value])
    fields = [one.field for one in caught.value.errors]
    assert len(fields) == len(set(fields)) == 3


@pytest.mark.parametrize("word", ["no", "yes", "on", "off", "y", "N", "true"])
def test_booleans_of_yaml_1_1_are_no_labels(word: str, tmp_path: Path) -> None:
    """As in kubectl: sigs.k8s.io/yaml makes booleans of them, which the API server does not take for labels."""
    start = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n    country: "
    rest = "\nspec:\n  hostNetwork: off\n  containers:\n  - name: c\n"
    with pytest.raises(InputError, match=r"line 6, .*\.country: text is wanted; without quotes") as bad:
        read(put(tmp_path, start + word + rest))
    assert bad.value.found in (True, False)
    for written in (f'"{word}"', f"'{word}'", f"!!str {word}"):
        (good,) = read(put(tmp_path, start + written + rest)).pods
        assert (good.labels, good.spec.host_network) == ({"country": word}, False)


def test_nothing_to_read() -> None:
    assert objects_of([]) == Objects()


LINES = ["apiVersion: v1", "kind: Pod", "kind: List", "items:", "- apiVersion: v1", "  kind: Pod", "  metadata:"]
LINES += ["---", "    name: a", "metadata: {name: b}", "spec:", "  containers:", "  - name: c", "    image: *a", "- |"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(LINES) | st.text('a:-{}[]" \t#&*', max_size=8), max_size=14))
def test_any_lines_are_objects_or_an_input_error(tmp_path: Path, lines: list[str]) -> None:
    with suppress(InputError):
        read(put(tmp_path, "\n".join(lines)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_object_is_an_object_or_an_input_error(tmp_path: Path, data: st.DataObject) -> None:
    value = json.loads(json.dumps(pod("p", priority=1, tolerations=[{"key": "a"}], nodeSelector={"a": "b"})))
    here = value
    while isinstance(here, dict | list) and here:
        key = data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
        if data.draw(st.booleans()):
            here[key] = data.draw(st.sampled_from([None, 1, -1, 2**62, 1.5, "", "x", [], [1], {}, {"a": 1}, True]))
            break
        here = here[key]
    text = json.dumps(value)
    results: list[object] = []
    for form in (text, json.dumps(value, indent=4), manifest(value)):
        try:
            results.append(read(put(tmp_path, form)))
        except InputError as error:
            results.append(error.problem)
    assert results[1:] == results[:-1]


def test_a_second_version_of_a_workload_belongs_to_the_changes_of_a_scenario() -> None:
    def shop(image: str) -> dict[str, Any]:
        return play.workload("Deployment", "shop", 1, play.spec(image=image))

    with pytest.raises(InputError, match=r"this is there twice.*allowed: a new version, as `changes` of a scenario"):
        objects_of([shop("app:1"), shop("app:2")])
