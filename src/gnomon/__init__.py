"""Gnomon: what a cluster will do with given work, why, and what would change it.

The main flow, by package: ``cli`` (or your program) calls ``api``, whose ``Scenario.load`` lets
``systems`` and ``traces`` read native files into the nouns of ``model``. ``simulate`` hands them with a
system's composition to ``engine``: clock, ledger, log and the loop. The loop asks ``scheduling`` (order,
admit, filter, score, commit), ``resources`` (request, allocate, use, enforce), ``recovery`` (detect,
isolate, redistribute, replay) and ``dataflow`` (stages joined by data movement) what to do, and writes
each event with its cause to the log. ``insight`` reads the log and nothing else: metrics, explanations,
comparisons. ``report`` and ``web`` show them; ``backends`` drive the same core with real processes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.api import Run, Scenario, calibrate, compare, explain, simulate

__version__ = "0.1.0"

__all__ = ["Run", "Scenario", "__version__", "calibrate", "compare", "explain", "simulate"]

_FROM_API = frozenset({"Run", "Scenario", "calibrate", "compare", "explain", "simulate"})


def __getattr__(name: str) -> object:
    """Load the facade when one of its names is first used, so that ``import gnomon`` costs nothing."""
    if name not in _FROM_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module("gnomon.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
