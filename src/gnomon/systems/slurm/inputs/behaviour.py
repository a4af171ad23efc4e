"""What a batch script does, as far as it can be told without running it: how long, how it ends, which signals it minds.

A small part of the shell: ``sleep``, ``exit``, ``true``, ``false``, ``:``, ``echo``, ``kill -SIGNAL $$``, ``trap``,
``for … in $(seq N)`` around it, tests in square brackets, arithmetic and variables. How long a script runs that does
anything else, only the user or a trace can tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIGNALS: Final = {"HUP": 1, "INT": 2, "QUIT": 3, "KILL": 9, "USR1": 10, "USR2": 12, "TERM": 15, "CONT": 18}
_QUIET: Final = ("true", ":", "echo", "hostname", "date", "cd", "export", "set", "module", "source", "umask", "ulimit")
_MISSING: Final = re.compile(r"^no[-_]?such")
NOT_FOUND: Final = 127


@dataclass(frozen=True)
class Behaviour:
    """``run_s``: how long it runs (None: not known); ``exit_code``: status and signal; ``traps``: what it does on a
    signal by its name: the status that it exits with, None: it goes on."""

    run_s: float | None
    exit_code: str = "0:0"
    traps: Mapping[str, int | None] = field(default_factory=dict)

    def minds(self, signal: str) -> bool:
        """Whether a signal alone does not end it."""
        return signal in self.traps


def behaviour(script: str, variables: Mapping[str, str] | None = None) -> Behaviour:
    """What a script does.

    >>> behaviour("#!/bin/bash\\nsleep 3\\nexit 2\\n")
    Behaviour(run_s=3, exit_code='2:0', traps={})
    >>> behaviour("#!/bin/bash\\nfor i in $(seq 4); do sleep 1; done\\n").run_s
    4
    """
    shell = _Shell(dict(variables or {}))
    lines = [line for line in script.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        if shell.over:
            break
        shell.line(line.strip())
    return Behaviour(shell.seconds, f"{_shown(shell.status)}:{shell.signal}", shell.traps)


def _shown(status: int) -> int:
    """Exit codes from 128 up are shown less 128 (recorded, 22.05)."""
    return status - 128 if status >= 128 else status


class _Shell:
    def __init__(self, variables: dict[str, str]) -> None:
        self.variables = variables
        self.seconds: float | None = 0
        self.status, self.signal, self.over = 0, 0, False
        self.traps: dict[str, int | None] = {}

    def line(self, text: str) -> None:
        loop = re.fullmatch(r"for \w+ in \$\(seq (?:1 )?(\d{1,9})\); *do (.*?);? *done", text)
        if loop:
            before = self.seconds
            self.line(loop[2])
            if before is not None and self.seconds is not None:
                self.seconds = before + (self.seconds - before) * int(loop[1])
            return
        for command in re.split(r"\s*(?:;|&&?)\s*", text):
            if command and not self.over:
                self.command(command)

    def command(self, text: str) -> None:
        text = self._expanded(text)
        trap = re.fullmatch(r"trap +(?:'([^']*)'|\"([^\"]*)\"|(\S+)) +([A-Z0-9 ]+)", text)
        words = text.split()
        if not words:  # nothing is left of a variable that is not set
            return
        if trap:
            does = trap[1] or trap[2] or trap[3] or ""
            ends = re.fullmatch(r"exit(?: +(\d{1,18}))?", does.strip())
            for name in trap[4].split():
                self.traps[name.removeprefix("SIG")] = int(ends[1] or 0) if ends else None
        elif words[0] == "sleep" and len(words) > 1 and (length := _length(words[1:])) is not None:
            self.seconds = None if self.seconds is None else self.seconds + length
            self.status = 0
        elif words[0] == "exit":
            self.status, self.over = _exit_status(words[1:], self.status), True
        elif words[0] == "kill" and words[-1] == "$$":
            self.signal, self.over = _signal(words[1:-1]), True
        elif words[0] in ("[", "[[", "test"):
            self.status = 0 if _holds(words[1:]) else 1
        elif words[0] == "false":
            self.status = 1
        elif words[0] in _QUIET or words[0] == "wait":
            self.status = 0
        elif _MISSING.match(words[0]):
            self.status = NOT_FOUND
        elif "=" in words[0] and len(words) == 1:
            name, _, value = words[0].partition("=")
            self.variables[name] = value.strip("\"'")
        else:
            self.seconds = None

    def _expanded(self, text: str) -> str:
        def sum_of(found: re.Match[str]) -> str:
            inner = re.sub(r"\$?([A-Za-z_]\w*)", lambda m: self.variables.get(m[1], "0"), found[1])
            return str(_arithmetic(inner))

        text = re.sub(r"\$\(\((.*?)\)\)", sum_of, text)
        return re.sub(r"\$\{?([A-Za-z_]\w*)\}?", lambda m: self.variables.get(m[1], ""), text)


def _exit_status(words: list[str], otherwise: int) -> int:
    """The status that ``exit`` gives, of whose number the last byte counts."""
    known = words and re.fullmatch(r"\d{1,18}", words[0], re.ASCII)
    return int(words[0]) % 256 if known else otherwise


def _length(words: list[str]) -> float | None:
    total: float = 0
    for word in words:
        found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)([smhd]?)", word, re.ASCII)
        if not found:
            return None
        number = float(found[1]) if "." in found[1] else int(found[1])
        total += number * _UNITS[found[2]]
    return total


def _arithmetic(text: str) -> int:
    """A sum of products, from left to right, of 64 bits as in a shell; 0 where it is anything else."""
    if not re.fullmatch(r"[\d\s*+-]+", text, re.ASCII) or re.search(r"\d{19}", text, re.ASCII):
        return 0
    total = 0
    for sign, term in re.findall(r"([+-]?)\s*(\d+(?:\s*\*\s*\d+)*)", text):
        product = 1
        for factor in term.split("*"):
            product = _of_64_bits(product * int(factor))
        total += -product if sign == "-" else product
    return _of_64_bits(total)


def _of_64_bits(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _holds(words: list[str]) -> bool:
    words = [word.strip("\"'") for word in words if word not in ("]", "]]")]
    if len(words) != 3:
        return bool(words and words[-1])
    a, op, b = words
    tests = {"!=": a != b, "=": a == b, "==": a == b}
    if op in tests:
        return tests[op]
    numbers = {"-eq": 0, "-ne": 1, "-lt": 2, "-le": 3, "-gt": 4, "-ge": 5}
    if op in numbers and all(re.fullmatch(r"-?\d{1,18}", one, re.ASCII) for one in (a, b)):
        x, y = int(a), int(b)
        return (x == y, x != y, x < y, x <= y, x > y, x >= y)[numbers[op]]
    return False


def _signal(words: list[str]) -> int:
    if not words:
        return _SIGNALS["TERM"]
    name = words[-1].lstrip("-").removeprefix("SIG")
    return int(name) if re.fullmatch(r"\d{1,2}", name, re.ASCII) else _SIGNALS.get(name, _SIGNALS["TERM"])
