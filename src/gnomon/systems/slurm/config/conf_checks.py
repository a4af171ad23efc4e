"""What ends slurmctld in the keys of slurm.conf that stand alone, and what it takes otherwise than it is written.

Source: ``_validate_and_set_defaults`` of ``src/common/read_config.c``, ``preempt_mode_num`` of
``src/common/slurm_protocol_defs.c``, ``select_p_node_init`` of cons_tres, Slurm 22.05 to 25.05; which combinations are
refused was tried out with ``slurm_conf_init`` of libslurm 22.05.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf_lines import Notes
from gnomon.systems.slurm.config.lines import Line
from gnomon.systems.slurm.config.options import KEYS, OLDEST, Key, Version, default_of
from gnomon.systems.slurm.config.tres_weights import tres_weights
from gnomon.systems.slurm.notation import values
from gnomon.systems.slurm.notation.times import LIMIT_FORMS, limit_minutes

Options = dict[str, tuple[str, Line]]
"""Keys in lower case: what is written, and where."""

_RESET_PERIODS: Final = ("none", "now", "daily", "weekly", "monthly", "quarterly", "yearly")
_ENFORCED: Final = frozenset({"associations", "limits", "qos", "safe", "wckeys", "nojobs", "nosteps", "all", "1", "2"})
_PART_LIMITS: Final = ("yes", "up", "true", "1", "no", "down", "false", "0", "any", "all")
_PLUGINS: Final = {
    "schedulertype": ("sched/backfill", "sched/builtin"),
    "prioritytype": ("priority/basic", "priority/multifactor"),
    "selecttype": ("select/cons_tres", "select/linear", "select/cons_res", "select/cray_aries"),
    "preempttype": ("preempt/none", "preempt/partition_prio", "preempt/qos"),
}
_CONSUMABLE: Final = ("cr_cpu", "cr_core", "cr_socket", "cr_memory")
_SELECT_WORDS: Final = frozenset(
    """cr_cpu cr_cpu_memory cr_core cr_core_memory cr_socket cr_socket_memory cr_memory cr_lln cr_pack_nodes
    cr_one_task_per_core cr_core_default_dist_block other_cons_res other_cons_tres""".split()
)
_SELECT_WORDS_LATER: Final = frozenset(
    "multiple_sharing_gres_pj enforce_binding_gres one_task_per_sharing_gres ll_shared_gres".split()
)
_PREEMPT_BASES: Final = ("off", "cancel", "requeue", "suspend", "on")
_SLICE_LEAST_S: Final = 5


def check_type(known: Key, line: Line) -> None:
    """A number, and YES and NO, must be one. Raises :class:`InputError` in slurmctld's words."""
    try:
        if known.kind == "boolean":
            values.boolean(line.first.value, known.name)
        elif known.kind in ("number", "seconds", "minutes"):
            values.number(line.first.value, known.name, known.bits)
    except InputError as error:
        raise error.at(file=line.file, line=line.number) from None


def check_options(options: Options, version: Version, notes: Notes) -> None:
    """Raises :class:`InputError` in slurmctld's words where it would end; takes away what it does not look at."""
    for key, (value, line) in options.items():
        kind, name = KEYS[key].kind, KEYS[key].name
        if kind in ("limit", "precise"):
            _check_limit(key, value, line)
        elif kind == "idle" and not value.isdecimal() and value.lower() not in ("none", "-1", "infinite"):
            notes.taken(name, f"{name}={value} is read as {values.leading_number(value)}")
    for key, words in (
        ("maxjobcount", "MaxJobCount=0, No jobs permitted"),
        ("firstjobid", "FirstJobId cannot be zero"),
    ):
        if key in options and values.number(options[key][0], key) == 0:
            raise _bad(options, key, words)
    for key in _PLUGINS:
        _check_plugin(options, key)
    _check_words(options)
    _check_select(options, version)
    _check_preemption(options, version)
    _check_priority(options)
    _drop(options, notes)


def is_preempt_mode(written: str, version: Version = OLDEST) -> bool:
    """Whether slurmctld takes a PreemptMode: one of OFF, CANCEL, REQUEUE and SUSPEND, with GANG or with WITHIN.

    >>> is_preempt_mode("SUSPEND,GANG"), is_preempt_mode("CANCEL,REQUEUE"), is_preempt_mode("GANG,WITHIN")
    (True, False, False)
    """
    modes = [mode.lower() for mode in values.parts_of(written)]
    known = {*_PREEMPT_BASES, "gang", "within"} | ({"priority"} if version > OLDEST else set())
    bases = [mode for mode in modes if mode in _PREEMPT_BASES]
    return known.issuperset(modes) and len(bases) <= 1 and not {"gang", "within"}.issubset(modes)


def _check_limit(key: str, value: str, line: Line) -> None:
    name = KEYS[key].name
    try:
        minutes = limit_minutes(value)
    except InputError:
        raise InputError(
            f'Bad value "{value}" for {name}', file=line.file, line=line.number, field=name, allowed=LIMIT_FORMS
        ) from None
    if key == "prioritycalcperiod" and not minutes:
        raise line.error(f'Bad value "{value}" for {name}', field=name)


def _check_plugin(options: Options, key: str) -> None:
    allowed = _PLUGINS[key]
    kind = allowed[0].partition("/")[0]
    if key in options and f"{kind}/{options[key][0].lower().removeprefix(f'{kind}/')}" not in allowed:
        problem = f"cannot find {kind} plugin for {options[key][0]}"
        raise InputError(
            problem,
            file=options[key][1].file,
            line=options[key][1].number,
            field=KEYS[key].name,
            allowed=", ".join(allowed),
        )


def _check_words(options: Options) -> None:
    """Keys that have words of their own."""
    checks: tuple[tuple[str, Callable[[str], bool], str], ...] = (
        ("accountingstorageenforce", _enforces, "AccountingStorageEnforce invalid: {}"),
        ("enforcepartlimits", lambda value: value.lower() in _PART_LIMITS, "Bad EnforcePartLimits: {}"),
        (
            "priorityusageresetperiod",
            lambda value: value.lower() in _RESET_PERIODS,
            'Bad value "{}" for PriorityUsageResetPeriod',
        ),
    )
    for key, good, words in checks:
        if key in options and not good(options[key][0]):
            raise _bad(options, key, words.format(options[key][0]))


def _enforces(value: str) -> bool:
    """As slurmctld looks for the words anywhere in the text; "none", which it prints, is let pass too."""
    lowered = value.lower()
    return lowered == "none" or any(word in lowered for word in _ENFORCED)


def _check_select(options: Options, version: Version) -> None:
    key = "selecttypeparameters"
    chosen = _written(options, "selecttype", version).lower()
    written = _written(options, key, version)
    words = [word.lower() for word in values.parts_of(written)]
    known = _SELECT_WORDS | _SELECT_WORDS_LATER if version > OLDEST else _SELECT_WORDS
    consumable = [word for word in words if word.removesuffix("_memory") in _CONSUMABLE or word == "cr_memory"]
    clash = len(consumable) > 1 or ("cr_one_task_per_core" in words and any(word[:6] == "cr_cpu" for word in words))
    if not known.issuperset(words) or clash:
        raise _bad(options, key, f"Bad SelectTypeParameter: {written}")
    counts_cores = any(word != "cr_memory" for word in consumable)
    where = key if key in options else "selecttype"
    if "linear" in chosen and counts_cores:
        problem = f"Invalid SelectTypeParameters for select/linear: {written.upper()}"
        raise _bad(options, where, f"{problem}, it can't contain CR_(CPU|CORE|SOCKET).")
    if "cons_" in chosen and not counts_cores:
        problem = f"Invalid SelectTypeParameters: {written.upper() or 'NONE'}"
        raise _bad(options, where, f"{problem}, You need at least CR_(CPU|CORE|SOCKET)*")


def _check_preemption(options: Options, version: Version) -> None:
    written, line_key = _written(options, "preemptmode", version), "preemptmode"
    modes = {mode.lower() for mode in values.parts_of(written)}
    if not is_preempt_mode(written, version):
        raise _bad(options, line_key, f"PreemptMode={written} invalid")
    if modes in ({"suspend"}, {"on"}):
        raise _bad(options, line_key, "PreemptMode=SUSPEND requires GANG too")
    preempts = not _written(options, "preempttype", version).lower().endswith("none")
    on = modes - {"gang", "off"} - ({"within", "priority"} if preempts else set())
    if preempts != bool(on):
        raise _bad(options, "preempttype" if preempts else line_key, "PreemptType and PreemptMode values incompatible")


def _check_priority(options: Options) -> None:
    half_life = options.get("prioritydecayhalflife")
    if half_life and "priorityusageresetperiod" not in options and limit_minutes(half_life[0]) == 0:
        raise _bad(
            options,
            "prioritydecayhalflife",
            "You have to either have PriorityDecayHalfLife != 0 or PriorityUsageResetPeriod set to something or the "
            "priority plugin will result in rolling over.",
        )
    if "priorityweighttres" in options and "basic" not in options.get("prioritytype", ("", None))[0].lower():
        written = {name: value for name, (value, _) in options.items()}
        try:
            tres_weights(written["priorityweighttres"], written, "PriorityWeightTRES")
        except InputError as error:
            raise _bad(options, "priorityweighttres", error.problem) from None


def _drop(options: Options, notes: Notes) -> None:
    """What slurmctld complains of and does not look at."""
    for kind in ("DefMem", "MaxMem"):
        cpu, node = f"{kind}PerCPU", f"{kind}PerNode"
        if cpu.lower() in options and node.lower() in options:
            notes.taken(cpu, f"{cpu} ignored, since it's mutually exclusive with {node}")
            del options[cpu.lower()]
    least = (("schedulertimeslice", _SLICE_LEAST_S, "SchedulerTimeSlice must be at least 5 seconds"),)
    for key, lowest, words in (*least, ("treewidth", 1, "TreeWidth=0 is invalid")):
        amount = values.number(options[key][0], key) if key in options else None
        if amount is not None and amount < lowest:
            notes.taken(KEYS[key].name, f"{words}; the default holds")
            del options[key]


def _written(options: Options, key: str, version: Version) -> str:
    plain: Mapping[str, str] = {name: value for name, (value, _) in options.items()}
    return plain[key] if key in plain else default_of(key, version, plain)


def _bad(options: Options, key: str, problem: str) -> InputError:
    if key not in options:
        return InputError(problem, field=KEYS[key].name)
    return options[key][1].error(problem, field=KEYS[key].name)
