"""What goes wrong, and whose fault it is: the user's input, a limit that was set, or Gnomon itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Final

NAMES_SHOWN_MAX: Final = 20
"""How many allowed names an error lists where there are many."""

NAMES_FEW: Final = 30
"""So many are listed all, as the fields of an entry are."""

_COMPARED_MAX: Final = 20_000
"""Among how many names the nearest is looked for."""


class GnomonError(Exception):
    """Base of every error that Gnomon raises on purpose. ``exit_code`` is what the command line ends with."""

    exit_code = 3


class InputError(GnomonError):
    """The user's input is at fault: names the place, what was found and what is allowed.

    ``where`` reads outside in: file, then ``line N``, then the field. Exit code 2.

    >>> print(InputError("not a quantity of memory", file="a.yaml", line=3, field="nodes[0].memory", found="2Gj",
    ...                  allowed="for instance 512Mi, 2Gi, 4G"))
    a.yaml, line 3, nodes[0].memory: not a quantity of memory, found '2Gj'; allowed: for instance 512Mi, 2Gi, 4G
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        found: object = None,
        allowed: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.field = problem, file, line, field
        self.found, self.allowed = found, allowed
        super().__init__(problem)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.problem, self.file, self.line, self.field, self.found, self.allowed)

    def at(self, *, file: str | None = None, line: int | None = None, field: str | None = None) -> InputError:
        """The same error with the parts of its place that were not known where it was raised."""
        return type(self)(
            self.problem,
            file=self.file or file,
            line=self.line if self.line is not None else line,
            field=self.field or field,
            found=self.found,
            allowed=self.allowed,
        )

    def __str__(self) -> str:
        place = [self.file, None if self.line is None else f"line {self.line}", self.field]
        where = ", ".join(part.replace("\n", "\\n") for part in place if part)
        text = f"{where}: {self.problem}" if where else self.problem
        if self.found is not None:
            text += f", found {_short(self.found)}"
        return f"{text}; allowed: {self.allowed}" if self.allowed else text


class InvariantError(GnomonError):
    """An invariant of the simulated world broke: Gnomon's own fault, please report it with the story and the seed."""

    exit_code = 3

    def __init__(self, what: str, *, story: Iterable[str] = (), seed: int | None = None) -> None:
        self.what, self.story, self.seed = what, tuple(story), seed
        lines = [f"invariant broken: {what} (seed {seed}); this is a bug in Gnomon, please report it with:"]
        super().__init__("\n  ".join([*lines, *self.story]))


def unknown_name(kind: str, found: str, allowed: Iterable[str]) -> InputError:
    """The error for a misspelt name, with the nearest allowed one first.

    >>> print(unknown_name("policy", "esay", ["easy", "fcfs"]))
    unknown policy (did you mean 'easy'?), found 'esay'; allowed: easy, fcfs
    """
    names = sorted(allowed)
    return InputError(f"unknown {kind}{nearest(found, names)}", found=found, allowed=listed_names(names))


def nearest(found: str, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The hint that one of these names may be meant, the nearest; nothing where none is near, or among very many.

    >>> nearest("wbe", ["api", "web"]), nearest("db", ["api", "web"])
    (" (did you mean 'web'?)", '')
    """
    near = get_close_matches(found, list(islice(names, _COMPARED_MAX)), n=1, cutoff=cutoff)
    return f" (did you mean {near[0]!r}?)" if near else ""


def slip(found: str, names: Iterable[str]) -> str:
    """The hint that a name is probably one of these, misspelt by a letter or two, for names of which not all are known.

    >>> slip("mapreduce.job.reducers", ["mapreduce.job.maps", "mapreduce.job.reduces"])
    " (did you mean 'mapreduce.job.reduces'?)"
    >>> slip("cachedIdleTimeout", ["idleTimeout"]), slip("a", ["b"])
    ('', '')
    """
    return nearest(found, (name for name in names if abs(len(name) - len(found)) <= 2), cutoff=0.95)


def listed_names(names: Sequence[str]) -> str:
    """Names, all up to :data:`NAMES_FEW`; of more the first :data:`NAMES_SHOWN_MAX`, and how many more there are.

    >>> listed_names([f"n{i}" for i in range(40)])[-17:], listed_names([])
    (', n19 and 20 more', 'there is none')
    """
    if len(names) <= NAMES_FEW:
        return ", ".join(names) or "there is none"
    return f"{', '.join(names[:NAMES_SHOWN_MAX])} and {len(names) - NAMES_SHOWN_MAX:,} more"


def _rebuild(kind: type[InputError], problem: str, *place: object) -> InputError:
    names = ("file", "line", "field", "found", "allowed")
    return kind(problem, **dict(zip(names, place, strict=True)))  # type: ignore[arg-type]


def _short(found: object, limit: int = 80) -> str:
    text = repr(found)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
