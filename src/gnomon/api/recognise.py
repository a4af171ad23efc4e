"""What a file is, from its content: a scenario, plain nodes or tasks, a trace, or a native file of some system."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from gnomon import traces
from gnomon.api.systems import SYSTEMS
from gnomon.formats.files import Path, read_start
from gnomon.formats.yaml import Located, load_yaml
from gnomon.model.errors import InputError
from gnomon.systems.spark.read_lines import is_log_folder

SCENARIO: Final = "scenario"
PLAIN: Final = "plain"

_SCENARIO_KEYS = frozenset(("cluster", "work", "policy", "system", "until", "seed"))
_PLAIN_KEYS = frozenset(("nodes", "tasks", "reservations"))
_OBJECT_KEYS = frozenset(("apiVersion", "kind"))
_LATE_CHARACTERS = 2**20
"""Where a long comment or a large object comes first, what the file is may be said as late as here."""
_TOP_KEY = re.compile(r"^([a-z_]+) *:", re.MULTILINE)
_KNOWN = (
    "a scenario (cluster, work, policy...), plain YAML (nodes, tasks), SWF, CSV with a header, Alibaba openb lists, "
    "Kubernetes YAML or JSON, Slurm's slurm.conf, batch scripts and listings, event logs of Spark, jobs in Python"
)

_EVENT_LOG: Final = "an event log of Spark"

# What only a native file says, in its first lines: system, name of the file, pattern. The first that fits counts.
_NATIVE: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (system, name, re.compile(pattern, re.MULTILINE))
    for system, name, pattern in (
        ("ray", "a RayCluster of KubeRay", r"^ *\"?apiVersion\"?: *\"?ray\.io/"),
        (
            "kubernetes",
            "Kubernetes YAML or JSON",
            r"(?:^\ufeff?[ \t-]*|[{,]\s*)[\"']?apiVersion[\"']?\s*: *[\"']?[a-z0-9./-]*v[0-9]",
        ),
        ("ray", "a Ray cluster configuration", r"^(cluster_name|available_node_types|head_node_type):"),
        ("ray", "a list of Ray's state API", r"\A\[\s*\{\s*\"(node|actor|task|object|worker|placement_group)_id\":"),
        ("ray", "a list of Ray's state API", r"\A\[\s*\{\s*\"type\": *\"(DRIVER|SUBMISSION)\","),
        ("slurm", "a batch script of Slurm", r"^#SBATCH "),
        ("slurm", "slurm.conf", r"(?i)^ *(NodeName|PartitionName|ClusterName|SlurmctldHost|ControlMachine|NodeSet) *="),
        ("slurm", "output of scontrol", r"\A(JobId|NodeName|PartitionName|ReservationName|LicenseName)=\S+\s"),
        ("slurm", "output of scontrol", r"\A(Configuration data as of |Current Association Manager state)"),
        (
            "slurm",
            "output of squeue, sinfo or sacct",
            r"\A *(JOBID|PARTITION|NODELIST) +[A-Z]|\A([\w%]+\|)*JobID(Raw)?\|",
        ),
        ("slurm", "output of squeue", r"\A[ A-Z_|()]*\bJOBID\b[ A-Z_|()]*\b(ST|STATE)\b"),
        ("slurm", "output of sshare", r"\A *Account(\|| +)User(\|| +)(Partition(\|| +))?RawShares"),
        ("slurm", "a dump of sacctmgr", r"^Cluster - '"),
        ("slurm", "JSON of Slurm", r"\A\s*\{\s*\"(meta|jobs|nodes|sinfo)\"[\s\S]*\"(openapi|data_parser|Slurm)\b"),
        ("spark", _EVENT_LOG, r"\A\{[^\n]{0,80}\"Event\" *: *\"(org\.apache\.spark\.[\w.]*)?SparkListener"),
        ("spark", "spark-defaults.conf", r"^spark\.[A-Za-z.]+[ =]"),
        ("yarn", "a configuration of YARN", r"<name> *yarn\.|<allocations>"),
        ("mapreduce", "a configuration of MapReduce", r"<name> *mapreduce\."),
        ("flink", "a configuration of Flink", r"^(jobmanager|taskmanager|parallelism|execution|state)\.[a-z.-]+:"),
        ("flink", "an answer of Flink's REST API", r"\A\s*\{\s*\"(jid|flink-version)\":"),
        ("kafka", "a configuration of Kafka", r"^(broker\.id|process\.roles|bootstrap\.servers|log\.dirs) *="),
    )
)
_KUBERNETES: Final = tuple(entry for entry in _NATIVE if entry[0] == "kubernetes")

SYSTEMS_TO_COME: Final = (*dict.fromkeys(system for system, _, _ in _NATIVE), "mesos", "pregel", "storm", "training")
"""Systems whose names are known and whose files and rules are not read yet."""


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario. Raises :class:`InputError` as :func:`recognise` does."""
    return recognise(path) == SCENARIO


def recognise(path: Path) -> str:
    """``scenario``, ``plain`` or the name of a trace format.

    Raises :class:`InputError` for a file that cannot be read, one of a system that comes later, and one that is
    nothing known.
    """
    file = os.fspath(path)
    if is_log_folder(path):
        raise _not_here("spark", _EVENT_LOG, file)
    start = read_start(path)
    if file.endswith(".py"):
        return SCENARIO
    if native := _native(start):
        raise _not_here(*native, file)
    found = traces.detect(file) or _kind(_TOP_KEY.findall(start))
    if found is None:
        keys = _keys(load_yaml(path)[0])
        if _OBJECT_KEYS.issubset(keys):  # far below the start
            raise _not_here("kubernetes", "Kubernetes YAML or JSON", file)
        found = _kind(keys)
    if found is None:
        raise InputError("not of a format that is known", file=file, allowed=_KNOWN)
    return found


def native_system(path: Path) -> str | None:
    """The system whose native file this is, by its content; None for a file that is none of any system.

    Raises :class:`InputError` for a file that cannot be read.
    """
    if is_log_folder(path):
        return "spark"
    start = read_start(path)
    native = _native(start)
    if native is None and not (os.fspath(path).endswith(".py") or _kind(_TOP_KEY.findall(start))):
        start = read_start(path, characters=_LATE_CHARACTERS)
        native = _native(start, _KUBERNETES) if "apiVersion" in start else None
    return None if native is None else native[0]


def _native(start: str, among: Iterable[tuple[str, str, re.Pattern[str]]] = _NATIVE) -> tuple[str, str] | None:
    """The system of a native file that starts so, and what the file is called."""
    return next(((system, name) for system, name, pattern in among if pattern.search(start)), None)


def _not_here(system: str, name: str, file: str) -> InputError:
    if system in SYSTEMS:
        allowed = f"files of {system} alone, or a scenario with `system: {system}`"
        return InputError(f"recognised as {name}; the system {system} is not read here", file=file, allowed=allowed)
    return InputError(f"recognised as {name}; the system {system} is not modelled yet", file=file, allowed=_KNOWN)


def _kind(keys: Iterable[str]) -> str | None:
    """What a document with these keys is."""
    if not _SCENARIO_KEYS.isdisjoint(keys):
        return SCENARIO
    return None if _PLAIN_KEYS.isdisjoint(keys) else PLAIN


def _keys(document: Located) -> Iterable[str]:
    """The keys of a mapping. A list of tasks is what stands below ``tasks``."""
    value = document.value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, dict) and {"id", "job"} & item.keys() for item in value)
    ):
        return ("tasks",)
    return value if isinstance(value, dict) else ()
