"""The command line as ``getopt_long`` reads it: long names and their beginnings, short ones and bundles of them.

Source: getopt_long(3) of glibc; its messages are those of glibc 2.26 and later. sbatch puts a ``+`` before its list of
short options, so the first word that is no option ends them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol, TypeVar

from gnomon.systems.slurm.sbatch.refusals import WRONG_OPTION, RefusedError


class Takes(Enum):
    """Whether an option has a value: an optional one must be joined to its name."""

    NONE = 0
    REQUIRED = 1
    OPTIONAL = 2


class Named(Protocol):
    """What is needed of an option here."""

    @property
    def name(self) -> str: ...

    @property
    def short(self) -> str: ...

    @property
    def takes(self) -> Takes: ...

    @property
    def key(self) -> str: ...


O = TypeVar("O", bound=Named)  # noqa: E741

HELP = 'Try "sbatch --help" for more information'


def scan(
    arguments: Sequence[str],
    options: Sequence[O],
    take: Callable[[O, str | None], None],
    *,
    hint: str = HELP,
    rc: int = WRONG_OPTION,
) -> int:
    """Gives each option with its value to ``take``, in order; returns the index of the first word that is none.

    Raises :class:`RefusedError` in the words of getopt, followed by ``hint``.
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        at += 1
        following = arguments[at] if at < len(arguments) else None
        try:
            read = _long if word.startswith("--") else _shorts
            used = read(word, following, options, take)
        except _UnusableError as problem:
            raise RefusedError(f"sbatch: {problem}\n{hint}", rc) from None
        at += used
    return at


class _UnusableError(Exception):
    """getopt's own complaint."""


def _long(word: str, following: str | None, options: Sequence[O], take: Callable[[O, str | None], None]) -> bool:
    """A long option; whether it used the next word as its value."""
    name, equals, value = word[2:].partition("=")
    option = _found(word, name, options)
    if option.takes is Takes.NONE and equals:
        raise _UnusableError(f"option '--{option.name}' doesn't allow an argument")
    if option.takes is Takes.REQUIRED and not equals:
        if following is None:
            raise _UnusableError(f"option '--{option.name}' requires an argument")
        take(option, following)
        return True
    take(option, value if equals else None)
    return False


def _found(word: str, name: str, options: Sequence[O]) -> O:
    """The option of that name, or the only one whose name begins so."""
    begin = [option for option in options if option.name.startswith(name)]
    for option in begin:
        if option.name == name:
            return option
    if not begin:
        raise _UnusableError(f"unrecognized option '{word}'")
    others = [option for option in begin if option.key != begin[0].key]
    if others:
        names = " ".join(f"'--{option.name}'" for option in (begin[0], *others))
        raise _UnusableError(f"option '{word}' is ambiguous; possibilities: {names}")
    return begin[0]


def _shorts(word: str, following: str | None, options: Sequence[O], take: Callable[[O, str | None], None]) -> bool:
    """A bundle of short options, of which one with a value is the last; whether it used the next word."""
    for at, letter in enumerate(word[1:], 1):
        option = next((one for one in options if one.short and letter in one.short), None)
        if option is None:
            raise _UnusableError(f"invalid option -- '{letter}'")
        rest = word[at + 1 :]
        if option.takes is Takes.NONE:
            take(option, None)
        elif rest or option.takes is Takes.OPTIONAL:
            take(option, rest or None)
            return False
        elif following is None:
            raise _UnusableError(f"option requires an argument -- '{letter}'")
        else:
            take(option, following)
            return True
    return False
