"""Mistakes in files of Kubernetes: each is one clear line that names file, line, object and field; junk is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read.files import InputListError, objects_of, read
from tests.systems.kubernetes.read.manifests import NODE, POD, listed, manifest, pod, put

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
    "deep JSON": (b"[" * 1_000_000, "nested too deep"),
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
