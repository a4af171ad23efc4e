"""Scenarios from files, YAML (:mod:`gnomon.api.scenario_file`) or Python: one for each variant of the policy."""

from __future__ import annotations

import os

from gnomon.api.parts import only_document
from gnomon.api.python_file import raised_by, run_python
from gnomon.api.systems import SYSTEMS
from gnomon.formats.files import Path, read_start
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario


def load_scenario(path: Path, *, until_ns: int | None = None, nodes: str | None = None) -> list[Scenario]:
    """The scenarios of a file, one for each variant of the policy that it names. ``until_ns``: in place of the end that
    the file says, for what is made up to it; ``nodes``: the native file for the cluster that it names.

    A Python file defines ``scenario``: a Scenario, a list of them, or a function that returns one or the other.
    """
    file = os.fspath(path)
    if file.endswith(".py"):
        return _of_python(file)

    from gnomon.api.scenario_file import read_scenarios  # whose models take a while to be made

    return read_scenarios(only_document(file), until_ns=until_ns, nodes=nodes)


def _of_python(file: str) -> list[Scenario]:
    """Run a Python file, and take what it calls ``scenario``. What it raises is an InputError with its line."""
    read_start(file)
    names = run_python(file)
    made = names.get("scenario")
    with raised_by(file):
        made = made() if callable(made) else made
    if made is None and any(type(value).__name__ == "Dataflow" for value in names.values()):
        allowed = ", ".join(name for name, system in SYSTEMS.items() if system.jobs)
        raise InputError("a job of dataflow: which system runs it?", file=file, field="--system", allowed=allowed)
    scenarios = made if isinstance(made, list | tuple) else [made]
    if not scenarios or not all(isinstance(scenario, Scenario) for scenario in scenarios):
        raise InputError(
            f"scenario is no Scenario but {type(made).__name__}",
            file=file,
            allowed="scenario = Scenario(...), or def scenario() that returns one or a list of them",
        )
    return list(scenarios)
