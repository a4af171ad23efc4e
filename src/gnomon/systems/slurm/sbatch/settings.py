"""What has been said so far of one component: options set one over the other, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.systems.slurm.sbatch.getopt import Takes, scan
from gnomon.systems.slurm.sbatch.options import OPTIONS, VARIABLES, Option, options
from gnomon.systems.slurm.sbatch.refusals import RefusedError, error
from gnomon.systems.slurm.sbatch.values import Place, switches

_NOT_KEPT = frozenset(one.key for one in OPTIONS if not one.kept and not one.early)


@dataclass(slots=True)
class Settings:
    """Values by the key of their option. ``by_environment``: keys that only a variable has set; ``met``: names of
    options that were given, in order."""

    values: dict[str, Any] = field(default_factory=dict)
    by_environment: set[str] = field(default_factory=set)
    met: dict[str, None] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """The value, None where it is not set."""
        return self.values.get(key)

    def said(self, key: str) -> bool:
        """Set by the command line or the script."""
        return key in self.values and key not in self.by_environment

    def drop(self, *keys: str) -> None:
        """Forgets them."""
        for key in keys:
            self.values.pop(key, None)
            self.by_environment.discard(key)

    def next_component(self) -> None:
        """Forgets what holds for one component alone."""
        self.drop(*_NOT_KEPT)

    def set(self, option: Option, value: str | None, place: Place, *, environment: bool = False) -> None:
        """Sets one option. Raises :class:`RefusedError`."""
        self.values[option.key] = option.parse(value, place)
        self.met[option.name] = None
        if option.key in ("exclusive", "oversubscribe"):
            # both are one value in sbatch: the later counts
            self.values["shared"] = option.key
        (self.by_environment.add if environment else self.by_environment.discard)(option.key)


def obey(
    arguments: Sequence[str], settings: Settings, place: Place, *, script: bool = False, early: bool = False
) -> int:
    """Sets the options of a command line; returns the index of the first word that is none.

    Raises :class:`RefusedError`. ``early``: those that the command line alone has are looked at too;
    ``script``: a word that is none is refused.
    """

    def take(option: Option, value: str | None) -> None:
        if option.early and not early:
            return
        if option.name in ("help", "usage", "version"):
            raise RefusedError(f"sbatch --{option.name}: nothing is submitted", 0)
        settings.set(option, value, place)

    end = scan(arguments, options(place.version), take)
    if script and end < len(arguments):
        raise error(f"Invalid directive found in batch script: {arguments[end]}")
    return end


def obey_environment(variables: Mapping[str, str], settings: Settings, place: Place) -> None:
    """Sets what variables say. Raises :class:`RefusedError`."""
    known = {one.name: one for one in options(place.version)}
    for variable, name in VARIABLES.items():
        value = variables.get(variable)
        option = known.get(name)
        if value is None or option is None:
            continue
        if option.takes is Takes.NONE and not _yes(value):
            settings.drop(option.key)
        else:
            empty = option.takes is Takes.OPTIONAL and not value
            settings.set(option, None if empty else value, place, environment=True)
    if count := variables.get("SBATCH_REQ_SWITCH"):
        wait = variables.get("SBATCH_WAIT4SWITCH")
        settings.values["switches"] = switches(f"{count}@{wait}" if wait else count, place)


def _yes(value: str) -> bool:
    """A flag is set by nothing at all, ``yes`` and numbers but 0."""
    if value == "" or value.lower() == "yes":
        return True
    bare = value.strip().lstrip("+-")
    return bare.isascii() and bare.isdigit() and bool(bare.strip("0"))
