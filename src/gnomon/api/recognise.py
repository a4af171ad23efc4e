"""What a file is, from its content: a scenario, plain nodes or tasks, a trace, or a native file of some system."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from gnomon import traces
from gnomon.api.systems import SYSTEMS
from gnomon.api.to_come import FIRST, LAST
from gnomon.formats.files import Path, read_start
from gnomon.formats.signs import Signs
from gnomon.formats.yaml import Located, load_yaml
from gnomon.model.errors import InputError

SCENARIO: Final = "scenario"
PLAIN: Final = "plain"

_SCENARIO_KEYS = frozenset(("cluster", "work", "policy", "system", "until", "seed"))
_PLAIN_KEYS = frozenset(("nodes", "tasks", "reservations"))
_LATE_CHARACTERS = 2**20
"""Where a long comment or a large object comes first, what the file is may be said as late as here."""
_TOP_KEY = re.compile(r"^([a-z_]+) *:", re.MULTILINE)
_KNOWN = (
    "a scenario (cluster, work, policy...), plain YAML (nodes, tasks), SWF, CSV with a header, Alibaba openb lists, "
    "Kubernetes YAML or JSON, Slurm's slurm.conf, batch scripts and listings, event logs of Spark, jobs in Python"
)


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario. Raises :class:`InputError` as :func:`recognise` does."""
    return recognise(path) == SCENARIO


def recognise(path: Path) -> str:
    """``scenario``, ``plain`` or the name of a trace format.

    Raises :class:`InputError` for a file that cannot be read, one of a system that comes later, and one that is
    nothing known.
    """
    file = os.fspath(path)
    if folder := _folder(path):
        raise _not_here(*folder, file)
    start = read_start(path)
    if file.endswith(".py"):
        return SCENARIO
    if native := _native(start):
        raise _not_here(*native, file)
    found = traces.detect(file) or _kind(_TOP_KEY.findall(start))
    if found is None:
        keys = _keys(load_yaml(path)[0])
        for system, signs in _with_keys().items():
            if set(signs.keys).issubset(keys):  # far below the start
                raise _not_here(system, signs.starts[0][0], file)
        found = _kind(keys)
    if found is None:
        raise InputError("not of a format that is known", file=file, allowed=_KNOWN)
    return found


def native_system(path: Path) -> str | None:
    """The system whose native file this is, by its content; None for a file that is none of any system.

    Raises :class:`InputError` for a file that cannot be read.
    """
    if folder := _folder(path):
        return folder[0]
    start = read_start(path)
    native = _native(start)
    if native is None and not (os.fspath(path).endswith(".py") or _kind(_TOP_KEY.findall(start))):
        start = read_start(path, characters=_LATE_CHARACTERS)
        native = _native(start, {name: one for name, one in _with_keys().items() if one.keys[0] in start})
    return None if native is None else native[0]


@cache
def _signs() -> dict[str, Signs]:
    """What tells the native files of each system, in the order in which they are looked for."""
    modelled = {name: signs for name, system in SYSTEMS.items() if (signs := system.make_signs()) is not None}
    return {**FIRST, **modelled, **LAST}


def _with_keys() -> dict[str, Signs]:
    return {system: signs for system, signs in _signs().items() if signs.keys}


def _folder(path: Path) -> tuple[str, str] | None:
    """The system of a folder of native files, and what it is called."""
    if not os.path.isdir(path):
        return None
    folders = ((system, *signs.folder) for system, signs in _signs().items() if signs.folder is not None)
    return next(((system, name) for system, name, is_one in folders if is_one(path)), None)


def _native(start: str, among: Mapping[str, Signs] | None = None) -> tuple[str, str] | None:
    """The system of a native file that starts so, and what the file is called."""
    found = ((system, signs.named(start)) for system, signs in (_signs() if among is None else among).items())
    return next(((system, name) for system, name in found if name is not None), None)


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
