"""Calls of the readers of files, as the table of :mod:`tests.fuzz.readers` has them: each reads what a folder has."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from gnomon import traces
from gnomon.api.load import load_scenario
from gnomon.api.native import read_native
from gnomon.api.parts import is_number
from gnomon.api.recognise import native_system
from gnomon.api.recognise import recognise as recognised
from gnomon.formats.files import open_text
from gnomon.formats.yaml import load_yaml, parse_yaml
from gnomon.model import quantity
from gnomon.model.errors import InputError
from gnomon.scheduling.policy import parse_policy, split_policies
from gnomon.systems.kubernetes.api.cron import parse as parse_cron
from gnomon.systems.kubernetes.api.quantity import parse_milli, parse_quantity
from gnomon.systems.kubernetes.read.block_yaml import BlockReader, NotPlainError
from gnomon.systems.kubernetes.scenario import read_scenario as read_kubernetes
from gnomon.systems.mapreduce.read import read_configuration
from gnomon.systems.slurm.accounting import sacctmgr_fields
from gnomon.systems.slurm.accounting.sacctmgr_text import is_dump, read_dump, read_show
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.inputs.files import kind_of
from gnomon.systems.slurm.notation.tres import parse_tres
from gnomon.systems.slurm.sbatch.site import Site, site_of
from gnomon.systems.slurm.sbatch.submission import submission
from gnomon.systems.slurm.scenario import read_scenario as read_slurm
from gnomon.systems.spark.allocations import read_allocations
from gnomon.systems.spark.conf import read_conf as read_defaults
from gnomon.systems.spark.scenario import read_scenario as read_spark
from gnomon.traces import failures as failure_traces

CONF = """ClusterName=c
SlurmctldHost=h
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-4] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:a100:4 Feature=ib,fast
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=debug Nodes=n1 MaxTime=30
Licenses=matlab:10
"""

NODE = """{apiVersion: v1, kind: Node, metadata: {name: fuzzed, labels: {zone: a}}, spec: {},
 status: {capacity: {cpu: "4", memory: 8Gi, pods: "110", nvidia.com/gpu: "2"}}}
"""


def yaml(folder: Path) -> Any:
    """Both meanings of scalars; what the reader of block style takes means the same to the general one."""
    file = folder / "any.yaml"
    found = load_yaml(file)
    for document in found:
        document.line(), document.field()
    lines = list(open_text(file))
    try:
        fast = BlockReader().read(list(lines))
    except NotPlainError:
        return None  # numbers of any size: the readers behind it judge them
    text = "\n".join(lines)
    (slow,) = parse_yaml(text, yaml_1_1=True)
    assert repr(fast) == repr(slow.value), "the fast reader says otherwise"
    return None


def scenario(folder: Path) -> Any:
    """A scenario, and a file of nodes or tasks."""
    return load_scenario(folder / "scenario.yaml")


def kubernetes(folder: Path) -> Any:
    """Objects, with what they use and what is applied later."""
    usage, change = folder / "usage.csv", folder / "change.yaml"
    options: dict[str, Any] = {"usage": [usage]} if usage.exists() else {}
    if change.exists():
        options["changes"] = [(10**9, [change])]
    objects, nodes = folder / "objects.yaml", folder / "nodes.yaml"
    if nodes.exists():
        return read_kubernetes([objects, nodes], until_ns=10**15, **options)
    node = folder / "node.yaml"
    node.write_text(NODE)
    return read_kubernetes([objects, node], until_ns=10**15, **options)


def slurm_conf(folder: Path) -> Any:
    """The configuration alone, and as a scenario."""
    read_conf(folder / "slurm.conf")
    return read_slurm([folder / "slurm.conf"])


def slurm_accounts(folder: Path) -> Any:
    """What sacctmgr writes."""
    text = (folder / "accounts.txt").read_text("utf-8", "replace")
    return (read_dump if is_dump(text) else read_show)(text, file="accounts.txt")


@cache
def _site() -> Site:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "slurm.conf").write_text(CONF)
        return site_of(read_conf(Path(folder) / "slurm.conf"))


def sbatch(folder: Path) -> Any:
    """A script as the client reads it; with the configuration as a scenario; a session of commands."""
    conf, script, session = folder / "slurm.conf", folder / "job.sh", folder / "jobs.session"
    conf.write_text(CONF)
    if session.exists():
        return read_slurm([conf, session])
    text = script.read_bytes().decode("utf-8", "replace")
    submission(["job.sh"], text, user="u", site=_site())
    return read_slurm([conf, script])


def slurm_printed(folder: Path) -> Any:
    """What commands print of a cluster: of its nodes and partitions, and of one thing more."""
    conf = folder / "slurm.conf"
    beside = [path for path in (folder / "nodes.txt", folder / "partitions.txt") if path.exists()]
    if not beside:
        conf.write_text(CONF)
        beside = [conf]
    return read_slurm([folder / "printed.txt", *beside])


def sacct(folder: Path) -> Any:
    """Accounted jobs."""
    conf = folder / "slurm.conf"
    conf.write_text(CONF)
    return read_slurm([conf, folder / "sacct.txt"])


def trace(folder: Path) -> Any:
    """A trace of any format that its content tells."""
    path = folder / "trace"
    kind = traces.detect(path)
    return traces.read_cluster(path) if kind == "openb-nodes" else traces.read_work(path)


def failures(folder: Path) -> Any:
    """A trace of failures."""
    return failure_traces.read(folder / "failures.csv")


def spark(folder: Path) -> Any:
    """An event log, with the settings beside it."""
    return read_spark([path for path in sorted(folder.iterdir()) if path.is_file()])


def settings(folder: Path) -> Any:
    """Files of settings, each as if it were any: Hadoop's XML, spark-defaults.conf, fairscheduler.xml."""
    path = folder / "settings"
    return [
        _or_refused(lambda: read_configuration([path])),
        _or_refused(lambda: read_defaults(path)),
        _or_refused(lambda: read_allocations(path)),
    ]


_QUANTITIES: Final[tuple[Callable[[str], Any], ...]] = (
    *(quantity.parse_cpu, quantity.parse_memory, quantity.parse_duration, quantity.parse_e4, quantity.parse_share),
    *(quantity.parse_count, parse_quantity, parse_milli, parse_cron),
)
"""What they refuse is a ValueError: whoever calls them knows the place."""

_WORDS: Final[tuple[Callable[[str], Any], ...]] = (
    lambda text: [parse_policy(one) for one in split_policies(text)],
    lambda text: is_number(text.replace("\0", "")[:200]),
    parse_tres,
    partial(sacctmgr_fields.parse_count, field=""),
    partial(sacctmgr_fields.parse_factor, field=""),
    partial(sacctmgr_fields.parse_seconds, field=""),
)


def words(folder: Path) -> Any:
    """Each line as every quantity, and as a policy."""
    found: list[Any] = []
    text = (folder / "words.txt").read_bytes().decode("utf-8", "surrogateescape")
    for line in text.split("\n")[:20]:
        for parse in _QUANTITIES:
            with suppress(ValueError, InputError):
                found.append(parse(line))
        found += [_or_refused(partial(parse, line)) for parse in _WORDS]
    return found


def recognise(folder: Path) -> Any:
    """What a file is, and then that file as what it is."""
    path = folder / "file"
    kinds = [_or_refused(lambda: recognised(path)), _or_refused(lambda: kind_of(path))]
    system = native_system(path)
    if system in ("kubernetes", "spark"):
        return read_native(system, [path], [])
    return kinds


def _or_refused(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except InputError as error:
        return str(error)
