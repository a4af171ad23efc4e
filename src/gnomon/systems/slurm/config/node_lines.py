"""``NodeName=`` and ``DownNodes=`` lines to nodes, their counts settled as slurmctld settles them.

Source: ``_parse_nodename`` of ``src/common/read_config.c``, ``expand_nodeline_info`` and ``state_str2int`` of
``src/common/node_conf.c``, ``_handle_downnodes_line`` of ``src/slurmctld/read_config.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_AMOUNT
from gnomon.systems.slurm.config.conf import Gres, NodeConf
from gnomon.systems.slurm.config.conf_lines import Entry, Notes, entries_of, entry_of, keys_of
from gnomon.systems.slurm.config.gres_words import GresWord, words_of
from gnomon.systems.slurm.config.lines import Line
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.notation.values import parts_of

NODES_MAX: Final = 1_000_000
CPUS_MAX: Final = 65_535
"""The most CPUs of a node: slurmctld counts them in 16 bits."""

_KEYS = keys_of(
    numbers="""Boards CoreSpecCount CoresPerSocket CPUs Procs Sockets SocketsPerBoard ThreadsPerCore
    RestrictedCoresPerGPU""",
    longs="TmpDisk Weight",
    huge="MemSpecLimit RealMemory",
    texts="""BcastAddr CPUSpecList CpuBind Feature Features Gres GresConf NodeAddr NodeHostname Parameters Port Reason
    State SuspendTime Topology TRESWeights""",
)
_PASSED_OVER = ("CpuBind", "GresConf", "Parameters", "Topology", "TRESWeights")
_DOWN_KEYS = keys_of(texts="Reason State")
_STATES = frozenset({"UNKNOWN", "DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE", "EXTERNAL"})
_BEGINNINGS = ("CLOUD", "DRAIN", "FAIL")
_NOT_IN_DEFAULT = ("nodehostname", "bcastaddr", "nodeaddr")
_SPEC_CPUS_MAX = 65_536

_Taken = Callable[[str], None]


@dataclass(frozen=True)
class NodeLine:
    """The nodes of one line: their names, what they have in common, and what ``Gres=`` says."""

    entry: Entry
    names: tuple[str, ...]
    node: NodeConf
    gres: tuple[GresWord, ...]

    def nodes(self, gres: Mapping[str, tuple[Gres, ...]]) -> Iterable[NodeConf]:
        """The nodes, with what each has of generic resources."""
        for name in self.names:
            yield replace(self.node, name=name, gres=gres.get(name, ()))


def node_lines(lines: Iterable[Line], gres_types: Iterable[str], notes: Notes) -> list[NodeLine]:
    """The ``NodeName=`` lines. Raises :class:`InputError` in slurmctld's words where it would end."""
    lines = list(lines)
    for line in lines:
        if line.first.value.lower() == "default":
            for pair in line.others:
                if pair.key.lower() in _NOT_IN_DEFAULT:
                    raise line.error(f"{pair.key} not allowed with NodeName=DEFAULT", field=pair.key)
    taken: set[str] = set()
    result = []
    known = tuple(gres_types)
    for entry in entries_of(lines, _KEYS, notes):
        names = _names(entry)
        for name in names:
            if name in taken:
                raise entry.error(f"Duplicated NodeName {name} in the config file")
            taken.add(name)
        if len(taken) > NODES_MAX:
            raise entry.error(f"more than {NODES_MAX:,} nodes")
        for key in _PASSED_OVER:
            if entry.text(key.lower()) is not None:
                notes.key_passed_over(f"{key} of a node")
        gres = words_of(entry.text("gres") or "", known, entry.name, notes)
        result.append(NodeLine(entry, names, _node(entry, notes), gres))
    return result


def down_nodes(lines: Iterable[Line], nodes: dict[str, NodeConf], notes: Notes) -> None:
    """``DownNodes=`` lines, applied to the nodes."""
    for line in lines:
        entry = entry_of(line, _DOWN_KEYS, {}, notes)
        wanted = entry.own.get("state", "DOWN")
        state = state_of(wanted)
        if state is None:
            notes.taken("DownNodes", f'Invalid State "{wanted}"')
            continue
        try:
            names = expand(entry.name)
        except InputError as error:
            notes.taken("DownNodes", f"Unable to create NodeName list from {entry.name} ({error.problem})")
            continue
        for name in names:
            if name not in nodes:
                notes.taken("DownNodes", f'DownNode "{name}" does not exist!')
                continue
            reason = entry.own.get("reason", "Set in slurm.conf")
            kept = nodes[name].state if state == "UNKNOWN" else state
            nodes[name] = replace(nodes[name], state=kept, reason=reason)


def state_of(text: str) -> str | None:
    """A state of a node by the name that slurm.conf has for it, None: there is none of this name.

    >>> state_of("draining"), state_of("Future"), state_of("up")
    ('DRAIN', 'FUTURE', None)
    """
    upper = text.upper()
    if upper in _STATES:
        return upper
    return next((state for state in _BEGINNINGS if upper.startswith(state)), None)


def _names(entry: Entry) -> tuple[str, ...]:
    if entry.name.lower() == "all":
        raise entry.error(f"'{entry.name}' is a reserved word disallowed for use with NodeName")
    for key in ("nodeaddr", "nodehostname"):
        _expanded(
            entry, entry.own.get(key, entry.name), entry.keys["nodeaddr"].name if key == "nodeaddr" else "NodeHostname"
        )
    names = _expanded(entry, entry.name, "NodeName")
    if not names:
        raise entry.error("Empty NodeName in config.")
    return names


def _expanded(entry: Entry, text: str, key: str) -> tuple[str, ...]:
    try:
        return expand(text)
    except InputError as error:
        raise entry.line.error(f"Unable to create {key} list from {text} ({error.problem})") from None


def _node(entry: Entry, notes: Notes) -> NodeConf:
    """What the nodes of a line have in common, without names and generic resources."""

    def taken(words: str) -> None:
        notes.taken("NodeName", f"NodeNames={entry.name} {words}")

    boards, sockets, cores, threads, cpus = _layout(entry, taken)
    core_spec = entry.number("corespeccount", 0)
    if core_spec >= sockets * cores and core_spec:
        taken(f"CoreSpecCount={core_spec} is invalid, reset to 1")
        core_spec = 1
    listed = entry.text("cpuspeclist")
    cpu_spec = _cpu_list(listed, cpus) if listed is not None else ()
    if cpu_spec is None:
        taken(f"CpuSpecList={listed} - unable to convert it to bitmap of size CPUs={cpus}. Ignoring CpuSpecList.")
        cpu_spec = ()
    if core_spec and cpu_spec:
        taken(f"CoreSpecCount={core_spec} is invalid with CPUSpecList, reset to 0")
        core_spec = 0
    if max(cpus, sockets * cores * threads) > CPUS_MAX:
        raise entry.error(f"more than {CPUS_MAX:,} CPUs on a node")
    memory, mem_spec = entry.number("realmemory", 1), entry.number("memspeclimit", 0)
    if memory * 2**20 > MAX_AMOUNT:
        raise entry.error(f"more than {MAX_AMOUNT // 2**20:,} MB of memory", "realmemory")
    if mem_spec >= memory:
        taken(f"MemSpecLimit={mem_spec} is invalid, reset to 0")
        mem_spec = 0
    written = entry.text("state") or "UNKNOWN"
    state = state_of(written)
    if state is None:
        raise entry.error(f"Invalid state {written} from {entry.name}", "state")
    suspend = entry.text("suspendtime")
    return NodeConf(
        name="",
        cpus=cpus,
        boards=boards,
        sockets=sockets,
        cores=cores,
        threads=threads,
        memory_mb=memory,
        tmp_mb=entry.number("tmpdisk", 0),
        weight=min(entry.number("weight", 1), 2**32 - 2),
        features=parts_of(entry.text("feature", "features") or ""),
        state=state,
        reason=entry.text("reason") or "",
        core_spec=core_spec,
        cpu_spec=cpu_spec,
        mem_spec_mb=mem_spec,
        restricted_cores_per_gpu=entry.number("restrictedcorespergpu", 0),
        suspend_time_s=int(suspend) if suspend and suspend.isdecimal() and len(suspend) < 10 else None,
    )


def _layout(entry: Entry, taken: _Taken) -> tuple[int, int, int, int, int]:
    """Boards, sockets of the node, cores of a socket, threads of a core, CPUs."""
    cores = _positive(entry.number("corespersocket", 1), "CoresPerSocket", taken)
    given = entry.text("cpus", "procs")
    cpus = entry.number("cpus" if entry.text("cpus") is not None else "procs", 1)
    cpus = _positive(cpus, "CPUs", taken)
    threads = _positive(entry.number("threadspercore", 1), "ThreadsPerCore", taken)
    per_board = entry.text("socketsperboard")
    of_board = _positive(entry.number("socketsperboard", 1), "SocketsPerBoards", taken)
    sockets = _positive(entry.number("sockets", 1), "Sockets", taken)
    has_sockets = entry.text("sockets") is not None
    if per_board is not None and has_sockets:
        taken("Sockets=# and SocketsPerBoard=# is invalid , using SocketsPerBoard")
        has_sockets = False
    boards = _positive(entry.number("boards", 1), "Boards", taken)
    if not has_sockets:
        if per_board is not None:
            sockets = boards * of_board
        elif given is not None and cpus >= cores * threads and cpus % (cores * threads) == 0:
            sockets = cpus // (cores * threads)
        else:
            sockets = boards
    if given is None:
        cpus = sockets * cores * threads
    if sockets < boards:
        taken(f"Sockets({sockets}) < Boards({boards}) resetting Boards=1")
        boards = 1
    if cpus not in (sockets, sockets * cores, sockets * cores * threads):
        taken(
            f"CPUs={cpus} match no Sockets, Sockets*CoresPerSocket or Sockets*CoresPerSocket*ThreadsPerCore. "
            "Resetting CPUs."
        )
        cpus = sockets * cores * threads
    return boards, sockets, cores, threads, cpus


def _positive(count: int, name: str, taken: _Taken) -> int:
    if count == 0:
        taken(f"{name}=0 is invalid, reset to 1")
    return count or 1


def _cpu_list(text: str, cpus: int) -> tuple[int, ...] | None:
    """The CPUs of a list like ``0-3,8``, None where they are not all CPUs of the node."""
    try:
        numbers = [int(name) for name in expand(f"[{text}]")]
    except (InputError, ValueError):
        return None
    return tuple(sorted(set(numbers))) if all(number < min(cpus, _SPEC_CPUS_MAX) for number in numbers) else None
