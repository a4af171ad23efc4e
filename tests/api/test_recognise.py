"""Native files are told by what they say, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.parts import load_cluster, load_work
from gnomon.api.recognise import is_scenario, native_system, recognise
from gnomon.model.errors import InputError
from tests.api.files import put
from tests.shared import SHARED, needs_shared


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


NATIVE: dict[str, tuple[str, str]] = {
    "kubectl get -o yaml": ("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n", "Kubernetes YAML or JSON"),
    "kubectl get -o json": ('{\n    "apiVersion": "v1",\n    "items": []}', "Kubernetes YAML or JSON"),
    "a manifest": ("# a job\nkind: Job\napiVersion: batch/v1\n", "Kubernetes YAML or JSON"),
    "KubeRay": ("apiVersion: ray.io/v1\nkind: RayCluster\n", "a RayCluster of KubeRay"),
    "ray up": ("cluster_name: lab\nprovider:\n  type: local\n", "a Ray cluster configuration"),
    "slurm.conf": ("# site\nClusterName=lab\nNodeName=n[1-4] CPUs=8\n", "slurm.conf"),
    "sbatch": ("#!/bin/bash\n#SBATCH --time=10\nsrun a.out\n", "a batch script of Slurm"),
    "squeue": ("             JOBID PARTITION     NAME     USER ST\n", "output of squeue, sinfo or sacct"),
    "sacct -P": ("JobID|JobName|State\n", "output of squeue, sinfo or sacct"),
    "Spark's log": ('{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}\n', "an event log of Spark"),
    "Spark's defaults": ("spark.executor.cores   4\n", "spark-defaults.conf"),
    "YARN": (
        "<configuration><property><name>yarn.scheduler.x</name></property></configuration>",
        "a configuration of YARN",
    ),
    "Flink's configuration": ("jobmanager.memory.process.size: 1600m\n", "a configuration of Flink"),
    "Kafka": ("broker.id=0\nlog.dirs=/var\n", "a configuration of Kafka"),
}


@pytest.mark.parametrize("case", NATIVE)
def test_native_files_are_recognised_and_come_later(case: str, tmp_path: Path) -> None:
    text, name = NATIVE[case]
    path = put(tmp_path, text, "file")
    for use in (load_cluster, load_work, is_scenario):
        with pytest.raises(InputError) as caught:
            use(path)
        assert str(caught.value).startswith(f"{path}: recognised as {name}; the system ")


@needs_shared
def test_recorded_native_files_are_recognised() -> None:
    assert SHARED is not None
    samples = SHARED / "samples"
    for pattern in ("slurm/conf/*/slurm.conf", "ray/cluster-yaml/*.yaml", "ray/list-*.json", "spark/*.jsonl"):
        paths = sorted(samples.glob(pattern))
        assert paths
        for path in paths:
            with pytest.raises(InputError, match="recognised as"):
                is_scenario(path)
