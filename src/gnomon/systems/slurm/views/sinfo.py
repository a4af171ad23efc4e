"""``sinfo``: default, ``-N``, ``-l``, ``-s``, ``-R``, ``-o``; nodes that show the same are in one row.

Source: ``src/sinfo/opts.c``, ``print.c``, ``sort.c``, ``node_state_string`` of ``src/common/slurm_protocol_defs.c``, of
Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gnomon.systems.slurm.cluster.nodes import SILENT
from gnomon.systems.slurm.cluster.state import Partition, State
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.views.formats import Cell, Clock, cells_of, flags, option, table, used

DEFAULT: Final = "%9P %.5a %.10l %.6D %.6t %N"
LONG: Final = "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
BY_NODE: Final = "%#N %.6D %#P %6t "
BY_NODE_LONG: Final = "%#N %.6D %#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
SUMMARY: Final = "%9P %.5a %.10l %.16F %N"
REASONS: Final = "%20E %9u %19H %N"
_RANK: Final = {"planned": 9, "drained": 8, "draining": 7, "mixed": 6, "allocated": 5, "completing": 4, "idle": 3}
_SHORT: Final = {
    "allocated": "alloc",
    "completing": "comp",
    "drained": "drain",
    "draining": "drng",
    "mixed": "mix",
    "planned": "plnd",
    "reserved": "resv",
}


def node_words(state: State) -> list[str]:
    """The state of each node in sinfo's words; ``*`` behind those that do not answer."""
    conf = state.conf
    cpus = _allocated(state)
    planned = {n for job in state.pending for n in job.planned_nodes}
    reserved = {
        int(n): "maint" if one.is_maintenance else "reserved"
        for one in state.reservations.values()
        if one.start_ns <= state.now_ns < one.end_ns
        for n in np.flatnonzero(one.nodes)
    }
    words = []
    for n, node in enumerate(conf.nodes):
        busy = "allocated" if cpus[n] >= node.effective_cpus else "mixed" if cpus[n] else ""
        if n in state.down:
            words.append("down*" if state.down[n] == SILENT else "down")
        elif n in state.drained:
            words.append("draining" if busy or n in state.completing else "drained")
        elif n in state.completing and not busy:
            words.append("completing")
        else:
            words.append(busy or reserved.get(n) or ("planned" if n in planned else "idle"))
    return words


def _allocated(state: State) -> list[int]:
    """CPUs that jobs have on each node."""
    found = [0] * len(state.conf.nodes)
    for job in state.running:
        for n, cpus in zip(job.allocation.nodes, job.allocation.cpus, strict=True):
            found[n] += cpus
    return found


@dataclass(frozen=True)
class Group:
    """Nodes of a partition that show the same."""

    state: State
    partition: Partition | None
    nodes: tuple[int, ...]
    word: str
    cpus: tuple[int, ...]
    clock: Clock

    def tally(self) -> str:
        """CPUs allocated, idle, in other states, and all."""
        conf = self.state.conf
        total = sum(conf.nodes[n].cpus for n in self.nodes)
        taken = sum(self.cpus[n] for n in self.nodes)
        away = sum(
            conf.nodes[n].cpus - self.cpus[n] for n in self.nodes if n in self.state.down or n in self.state.drained
        )
        return f"{taken}/{total - taken - away}/{away}/{total}"

    def node_tally(self, words: Sequence[str]) -> str:
        """Nodes allocated, idle, in other states, and all."""
        kinds = [words[n].rstrip("*") for n in self.nodes]
        taken = sum(kind in ("allocated", "mixed", "completing", "draining") for kind in kinds)
        idle = sum(kind in ("idle", "planned", "reserved", "maint") for kind in kinds)
        return f"{taken}/{idle}/{len(kinds) - taken - idle}/{len(kinds)}"

    @property
    def reason(self) -> str:
        """Why they take no jobs."""
        n = self.nodes[0] if self.nodes else -1
        return self.state.down.get(n) or self.state.drained.get(n) or "none"


def _range(values: Sequence[int]) -> str:
    if not values:
        return "0"
    return str(values[0]) if len(set(values)) == 1 else f"{min(values)}+"


def _of(field: str) -> Callable[[Group], str]:
    return lambda g: _range([getattr(g.state.conf.nodes[n], field) for n in g.nodes])


def _layout(g: Group) -> str:
    return ":".join(_of(field)(g) for field in ("sockets", "cores", "threads"))


def _gres(g: Group) -> str:
    node = g.state.conf.nodes[g.nodes[0]] if g.nodes else None
    parts = [] if node is None else [f"{one.name}:{one.type + ':' if one.type else ''}{one.count}" for one in node.gres]
    return ",".join(parts) or "(null)"


def _job_size(g: Group) -> str:
    conf = g.partition.conf if g.partition else None
    low = max(1, conf.min_nodes) if conf else 1
    most = "infinite" if conf is None or conf.max_nodes is None else str(conf.max_nodes)
    return most if most == str(low) else f"{low}-{most}"


def _limit(g: Group) -> str:
    minutes = g.partition.conf.max_time_min if g.partition else None
    return "infinite" if minutes is None else used(minutes * 60)


def _name(g: Group) -> str:
    return "" if g.partition is None else g.partition.name + ("*" if g.partition.conf.default else "")


def _shares(g: Group) -> str:
    conf = g.partition.conf if g.partition else None
    if conf is None or conf.oversubscribe in ("NO", "EXCLUSIVE"):
        return "EXCLUSIV" if conf is not None and conf.oversubscribe == "EXCLUSIVE" else "NO"
    return f"{conf.oversubscribe}:{conf.sharing}"


FIELDS: Final[Mapping[str, tuple[str, Callable[[Group], str]]]] = {
    "a": ("AVAIL", lambda g: "up" if g.partition is not None and g.partition.conf.state == "UP" else _avail(g)),
    "c": ("CPUS", _of("cpus")),
    "C": ("CPUS(A/I/O/T)", Group.tally),
    "d": ("TMP_DISK", _of("tmp_mb")),
    "D": ("NODES", lambda g: str(len(g.nodes))),
    "E": ("REASON", lambda g: g.reason),
    "f": ("AVAIL_FEATURES", lambda g: ",".join(g.state.conf.nodes[g.nodes[0]].features) if g.nodes else "(null)"),
    "F": ("NODES(A/I/O/T)", lambda g: g.node_tally(node_words(g.state))),
    "g": (
        "GROUPS",
        lambda g: ",".join(g.partition.conf.allow_groups) if g.partition and g.partition.conf.allow_groups else "all",
    ),
    "G": ("GRES", _gres),
    "h": ("OVERSUBS", _shares),
    "H": ("TIMESTAMP", lambda g: "Unknown"),
    "l": ("TIMELIMIT", _limit),
    "m": ("MEMORY", _of("memory_mb")),
    "n": ("HOSTNAMES", lambda g: ",".join(g.state.names(list(g.nodes)))),
    "N": ("NODELIST", lambda g: compress(g.state.names(list(g.nodes)))),
    "P": ("PARTITION", _name),
    "r": ("ROOT", lambda g: "yes" if g.partition and g.partition.conf.root_only else "no"),
    "R": ("PARTITION", lambda g: g.partition.name if g.partition else ""),
    "s": ("JOB_SIZE", _job_size),
    "t": ("STATE", lambda g: short(g.word)),
    "T": ("STATE", lambda g: g.word),
    "u": ("USER", lambda g: "root"),
    "w": ("WEIGHT", _of("weight")),
    "X": ("SOCKETS", _of("sockets")),
    "Y": ("CORES", _of("cores")),
    "z": ("S:C:T", _layout),
    "Z": ("THREADS", _of("threads")),
}


def _avail(g: Group) -> str:
    return {"DOWN": "down", "DRAIN": "drain", "INACTIVE": "inact"}.get(
        g.partition.conf.state if g.partition else "", "up"
    )


def short(word: str) -> str:
    """A state in sinfo's short form."""
    bare = word.rstrip("*")
    return _SHORT.get(bare, bare) + word[len(bare) :]


def sinfo(state: State, args: Sequence[str], clock: Clock, now: str) -> str:
    """What sinfo prints. Raises InputError for a field that is not modelled."""
    alone = flags(args, "opntS")
    long = bool({"-l", "--long"} & alone)
    by_node, reasons = bool({"-N", "--Node"} & alone), bool({"-R", "--list-reasons"} & alone)
    summary = bool({"-s", "--summarize"} & alone)
    shape = option(args, "-o", "--format")
    given = shape or (
        REASONS
        if reasons
        else SUMMARY
        if summary
        else (BY_NODE_LONG if long else BY_NODE)
        if by_node
        else LONG
        if long
        else DEFAULT
    )
    before, cells = cells_of(given)
    if by_node and shape is None:  # names of nodes have a blank behind them, partitions stand to the right
        cells = [Cell("N", -1, False, "  "), cells[1], cells[2]._replace(right=True), *cells[3:]]
    wanted = option(args, "-p", "--partition")
    groups = _groups(state, clock, by_node=by_node, summary=summary, fields="".join(cell.field for cell in cells))
    if wanted is not None:
        groups = [one for one in groups if one.partition is not None and one.partition.name in wanted.split(",")]
    if reasons:
        groups = [one for one in groups if one.reason != "none"]
    rows = [lambda field, one=one: FIELDS[field][1](one) for one in groups]
    headers = {letter: header for letter, (header, _) in FIELDS.items()}
    text = table(before, cells, headers, rows, header=not {"-h", "--noheader"} & alone)
    return f"{now}\n{text}" if long else text


def _groups(state: State, clock: Clock, *, by_node: bool, summary: bool, fields: str) -> list[Group]:
    words, cpus = node_words(state), tuple(_allocated(state))
    found: list[Group] = []
    named = bool(set(fields) & set("PRalsrgh"))
    partitions: list[Partition | None] = [*state.partitions.values()] if named else [None]
    for partition in partitions:
        numbers = list(range(len(words))) if partition is None else np.flatnonzero(partition.nodes).tolist()
        if by_node or summary:
            sets = [(n,) for n in numbers] if by_node else [tuple(numbers)]
            found += [Group(state, partition, one, words[one[0]] if one else "idle", cpus, clock) for one in sets]
            continue
        alike: dict[tuple[str, ...], list[int]] = {}
        for n in numbers:
            one = Group(state, partition, (n,), words[n], cpus, clock)
            shown = tuple(FIELDS[f][1](one) for f in fields if f in FIELDS and f not in "NnDCF")
            alike.setdefault(shown, []).append(n)
        made = [Group(state, partition, tuple(ns), words[ns[0]], cpus, clock) for ns in alike.values()]
        found += sorted(made, key=_rank)
    if by_node:
        order = {name: place for place, name in enumerate(state.partitions)}
        found.sort(key=lambda one: (one.nodes[0], order[one.partition.name] if one.partition else 0))
    return found


def _rank(one: Group) -> tuple[int, int]:
    bare = one.word.rstrip("*")
    return -(10 if one.word.endswith("*") else _RANK.get(bare, 1)), one.nodes[0]
