"""The options of sbatch 22.05 to 25.05, and the environment variables that stand for them.

Source: sbatch(1) of each release and the tables of ``src/common/slurm_opt.c``; which options hold for all components of
a heterogeneous job (those without ``reset_each_pass``) as sbatch 22.05.8 answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from gnomon.systems.slurm.sbatch import layout_values, values
from gnomon.systems.slurm.sbatch.getopt import Takes
from gnomon.systems.slurm.sbatch.values import Parser, flag, memory, minutes, moment, number, text


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``key``: what it sets, its own name where it is empty in the table; ``kept``: it goes on to hold for
    the components after; ``early``: looked at on the command line alone; ``why``: what is lost by not modelling it ("":
    it is modelled, or changes no decision); ``since``, ``until``: versions that have it."""

    name: str
    short: str
    takes: Takes
    parse: Parser
    key: str
    kept: bool = False
    early: bool = False
    why: str = ""
    since: tuple[int, int] = (0, 0)
    until: tuple[int, int] = (99, 0)


def _value(name: str, short: str = "", parse: Parser = text, **more: Any) -> Option:
    return _option(name, short, Takes.REQUIRED, parse, **more)


def _may(name: str, short: str = "", parse: Parser = text, **more: Any) -> Option:
    return _option(name, short, Takes.OPTIONAL, parse, **more)


def _flag(name: str, short: str = "", parse: Parser = flag, **more: Any) -> Option:
    return _option(name, short, Takes.NONE, parse, **more)


def _option(name: str, short: str, takes: Takes, parse: Parser, *, key: str = "", **more: Any) -> Option:
    return Option(name, short, takes, parse, key or name, **more)


_NO_PLUGIN: Final = "a plugin's affair"
_ON_NODE: Final = "what happens on a node is not modelled"
_FREQUENCY: Final = "frequencies are not modelled"
_FEDERATION: Final = "one cluster is modelled"

OPTIONS: Final = (
    _value("account", "A", kept=True),
    _value("acctg-freq", kept=True, why="sampling of accounting is not modelled"),
    _value("array", "a", kept=True),
    _value("batch", kept=True, why="which node runs the script is not modelled"),
    _value("begin", "b", moment("begin"), kept=True),
    _value("bb", why="burst buffers are not modelled"),
    _value("bbf", why="burst buffers are not modelled"),
    _value("cluster-constraint", kept=True, why=_FEDERATION),
    _value("chdir", "D", kept=True),
    _value("cluster", key="clusters", kept=True, why=_FEDERATION),
    _value("clusters", "M", kept=True, why=_FEDERATION),
    _value("comment", kept=True),
    _value("container", kept=True, why=_ON_NODE),
    _value("container-id", kept=True, why=_ON_NODE, since=(23, 2)),
    _value("context", kept=True, why=_ON_NODE),
    _flag("contiguous"),
    _flag("consolidate-segments", why="segments of blocks are placed as they come", since=(25, 5)),
    _value("constraint", "C"),
    _value("core-spec", "S", number("--core-spec", least=0)),
    _value("cores-per-socket", parse=number("--cores-per-socket")),
    _value("cpu-freq", why=_FREQUENCY),
    _value("cpus-per-gpu", parse=number("--cpus-per-gpu")),
    _value("cpus-per-task", "c", number("--cpus-per-task")),
    _value("deadline", parse=moment("deadline"), kept=True),
    _value("delay-boot", parse=minutes("delay-boot"), kept=True, why="the time of boots is the node's own"),
    _value("dependency", "d", kept=True),
    _value("distribution", "m", layout_values.distribution),
    _value("error", "e", kept=True),
    _value("exclude", "x", kept=True),
    _may("exclusive", parse=values.exclusive),
    _value("export", kept=True, why=_ON_NODE),
    _value("export-file", kept=True, why=_ON_NODE),
    _value("extra", kept=True, why="node filters by extra data are not modelled", since=(23, 2)),
    _value("extra-node-info", "B", layout_values.extra_node_info),
    _may("get-user-env", kept=True, why=_ON_NODE),
    _value("gid", kept=True, why="groups are not modelled"),
    _value("gpu-bind", why=_ON_NODE),
    _value("gpu-freq", why=_FREQUENCY),
    _value("gpus", "G"),
    _value("gpus-per-node"),
    _value("gpus-per-socket"),
    _value("gpus-per-task"),
    _value("gres"),
    _value("gres-flags", parse=layout_values.gres_flags),
    _flag("help", "h", early=True),
    _value("hint", parse=values.hint, kept=True),
    _flag("hold", "H", kept=True),
    _flag("ignore-pbs", kept=True),
    _value("input", "i", kept=True),
    _value("job-name", "J", kept=True),
    _value("kill-on-invalid-dep", parse=values.yes_or_no("kill-on-invalid-dep"), kept=True),
    _value("licenses", "L"),
    _value("mail-type", parse=layout_values.mail_type),
    _value("mail-user"),
    _value("mcs-label", kept=True, why="security labels are not modelled"),
    _value("mem", parse=memory("mem"), kept=True),
    _value("mem-bind", why=_ON_NODE),
    _value("mem-per-cpu", parse=memory("mem-per-cpu")),
    _value("mem-per-gpu", parse=memory("mem-per-gpu")),
    _value("mincpus", parse=number("--mincpus")),
    _value("network", why=_NO_PLUGIN),
    _may("nice", parse=values.nice, kept=True),
    _may("no-kill", "k", values.no_kill, kept=True),
    _flag("no-requeue", key="requeue", parse=lambda value, place: False, kept=True),
    _value("nodefile", "F"),
    _value("nodelist", "w"),
    _value("nodes", "N", values.nodes),
    _value("ntasks", "n", number("--ntasks")),
    _value("ntasks-per-core", parse=number("--ntasks-per-core")),
    _value("ntasks-per-gpu", parse=number("--ntasks-per-gpu")),
    _value("ntasks-per-node", parse=number("--ntasks-per-node")),
    _value("ntasks-per-socket", parse=number("--ntasks-per-socket")),
    _value("ntasks-per-tres", parse=number("--ntasks-per-tres")),
    _may("oom-kill-step", why=_ON_NODE, since=(24, 5)),
    _value("open-mode", parse=values.one_of("open-mode", "append", "a", "truncate", "t"), kept=True),
    _value("output", "o", kept=True),
    _flag("overcommit", "O"),
    _flag("oversubscribe", "s"),
    _flag("parsable", kept=True),
    _value("partition", "p"),
    _value("power", why="power management of an application is not modelled", until=(24, 5)),
    _value("prefer", kept=True),
    _value("priority", parse=values.priority, kept=True),
    _value("profile", kept=True, why=_ON_NODE),
    _may("propagate", kept=True, why=_ON_NODE),
    _value("qos", "q", kept=True),
    _flag("quiet", "Q", early=True),
    _flag("reboot", kept=True),
    _flag("requeue", kept=True),
    _value("reservation", kept=True),
    _may("resv-ports", why=_ON_NODE, since=(24, 5)),
    _value("segment", parse=number("--segment"), since=(24, 5)),
    _value("signal", parse=values.warning_signal, kept=True),
    _value("sockets-per-node", parse=number("--sockets-per-node")),
    _flag("spread-job"),
    _flag("spread-segments", why="segments of blocks are placed as they come", since=(25, 5)),
    _flag("stepmgr", kept=True, why="steps are not modelled", since=(24, 5)),
    _value("switches", parse=values.switches),
    _value("tasks-per-node", key="ntasks-per-node", parse=number("--ntasks-per-node")),
    _flag("test-only", kept=True),
    _value("thread-spec", parse=number("--thread-spec"), why="threads kept for the system are not modelled"),
    _value("threads-per-core", parse=number("--threads-per-core")),
    _value("time", "t", minutes("time"), kept=True),
    _value("time-min", parse=minutes("time-min"), kept=True),
    _value("tmp", parse=memory("tmp")),
    _value("tres-bind", why=_ON_NODE, since=(23, 2)),
    _value("tres-per-task", since=(23, 2)),
    _value("uid", kept=True, why="a job is its submitter's"),
    _flag("use-min-nodes"),
    _flag("usage", early=True),
    _flag("verbose", "v", early=True),
    _flag("version", "V", early=True),
    _flag("wait", "W", kept=True),
    _value("wait-all-nodes", parse=values.one_of("wait-all-nodes", "0", "1"), kept=True, why=_ON_NODE),
    _value("wckey", kept=True),
    _value("wrap", early=True),
)

VARIABLES: Final = {
    "SBATCH_ACCOUNT": "account",
    "SBATCH_ARRAY_INX": "array",
    "SBATCH_ACCTG_FREQ": "acctg-freq",
    "SBATCH_BATCH": "batch",
    "SBATCH_BURST_BUFFER": "bb",
    "SBATCH_CLUSTER_CONSTRAINT": "cluster-constraint",
    "SBATCH_CLUSTERS": "clusters",
    "SLURM_CLUSTERS": "clusters",
    "SBATCH_CONTAINER": "container",
    "SBATCH_CONTAINER_ID": "container-id",
    "SBATCH_CONSTRAINT": "constraint",
    "SBATCH_CORE_SPEC": "core-spec",
    "SBATCH_CPU_FREQ_REQ": "cpu-freq",
    "SBATCH_CPUS_PER_GPU": "cpus-per-gpu",
    "SBATCH_DELAY_BOOT": "delay-boot",
    "SBATCH_DISTRIBUTION": "distribution",
    "SBATCH_EXCLUSIVE": "exclusive",
    "SBATCH_EXPORT": "export",
    "SBATCH_GET_USER_ENV": "get-user-env",
    "SBATCH_GRES": "gres",
    "SBATCH_GRES_FLAGS": "gres-flags",
    "SBATCH_GPUS": "gpus",
    "SBATCH_GPU_BIND": "gpu-bind",
    "SBATCH_GPU_FREQ": "gpu-freq",
    "SBATCH_GPUS_PER_NODE": "gpus-per-node",
    "SBATCH_GPUS_PER_SOCKET": "gpus-per-socket",
    "SBATCH_GPUS_PER_TASK": "gpus-per-task",
    "SLURM_HINT": "hint",
    "SBATCH_HINT": "hint",
    "SBATCH_JOB_NAME": "job-name",
    "SBATCH_MEM_BIND": "mem-bind",
    "SBATCH_MEM_PER_CPU": "mem-per-cpu",
    "SBATCH_MEM_PER_GPU": "mem-per-gpu",
    "SBATCH_MEM_PER_NODE": "mem",
    "SBATCH_NETWORK": "network",
    "SBATCH_NO_KILL": "no-kill",
    "SBATCH_NO_REQUEUE": "no-requeue",
    "SBATCH_OPEN_MODE": "open-mode",
    "SBATCH_OVERCOMMIT": "overcommit",
    "SBATCH_PARTITION": "partition",
    "SBATCH_POWER": "power",
    "SBATCH_PROFILE": "profile",
    "SBATCH_QOS": "qos",
    "SBATCH_REQUEUE": "requeue",
    "SBATCH_RESERVATION": "reservation",
    "SBATCH_SIGNAL": "signal",
    "SBATCH_SEGMENT_SIZE": "segment",
    "SBATCH_SPREAD_JOB": "spread-job",
    "SBATCH_THREAD_SPEC": "thread-spec",
    "SBATCH_THREADS_PER_CORE": "threads-per-core",
    "SBATCH_TIMELIMIT": "time",
    "SBATCH_TRES_BIND": "tres-bind",
    "SBATCH_TRES_PER_TASK": "tres-per-task",
    "SBATCH_USE_MIN_NODES": "use-min-nodes",
    "SBATCH_WAIT": "wait",
    "SBATCH_WAIT_ALL_NODES": "wait-all-nodes",
    "SBATCH_WCKEY": "wckey",
    "SBATCH_ERROR": "error",
    "SBATCH_INPUT": "input",
    "SBATCH_OUTPUT": "output",
    "SBATCH_IGNORE_PBS": "ignore-pbs",
}
"""In the order in which sbatch looks at them; SBATCH_REQ_SWITCH and SBATCH_WAIT4SWITCH are read beside these."""


def options(version: tuple[int, int]) -> tuple[Option, ...]:
    """Those that a version has, in the order in which getopt names them.

    >>> [one.name for one in options((22, 5)) if one.name.startswith("tres")]
    []
    """
    return tuple(one for one in OPTIONS if one.since <= version < one.until)


def named(version: tuple[int, int]) -> Iterator[tuple[str, Option]]:
    """Those that a version has, by name."""
    return ((one.name, one) for one in options(version))
