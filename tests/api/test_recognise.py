"""Native files are told by what they say, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.recognise import native_system, recognise
from gnomon.model.errors import InputError


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ("apiVersion: v1\nkind: Pod\n", "kubernetes"),
        ("---\n# Source: chart/templates/a.yaml\napiVersion: apps/v1\nkind: Deployment\n", "kubernetes"),
        ("- apiVersion: v1\n  kind: Pod\n", "kubernetes"),
        ('{"kind": "PodList", "apiVersion": "v1", "items": []}', "kubernetes"),
        ("\ufeffapiVersion: kubescheduler.config.k8s.io/v1\r\nkind: KubeSchedulerConfiguration\r\n", "kubernetes"),
        ('{\n  "kind" : "Pod",\n  "apiVersion" : "v1"\n}', "kubernetes"),
        ("{'kind': 'Pod', 'apiVersion': 'v1'}", "kubernetes"),
        ('[{"kind":"Pod","apiVersion":"v1"}]', "kubernetes"),
        ('{"kind":"Pod","metadata":{"annotations":{"a":"' + "x" * 9000 + '"}},"apiVersion":"v1"}', "kubernetes"),
        ("# a licence\n" * 1000 + "apiVersion: v1\nkind: Pod\n", "kubernetes"),
        ("%YAML 1.2\n---\napiVersion: v1\nkind: Pod\n", "kubernetes"),
        ("apiVersion: ray.io/v1\nkind: RayCluster\n", "ray"),
        ("nodes:\n- name: a\n", None),
        ("; a trace\n1 2 3\n", None),
    ],
)
def test_the_system_of_a_native_file(text: str, system: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert native_system(path) == system


def test_an_object_below_a_long_comment(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("# a licence\n" * 1000 + "apiVersion: v1\nkind: Pod\n")
    with pytest.raises(InputError, match="recognised as Kubernetes YAML or JSON"):
        recognise(path)
