"""What a scenario file says to the reader of its system's native files, besides which they are.

``usage``: files of samples of what is really used; ``changes``: ``{at, apply}``, files that are applied while the
cluster runs. Paths are relative to the scenario.
"""

from __future__ import annotations

from typing import Any

from gnomon.formats.files import files_in
from gnomon.formats.schema import Duration, Spec, validated
from gnomon.formats.yaml import Located

NATIVE_KEYS = ("usage", "changes")


class ChangeSpec(Spec):
    """``apply`` at a time: a file, or a list of files."""

    at: Duration
    apply: Any


def read_options(document: Located, until_ns: int) -> dict[str, Any]:
    """The options of the native reader. Raises :class:`~gnomon.model.errors.InputError`."""
    options: dict[str, Any] = {"until_ns": until_ns}
    if document.value.get("usage") is not None:
        options["usage"] = native_files(document.at("usage"))
    if document.value.get("changes") is not None:
        listed = document.at("changes")
        if not isinstance(listed.value, list):
            raise listed.error("a list of changes is wanted", found=listed.value, allowed="[{at: 10m, apply: FILE}]")
        options["changes"] = sorted(
            (_change(listed.at(place)) for place in range(len(listed.value))), key=lambda change: change[0]
        )
    return options


def _change(document: Located) -> tuple[int, list[str]]:
    spec = validated(ChangeSpec, document)
    return spec.at, native_files(document.at("apply"))


def native_files(document: Located) -> list[str]:
    """The files that paths stand for: each itself, or those of a folder."""
    return [file for part in listed_paths(document) for file in files_in(part.beside())]


def listed_paths(document: Located) -> list[Located]:
    """A path, or each of a list of paths."""
    several = document.value if isinstance(document.value, list) else None
    found = [document] if several is None else [document.at(place) for place in range(len(several))]
    for part in found:
        if not isinstance(part.value, str):
            raise part.error("a native file is wanted", found=part.value, allowed="a path, or a list of paths")
    return found
