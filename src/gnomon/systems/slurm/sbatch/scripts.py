"""Batch scripts: the lines of directives, their words, and whether sbatch takes the text as a script at all.

Source: ``_get_script_buffer``, ``_opt_batch_script`` and ``get_argument`` of ``src/sbatch``, as sbatch 22.05.8 reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gnomon.systems.slurm.sbatch.refusals import WRONG, RefusedError, error, fatal

_NO_SHEBANG: Final = (
    "sbatch: error: This does not look like a batch script.  The first\n"
    "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
    "sbatch: error: For instance: #!/bin/sh"
)
_DOS: Final = (
    "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\n"
    "sbatch: error: instead of expected UNIX line breaks (\\n)."
)
_NUL: Final = (
    "sbatch: error: The Slurm controller does not allow scripts that\nsbatch: error: contain a NULL character '\\0'."
)
CHANGE: Final = "sbatch: error: Change from #SLURM to #SBATCH in your script and verify the options are valid in sbatch"
OLD_SEPARATOR: Final = (
    'sbatch: Warning: the "packjob" component separator is being deprecated. Please, use "hetjob" instead.'
)
_BLANK: Final = " \t\n\v\f\r"
_SEPARATOR = re.compile(r"[ \t\v\f\r]*(hetjob|packjob)(?![^ \t\n\v\f\r])")


def check(script: str) -> None:
    """Raises :class:`RefusedError` for what sbatch does not take as a script."""
    if not script:
        raise error("Batch script is empty!", WRONG)
    if not script.strip(_BLANK):
        raise error("Batch script contains only whitespace!", WRONG)
    if not script.startswith("#!"):
        raise RefusedError(_NO_SHEBANG, WRONG)
    if "\0" in script:
        raise RefusedError(_NUL, WRONG)
    if "\r\n" in script:
        raise RefusedError(_DOS, WRONG)


def wrapped(command: str) -> str:
    """The script that ``--wrap`` makes."""
    return f"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{command}\n"


def components(script: str, name: str, said: list[str]) -> list[list[str]]:
    """The words of the ``#SBATCH`` lines, those of each component of a heterogeneous job by itself.

    Lines count up to the first that is neither blank nor a comment; ``name`` is the script's in complaints. Raises
    :class:`RefusedError`.

    >>> components("#!/bin/sh\\n#SBATCH -n 2 # two\\n#SBATCH hetjob\\n#SBATCH -n3\\nrun\\n#SBATCH -n4\\n", "x.sh", [])
    [['-n', '2'], ['-n3']]
    """
    found: list[list[str]] = [[]]
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith(("#SBATCH", "#SLURM")):
            rest = line[7:] if line.startswith("#SBATCH") else line[6:]
            if line.startswith("#SLURM") and CHANGE not in said:
                said.append(CHANGE)
            if separator := _SEPARATOR.match(rest):
                if separator[1] == "packjob" and OLD_SEPARATOR not in said:
                    said.append(OLD_SEPARATOR)
                found.append([])
            else:
                found[-1].extend(words(rest, name, number))
        elif line.strip(_BLANK) and not line.lstrip(_BLANK).startswith("#"):
            break
    return found


def words(line: str, name: str, number: int) -> Iterator[str]:
    """The words of a directive: quotes group, a backslash takes the next letter as it is, ``#`` starts a comment.

    >>> list(words(' -J "a b" --comment=x\\\\ y -n2#four', "x.sh", 1))
    ['-J', 'a b', '--comment=x y', '-n2']
    """
    at = 0
    while True:
        while at < len(line) and line[at] in _BLANK:
            at += 1
        if at == len(line) or _SEPARATOR.match(line, at):
            # the word that separates components ends a line wherever it stands
            return
        word, end = _word(line, at, name, number)
        if not word:
            # an empty word ends the line, as a comment does
            return
        yield word
        at = end


def _word(line: str, start: int, name: str, number: int) -> tuple[str, int]:
    """The word that begins at ``start``, and where it ends."""
    letters: list[str] = []
    quote, at = "", start
    while at < len(line):
        letter = line[at]
        if letter == "\\":
            letters.append(line[at + 1 : at + 2])
            at += 2
            continue
        if quote:
            if letter == quote:
                quote = ""
            else:
                letters.append(letter)
        elif letter in _BLANK:
            break
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return "".join(letters), len(line)
        elif letter == ":" and at == start:
            raise fatal(f"{name}: line {number}: Unexpected `:` in [{_before(line, start)}]")
        else:
            letters.append(letter)
        at += 1
    if quote:
        raise fatal(f"{name}: line {number}: Unmatched `{quote}` in [{_before(line, start)}]")
    return "".join(letters), at


def _before(line: str, start: int) -> str:
    """From the blanks before a word on, the first word of a line without them."""
    head = line[:start]
    return line[len(head.rstrip(_BLANK)) :] if head.strip(_BLANK) else line[start:]
