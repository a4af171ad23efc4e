"""The command line, ``gnomon VERB …``: one file a verb, thin; everything heavy is imported inside the verbs.

:func:`main` runs a verb (``app`` lists them) and turns what it raises into a line on stderr and an exit code.
``inputs`` makes scenarios of arguments, ``terminal`` writes results, ``watch`` shows progress and takes Ctrl-C.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context

ANSWERED, NO, USER_ERROR, OUR_FAULT, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit codes: answered; answered "no"; the input is at fault; Gnomon is; stopped by the user. Ended by another
signal: 128 and its number, as shells say it (143: SIGTERM)."""

Prepare = Callable[[Sequence[str]], list[str] | None]
"""Makes the arguments that are run of those that are given; None: nothing is left to run."""


def main(prepare: Prepare | None = None, name: str = "gnomon") -> None:
    """Run the command line of this process and end it. ``prepare``, ``name``: as for :func:`run`."""
    from gnomon.cli.encoding import degrade

    _open_what_is_closed()
    degrade()
    told = _end_on_signals()
    code = run(sys.argv[1:], prepare=prepare, name=name)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # one more Ctrl-C finds nothing to be finished
    sys.exit(128 + told[0] if told and code == INTERRUPTED else code)


def run(arguments: Sequence[str], *, prepare: Prepare | None = None, name: str = "gnomon") -> int:
    """Run one command; returns its exit code and lets nothing escape.

    ``name``: what the program is called.

    >>> run(["--version"]) == ANSWERED
    gnomon ...
    True
    """
    from gnomon.model.errors import GnomonError

    try:
        return copy_context().run(_invoke, list(arguments), prepare, name)
    except GnomonError as error:
        _complain(error, str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _complain(error, _of_system(error))
        return USER_ERROR
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(".: ")
        _complain(error, f"{what}. This is a bug in Gnomon, please report it; GNOMON_DEBUG=1 shows where it comes from")
        return OUR_FAULT


def _invoke(arguments: list[str], prepare: Prepare | None, name: str) -> int:
    import typer

    from gnomon.cli.app import VERBS, app
    from gnomon.cli.guide import spelt_out

    try:
        ready = prepare(arguments) if prepare else spelt_out(arguments, [verb.name for verb in VERBS])
        if ready is None:
            return ANSWERED
        ended = typer.main.get_command(app).main(ready, prog_name=name, standalone_mode=False)
    except typer.Abort as error:
        if isinstance(error.__cause__, EOFError):  # not the user's: nothing is read from the terminal
            raise error.__cause__ from None
        return INTERRUPTED
    except SystemExit as error:
        if error.code and not isinstance(error.__context__, BrokenPipeError):
            raise RuntimeError(f"exit({error.code})") from error
        return ANSWERED  # typer's own way to end when a shell was told how to go on, or a reader has seen enough
    except Exception as error:
        if not isinstance(error, typer.BadParameter.__mro__[1]):  # the base of all usage errors has no public name
            raise
        context = getattr(error, "ctx", None)
        text = getattr(error, "format_message", error.__str__)().replace(": Value error, ", ": ")
        _complain(error, f"{_with_nearest(text).rstrip('.')} (see {context.command_path if context else name} --help)")
        return USER_ERROR
    return ended if isinstance(ended, int) else ANSWERED


def _with_nearest(text: str) -> str:
    """What is said of a value that is none of a few words, with the nearest of them."""
    from gnomon.model.errors import nearest

    wrong = re.search(r"'([^']*)' is not one of ('.*')$", text.rstrip("."))
    return text if wrong is None else text.rstrip(".") + nearest(wrong[1], wrong[2].strip("'").split("', '"))


def _of_system(error: OSError) -> str:
    """What the operating system does not do, and of what."""
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    try:
        os.getcwd()
    except OSError:
        return "the current folder is gone; change to one that is there"
    return str(error.strerror or error)


def _complain(error: BaseException, text: str) -> None:
    """One line on stderr, one for each of several errors or of a broken invariant's story; the traceback too if
    GNOMON_DEBUG is set."""
    if os.environ.get("GNOMON_DEBUG"):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    lines = [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    shown = ["".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines]
    separator = "\n" if getattr(error, "story", None) or getattr(error, "errors", None) else " "
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):  # who closed stderr does not want to know
        each = "error: " if getattr(error, "errors", None) else ""
        print(_fitted(f"error: {f'{separator}{each}'.join(shown)}"), file=sys.stderr, flush=True)


def _fitted(text: str) -> str:
    """The text in lines that the terminal has room for, the further ones indented."""
    from gnomon.cli.terminal import line_length

    length = line_length(sys.stderr)
    if length is None:
        return text
    from textwrap import fill

    return "\n".join(
        fill(line, length, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )


def _open_what_is_closed() -> None:
    """Let streams that the process lacks lead nowhere: else the first file that is opened would take their place."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115


def _end_on_signals() -> list[int]:
    """Take signals that ask for an end (``kill``, a terminal that is closed) as Ctrl-C, so that nothing half written
    and no process is left, and a second one as it is. Which one came is put into the list."""
    told: list[int] = []

    def end(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        told.append(number)
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, end)
    return told
