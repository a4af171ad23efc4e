"""A node and a pod as manifests, and ways to put them into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

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
