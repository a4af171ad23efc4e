"""What ``Gres=`` of a node says: ``gpu:a100:4,shard:16,nvme:2K``.

Source: ``gres_name_filter``, ``_get_gres_cnt`` and ``_foreach_slurm_conf`` of ``src/interfaces/gres.c``, Slurm 22.05 to
25.05; slurm.conf(5), Gres.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gnomon.systems.slurm.config.conf_lines import Notes
from gnomon.systems.slurm.notation.values import count


@dataclass(frozen=True, slots=True)
class GresWord:
    """So many of a kind and a type ("": of no type)."""

    name: str
    type: str
    count: int


def words_of(text: str, known: Iterable[str], nodes: str, notes: Notes) -> tuple[GresWord, ...]:
    """The parts of a ``Gres=``, in its order; ``known`` are the kinds of GresTypes, ``nodes`` whose it is.

    >>> words_of("gpu:a100:4(S:0-1),nvme:2K", ("gpu", "nvme"), "n1", Notes())
    (GresWord(name='gpu', type='a100', count=4), GresWord(name='nvme', type='', count=2048))
    """
    kinds = frozenset(known)
    words = []
    for part in _parts(text):
        name, *rest = part.partition("(")[0].split(":")
        if name not in kinds:
            notes.taken("Gres", f"Invalid GRES configured on node {nodes}: {part}")
            continue
        word = _word(name, rest)
        if word is None:
            notes.taken("Gres", f"Bad GRES configuration: {part}")
            continue
        if "no_consume" in rest:
            notes.add("not modelled", "Gres", f"no_consume of {name}: it is counted like any other")
        words.append(word)
    return tuple(words)


def _parts(text: str) -> Iterable[str]:
    """Split at commas that are outside parentheses."""
    start = depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth <= 0:
            yield from filter(None, (text[start:at].strip(),))
            start, depth = at + 1, 0
    yield from filter(None, (text[start:].strip(),))


def _word(name: str, rest: list[str]) -> GresWord | None:
    if not rest:
        return GresWord(name, "", 1)
    amount = count(rest[-1])
    types = [part for part in rest[:-1] if part != "no_consume"]
    if amount is None or len(types) > 1:
        return None
    return GresWord(name, types[0] if types else "", amount)
