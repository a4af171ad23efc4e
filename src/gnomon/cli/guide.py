"""What to type: for whom no verb is typed, for a file in the place of a name, and after an answer."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.cli.inputs import Arguments


def spelt_out(arguments: Sequence[str], verbs: Collection[str]) -> list[str]:
    """The arguments with what people type first in the words of the command line: ``help VERB``, ``version``, nothing.

    Raises InputError for a file where a verb should be: it names the commands that are for this file.

    >>> spelt_out(["help", "explain"], ["explain"]), spelt_out(["version"], []), spelt_out([], [])
    (['explain', '--help'], ['--version'], ['--help'])
    """
    from gnomon.model.errors import InputError

    first, *rest = arguments or ["--help"]
    if first == "help":
        return [*rest[:1], "--help"]
    if first == "version" and not rest:
        return ["--version"]
    if first not in verbs and not first.startswith("-") and (os.path.exists(first) or "/" in first):
        raise InputError("this is no verb: say what you want to know of it", file=first, allowed=about(first))
    return [first, *rest]


def about(file: str) -> str:
    """The commands that tell of a file, by what it is. Raises InputError for one that is nothing known."""
    from gnomon.api.recognise import native_system, recognise
    from gnomon.api.systems import SYSTEMS

    name = shlex.quote(file)
    if os.path.isdir(file):
        return f"gnomon simulate {name}, gnomon explain NAME -f {name}, gnomon query {name} SQL"
    if file.endswith(".py"):
        return f"gnomon describe {name}, gnomon check {name}, gnomon run {name}"
    system = native_system(file)
    if system in SYSTEMS and SYSTEMS[system].recorder:
        return f"gnomon explain app -f {name}, gnomon simulate {name}"
    if system is None:
        recognise(file)
    return f"gnomon simulate {name}, gnomon explain NAME -f {name}"


def naming(files: Sequence[str]) -> str:
    """How to ask about something in files, of which nothing was named."""
    named = " ".join(f"-f {shlex.quote(file)}" for file in files)
    return f"gnomon explain NAME {named}, where NAME is a task, job, pod, workload or node/NAME"


def explaining(subject: str, given: Arguments) -> str:
    """The command that explains something of what was simulated."""
    options = [
        (f"--{name.replace('_', '-')}", value)
        for name, value in vars(given).items()
        if name != "work" and value not in (None, False)
    ]
    parts = [part for name, value in options for part in ([name] if value is True else [name, str(value)])]
    return shlex.join(["gnomon", "explain", subject, *(part for file in given.work for part in ("-f", file)), *parts])


def somebody_looks() -> bool:
    """Whether the answer is read in a terminal."""
    return sys.stdout.isatty()


def hint(command: str) -> None:
    """What one would ask next, on stderr, where somebody looks at the answer."""
    from gnomon.cli.terminal import say

    if somebody_looks():
        say(f"next: {command}")
