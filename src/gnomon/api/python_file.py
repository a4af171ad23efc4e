"""Python files of the user: run, and what they raise told with its line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from gnomon.model.errors import InputError

ENGINES: Final = {
    "pyspark": "Spark",
    "pyflink": "Flink",
    "ray": "Ray",
    "dask": "Dask",
    "apache_beam": "Beam",
    "mrjob": "MapReduce",
}
"""Whose programs are handed over instead of a job: packages that they import."""
LOGS: Final = {"Spark": ", or the event log of a run"}


def run_python(file: str) -> Mapping[str, Any]:
    """The variables of a Python file that is run. It can import what stands beside it, and it stays imported, so that
    its functions can be told to other processes by name. Raises InputError for what it raises."""
    name = f"gnomon_file_{Path(file).stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError("not a Python file", file=file, allowed="a file NAME.py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    beside = str(Path(file).resolve().parent)
    sys.path.insert(0, beside)
    try:
        with raised_by(file):
            spec.loader.exec_module(module)
    finally:
        if beside in sys.path:
            sys.path.remove(beside)
    return vars(module)


@contextmanager
def raised_by(file: str) -> Iterator[None]:
    """What the code of a file raises is an InputError at its line."""
    try:
        yield
    except InputError as error:
        raise error.at(file=file, line=_line(error, file)) from None
    except (Exception, SystemExit) as error:
        if isinstance(error, ImportError) and (engine := ENGINES.get(str(error.name).partition(".")[0])):
            problem = f"a program of {engine}, which is not run here"
            allowed = f"a job in Python that says from gnomon.dataflow import Dataflow{LOGS.get(engine, '')}"
            raise InputError(problem, file=file, line=_line(error, file), allowed=allowed) from error
        message = (error.msg if isinstance(error, SyntaxError) else str(error)).partition("\n")[0]
        raise InputError(f"{type(error).__name__}: {message}", file=file, line=_line(error, file)) from error


def _line(error: BaseException, file: str) -> int | None:
    """The line of a file at which it failed."""
    if isinstance(error, SyntaxError):
        return error.lineno
    own = os.path.abspath(file)  # as Python calls it, wherever it is run from
    here = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in (file, own)]
    return here[-1] if here else None
