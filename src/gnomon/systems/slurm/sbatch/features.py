"""Features of nodes that a job asks for: ``-C "intel&ib"``, ``"[rack1|rack2]"``, ``"gpu*2"``, ``"[a*2&b*4]"``.

``&`` and ``|`` are taken from left to right, neither before the other; round brackets group. In square brackets ``|``
means one choice for all nodes, and ``&`` joins counts. Source: sbatch(1) ``--constraint``; ``build_feature_list`` and
``valid_feature_counts`` of ``slurmctld/job_scheduler.c``, ``src/common/job_features.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.model.errors import InputError

_TOKEN = re.compile(r"\s*(?:([&|,()\[\]])|\*([0-9]+)|([^&|,()\[\]*\s]+))", re.ASCII)
_COUNT_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 50
_LENGTH_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """One part holds, of each node another if need be."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class OneChoice:
    """One part holds, the same for all nodes (``[a|b]``)."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """That many of the job's nodes have it."""

    part: Expression
    count: int


Expression = Feature | All | Any | OneChoice | Counted


def parse(text: str) -> Expression | None:
    """The expression, None for none. Raises :class:`InputError` as slurmctld calls it: Invalid feature specification.

    >>> parse("a&b|c")
    Any(parts=(All(parts=(Feature(name='a'), Feature(name='b'))), Feature(name='c')))
    >>> parse("[rack1*2&rack2*4]").parts[1]
    Counted(part=Feature(name='rack2'), count=4)
    """
    if not text.strip():
        return None
    return _Reader(text).sequence("", 0)


def names(expression: Expression | None) -> Iterator[str]:
    """Every feature that is named, in order.

    >>> list(names(parse("[a|b]&c*2")))
    ['a', 'b', 'c']
    """
    if isinstance(expression, Feature):
        yield expression.name
    elif isinstance(expression, Counted):
        yield from names(expression.part)
    elif expression is not None:
        for part in expression.parts:
            yield from names(part)


def matches(expression: Expression | None, features: Collection[str]) -> bool:
    """Whether a node with these features may be one of the job's. A count says how many nodes need a feature, not that
    each does, except where all counts stand in square brackets: then each node fills one of them.

    >>> matches(parse("a|b&c"), {"a"}), matches(parse("a*2"), set()), matches(parse("[a*1&b*1]"), {"b"})
    (False, True, True)
    """
    if expression is None:
        return True
    if isinstance(expression, Feature):
        return expression.name in features
    if isinstance(expression, Counted):
        return True
    if isinstance(expression, All):
        if all(isinstance(part, Counted) for part in expression.parts):
            return any(matches(part.part, features) for part in expression.parts if isinstance(part, Counted))
        return all(matches(part, features) for part in expression.parts)
    return any(matches(part, features) for part in expression.parts)


def counts(expression: Expression | None) -> tuple[tuple[Expression, int], ...]:
    """The counts that the job's nodes must reach together.

    >>> [(list(names(part)), count) for part, count in counts(parse("[(a|b)*1&c*3]"))]
    [(['a', 'b'], 1), (['c'], 3)]
    """
    if isinstance(expression, Counted):
        return ((expression.part, expression.count),)
    if isinstance(expression, All):
        return tuple(one for part in expression.parts for one in counts(part))
    return ()


def choices(expression: Expression | None) -> tuple[Expression | None, ...]:
    """Expressions of which one holds for all nodes: one for each choice in square brackets, else the expression itself.

    >>> choices(parse("[rack1|rack2]&ib"))[1]
    All(parts=(Feature(name='rack2'), Feature(name='ib')))
    """
    if isinstance(expression, OneChoice):
        return expression.parts
    if isinstance(expression, All):
        sets: list[tuple[Expression, ...]] = [()]
        for part in expression.parts:
            options = [one for one in choices(part) if one is not None]
            sets = [(*chosen, option) for chosen in sets for option in options]
        return tuple(All(chosen) for chosen in sets)
    return (expression,)


class _Reader:
    """The text, token by token."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.bracketed = text, 0, False
        if len(text) > _LENGTH_MAX:
            raise self.fail()

    def fail(self) -> InputError:
        allowed = "for instance intel&ib, a|b, [rack1|rack2], gpu*2, [a*2&b*4]"
        return InputError("Invalid feature specification", found=self.text, allowed=allowed)

    def token(self) -> re.Match[str] | None:
        """The next one; None at the end."""
        if not self.text[self.at :].strip():
            return None
        matched = _TOKEN.match(self.text, self.at)
        if matched is None:
            raise self.fail()
        self.at = matched.end()
        return matched

    def sequence(self, end: str, depth: int) -> Expression:
        """Operands and operators up to ``end``: "" of the text, ``)`` or ``]``."""
        if depth > _DEPTH_MAX:
            raise self.fail()
        left = self.operand(depth, inside=end)
        while (token := self.token()) is not None and token[1] != end:
            if token[1] not in ("&", "|", ","):
                raise self.fail()
            right = self.operand(depth, inside=end)
            left = _joined("&" if token[1] == "," else token[1], left, right, choice=end == "]")
        if (token is None) != (end == ""):
            raise self.fail()
        if end == "]" and isinstance(left, All) and not all(isinstance(part, Counted) for part in left.parts):
            # with "&", square brackets are for counts
            raise self.fail()
        return left

    def operand(self, depth: int, *, inside: str) -> Expression:
        token = self.token()
        if token is None:
            raise self.fail()
        if token[1] == "(":
            found = self.sequence(")", depth + 1)
        elif token[1] == "[" and inside == "" and not self.bracketed:
            # "Slurm will only allow a single set of bracketed constraints per job", sbatch(1)
            self.bracketed = True
            found = self.sequence("]", depth + 1)
        elif token[3]:
            found = Feature(token[3])
        else:
            raise self.fail()
        before = self.at
        following = self.token()
        if following is None or not following[2]:
            self.at = before
            return found
        count = int(following[2]) if len(following[2]) <= 7 else _COUNT_MAX + 1
        if not 0 < count <= _COUNT_MAX:
            raise self.fail()
        return Counted(found, count)


def _joined(sign: str, left: Expression, right: Expression, *, choice: bool) -> Expression:
    kind: type[All] | type[Any] | type[OneChoice] = All if sign == "&" else OneChoice if choice else Any
    if isinstance(left, kind):
        return kind((*left.parts, right))
    return kind((left, right))
