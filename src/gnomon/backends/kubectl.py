"""What a live Kubernetes cluster holds, as kubectl tells it: objects that matter to scheduling, read only.

Secrets and config maps are not asked for. One call lists all kinds; kinds that a cluster does not serve are left out
and told.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gnomon.formats.whole import check_file, write_file
from gnomon.model.errors import InputError

KINDS: Final = (
    *("nodes", "namespaces", "pods", "priorityclasses.scheduling.k8s.io", "poddisruptionbudgets.policy"),
    *("services", "replicationcontrollers", "replicasets.apps", "deployments.apps", "statefulsets.apps"),
    *("daemonsets.apps", "jobs.batch", "cronjobs.batch", "resourcequotas", "limitranges"),
    *("persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io", "csinodes.storage.k8s.io"),
)
"""What is asked for, cluster-wide."""

TIMEOUT_S: Final = 120


@dataclass(frozen=True)
class Snapshot:
    """The objects as one JSON list, and the kinds that could not be had, with what kubectl said."""

    json: bytes
    missing: tuple[str, ...] = ()


def collect(
    kubectl: str = "kubectl",
    *,
    context: str | None = None,
    kubeconfig: str | None = None,
    kinds: Sequence[str] = KINDS,
) -> Snapshot:
    """Ask kubectl for all objects. Raises InputError when it is not there, or nodes or pods cannot be had.

    A kind that may not be listed, or is not served, does not keep the others away: then each is asked for alone.
    """
    options = {"--context": context, "--kubeconfig": kubeconfig}
    arguments = [part for name, value in options.items() if value is not None for part in (name, value)]
    whole = _get(kubectl, arguments, kinds)
    if whole.returncode == 0:
        return Snapshot(whole.stdout)
    parts, missing = [], []
    for kind in kinds:
        one = _get(kubectl, arguments, [kind])
        if one.returncode == 0:
            parts.append(one.stdout)
            continue
        said = _last_line(one.stderr)
        if kind in ("nodes", "pods"):
            raise InputError(f"kubectl cannot list {kind}: {said}", allowed="a cluster that may be read")
        missing.append(f"{kind}: {said}")
    return Snapshot(b"\n".join(parts), tuple(missing))


def take(
    place: Path | None,
    out: Path | None,
    *,
    kubectl: str = "kubectl",
    context: str | None = None,
    kubeconfig: str | None = None,
    **others: object,
) -> tuple[Sequence[str], str]:
    """Write a snapshot to a file. What is missing in it, and what to do with it."""
    path = out or place or Path("snapshot.json")
    check_file(path)
    taken = collect(kubectl, context=context, kubeconfig=kubeconfig)

    def write(beside: Path) -> None:
        beside.write_bytes(taken.json)

    write_file(path, write)
    return taken.missing, f"the cluster's objects are in {path}; ask about a pod with: gnomon explain POD -f {path}"


def _get(kubectl: str, arguments: Sequence[str], kinds: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    command = [kubectl, *arguments, "get", ",".join(kinds), "--all-namespaces", "--output", "json"]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise InputError("kubectl is not found", found=kubectl, allowed="its path, with --kubectl") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"kubectl does not answer: {error}", found=kubectl) from None


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing"
