"""A configuration from what ``scontrol show`` prints of a running cluster, where there is no slurm.conf.

``show config``, ``show node`` and ``show partition`` are written as lines of slurm.conf, and read as such. What they do
not tell: cores that devices are bound to, switches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.config.options import KEYS
from gnomon.systems.slurm.config.slurm_conf import conf_of, version_in
from gnomon.systems.slurm.read.nodes import SeenNode
from gnomon.systems.slurm.read.pairs import Record

_UNIT: Final = re.compile(r"(\d+) (?:sec|min|usec|percent|nodes/min)\Z")
_NOTHING: Final = frozenset(("", "(null)", "N/A", "n/a", "NONE", "(null type)", "Unknown"))
_UNLIMITED_TOO: Final = frozenset(("MaxMemPerNode", "MaxMemPerCPU", "DefMemPerNode", "DefMemPerCPU"))
_PARTITION_KEYS: Final = (
    *("AllowGroups", "AllowAccounts", "DenyAccounts", "AllowQos", "DenyQos", "Alternate", "Default", "DefaultTime"),
    *(
        "DisableRootJobs",
        "ExclusiveUser",
        "ExclusiveTopo",
        "GraceTime",
        "Hidden",
        "MaxNodes",
        "MaxTime",
        "MinNodes",
        "LLN",
    ),
    *("MaxCPUsPerNode", "MaxCPUsPerSocket", "Nodes", "PriorityJobFactor", "PriorityTier", "RootOnly", "ReqResv"),
    *("OverSubscribe", "OverTimeLimit", "PreemptMode", "State", "DefMemPerCPU", "DefMemPerNode", "MaxMemPerCPU"),
    *("MaxMemPerNode", "TRESBillingWeights", "QoS", "PowerDownOnIdle"),
)


def shown_conf(
    config: Mapping[str, str],
    nodes: Sequence[SeenNode],
    partitions: Sequence[Record],
    *,
    version: tuple[int, int] | None = None,
) -> Conf:
    """The configuration. Raises InputError where nodes or partitions are missing, or make no sense."""
    if not nodes or not partitions:
        missing = "nodes (scontrol show node)" if not nodes else "partitions (scontrol show partition)"
        raise InputError("there is no slurm.conf, and nothing tells of " + missing, allowed="a slurm.conf, or both")
    told = version_in("\n".join(f"{key} = {value}" for key, value in config.items()))
    lines = [*_options(config), *(_node(node) for node in nodes), *(_partition(one, config) for one in partitions)]
    conf = conf_of("\n".join(lines) + "\n", version=version or told)
    notes = [Note("default", "slurm.conf", "not given: made from scontrol show config, node and partition")]
    if not config:
        notes.append(Note("default", "slurm.conf", "without scontrol show config: the defaults of the version hold"))
    if any("Gres" in node.hardware for node in nodes):
        notes.append(Note("default", "gres.conf", "not given: devices are bound to no cores"))
    return replace(conf, notes=(*conf.notes, *notes))


def _options(config: Mapping[str, str]) -> Iterator[str]:
    for key, value in config.items():
        known = KEYS.get(key.lower())
        if known is None or not known.looked_at or value in _NOTHING:
            continue
        if value == "UNLIMITED" and key in _UNLIMITED_TOO:
            continue
        matched = _UNIT.match(value)
        yield f"{known.name}={_quoted(matched[1] if matched else value)}"


def _node(node: SeenNode) -> str:
    return " ".join([f"NodeName={node.name}", *(f"{key}={_quoted(value)}" for key, value in node.hardware.items())])


def _partition(record: Record, config: Mapping[str, str]) -> str:
    parts = [f"PartitionName={record.values['PartitionName']}"]
    for key in _PARTITION_KEYS:
        value = record.get(key)
        if value in _NOTHING or (value in ("ALL", "UNLIMITED") and key not in ("MaxTime", "Nodes")):
            continue
        if key == "PreemptMode" and value == config.get("PreemptMode"):
            continue  # the cluster's own
        parts.append(f"{key}={_quoted(value)}")
    for pair in record.get("JobDefaults").split(","):
        name, _, value = pair.partition("=")
        if name in ("DefCpuPerGPU", "DefMemPerGPU"):
            parts.append(f"{name}={value}")
    return " ".join(parts)


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text


def with_states(conf: Conf, nodes: Sequence[SeenNode]) -> Conf:
    """The configuration with its nodes as they were seen: down, drained, with their reasons."""
    seen = {node.name: node for node in nodes}
    changed = []
    for node in conf.nodes:
        now = seen.get(node.name)
        if now is not None:
            state = "DOWN" if now.is_down else "DRAIN" if now.is_drained else "IDLE"
            node = replace(node, state=state, reason=now.reason)
        changed.append(node)
    return replace(conf, nodes=tuple(changed))
