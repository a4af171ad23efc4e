"""Scenario files written: faults as :mod:`gnomon.api.scenario_file` reads them, and a scenario with other faults."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from gnomon.api.parts import is_number
from gnomon.api.scenario_file import ScenarioSpec
from gnomon.control.faults import KINDS
from gnomon.control.faults.kind import Unit
from gnomon.formats.schema import validated
from gnomon.formats.yaml import Located, load_yaml
from gnomon.formats.yaml_write import as_yaml
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Law
from gnomon.model.quantity import format_duration, format_memory
from gnomon.model.resources import E4, NEVER

_COMMENT: Final = "# Written by Gnomon after {source}, with faults of its own.\n"


def faults_document(faults: Iterable[Failure | FailureProcess]) -> list[dict[str, Any]]:
    """Faults as the list of mappings that a scenario has under ``faults``, exactly; what is as by default is left out.

    >>> from gnomon.model.fault import Fault
    >>> faults_document([Failure(Fault.SLOW, 600 * 10**9, 10**9, ("node/n3",), amount=5_000)])
    [{'at': '10m', 'slow': 'node/n3', 'speed': 0.5, 'for': '1s'}]
    """
    return [_failure(fault) if isinstance(fault, Failure) else _process(fault) for fault in faults]


def rewritten(
    path: str | os.PathLike[str],
    *,
    faults: Iterable[Failure | FailureProcess],
    seed: int | None = None,
    policy: str | None = None,
    beside: Path,
) -> str:
    """A scenario file's own document with other faults, as YAML that means the same in the folder ``beside``.

    ``seed``, ``policy``: in place of those that it has. Comments are lost, and aliases written out. Raises
    :class:`InputError` for a file that is no scenario in YAML.
    """
    source = Path(path)
    if source.suffix == ".py":
        allowed = "a scenario in YAML"
        raise InputError("a scenario in Python is not written anew", file=os.fspath(path), allowed=allowed)
    document = load_yaml(source)[0]
    validated(ScenarioSpec, document)
    value = {name: part for name, part in document.value.items() if name != "faults"}
    folder = source.parent
    value["work"] = _work(document.at("work"), folder, beside)
    if isinstance(cluster := value.get("cluster"), str) and not _is_count(cluster, folder):
        value["cluster"] = _moved(cluster, folder, beside)
    if seed is not None:
        value["seed"] = seed
    if policy is not None:
        value["policy"] = policy
    value["faults"] = faults_document(faults)
    name = source.name if source.name.isprintable() else "a scenario"
    return _COMMENT.format(source=name) + as_yaml(value)


def _failure(failure: Failure) -> dict[str, Any]:
    document: dict[str, Any] = {"at": format_duration(failure.at_ns), **_what(failure)}
    if failure.for_ns < NEVER:
        document["for"] = format_duration(failure.for_ns)
    return document


def _process(process: FailureProcess) -> dict[str, Any]:
    document = {**_what(process), "mtbf": format_duration(process.mtbf_ns), "mttr": format_duration(process.mttr_ns)}
    for prefix in ("", "repair_"):
        law: Law = getattr(process, f"{prefix}law")
        shape: float = getattr(process, f"{prefix}shape")
        if law is not Law.EXPONENTIAL:
            document[f"{prefix}law"] = law.value
        if shape != 1:
            document[f"{prefix}shape"] = shape
    if process.together:
        document["together"] = True
    if process.from_ns:
        document["begin"] = format_duration(process.from_ns)
    if process.until_ns < NEVER:
        document["end"] = format_duration(process.until_ns)
    return document


def _what(fault: Failure | FailureProcess) -> dict[str, Any]:
    """The kind, whom it strikes, and its amount."""
    document: dict[str, Any] = {fault.kind.value: _names(fault.targets)}
    if fault.others:
        document["from"] = _names(fault.others)
    if amount := KINDS[fault.kind].amount:
        document[amount.key] = _amount(amount.unit, fault.amount)
    return document


def _names(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _amount(unit: Unit, amount: int) -> str | int | float:
    match unit:
        case Unit.PART:
            return amount / E4  # at most four decimals, which its shortest decimal form gives back
        case Unit.NS:
            return format_duration(amount)
        case Unit.BYTES | Unit.BYTES_A_SECOND:
            text = format_memory(amount)
            return int(text) if text.isdigit() else text
        case Unit.NUMBER:
            return amount


def _work(document: Located, folder: Path, beside: Path) -> Any:
    """Paths, or tasks with the paths of what they use, as they are called from another folder."""
    work = document.value
    if isinstance(work, str):
        return _moved(work, folder, beside)
    if isinstance(work, dict):
        return {**work, "tasks": _work(document.at("tasks"), folder, beside)}
    return [_moved(item, folder, beside) if isinstance(item, str) else _task(item, folder, beside) for item in work]


def _task(task: dict[str, Any], folder: Path, beside: Path) -> dict[str, Any]:
    if "usage" not in task:
        return task
    usage = {
        name: {**profile, "trace": _moved(profile["trace"], folder, beside)}
        if isinstance(profile, dict) and "trace" in profile
        else profile
        for name, profile in task["usage"].items()
    }
    return {**task, "usage": usage}


def _is_count(cluster: str, folder: Path) -> bool:
    return is_number(cluster) and not os.path.exists(os.path.join(folder, cluster))


def _moved(path: str, folder: Path, beside: Path) -> str:
    """A path relative to one folder, as it is called from another; an absolute one stays."""
    if os.path.isabs(path):
        return path
    found = os.path.normpath(os.path.join(os.path.abspath(folder), path))
    try:
        return Path(os.path.relpath(found, os.path.abspath(beside))).as_posix()
    except ValueError:  # on another drive
        return found
