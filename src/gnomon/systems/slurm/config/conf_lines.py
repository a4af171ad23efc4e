"""Lines with keys of their own (``NodeName=… CPUs=4``), their DEFAULT lines, and what is told of them.

A value that is no number where one belongs stops slurmctld on such a line; a key that it does not know does too, but
here only a note is made of it. Source: ``s_p_parse_line``, ``s_p_hashtbl_merge`` of ``src/common/parse_config.c``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.config.lines import Line
from gnomon.systems.slurm.config.options import KEYS, LINES, Key
from gnomon.systems.slurm.notation import values

TEXTS_PER_FIELD_MAX: Final = 20
"""So many different texts are kept for one field; the others are counted."""


@dataclass
class Notes:
    """Collects notes, equal ones once with their number."""

    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    texts: dict[tuple[str, str], int] = field(default_factory=dict)
    unknown: dict[str, tuple[str, int]] = field(default_factory=dict)
    passed_over: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, where: str, text: str) -> None:
        """One note more."""
        key = (what, where, text)
        if key not in self.counts:
            seen = self.texts.get((what, where), 0)
            if seen >= TEXTS_PER_FIELD_MAX:
                key = (what, where, "and others like these")
            else:
                self.texts[what, where] = seen + 1
        self.counts[key] = self.counts.get(key, 0) + 1

    def taken(self, where: str, words: str) -> None:
        """slurmctld complains, but goes on."""
        self.add("guess", where, words)

    def key_unknown(self, name: str, line: Line) -> None:
        """A key that no version of Slurm has, and where it stands."""
        first, count = self.unknown.get(name, (f"{line.file}, line {line.number}", 0))
        self.unknown[name] = (first, count + 1)

    def key_passed_over(self, name: str) -> None:
        """A key of Slurm that Gnomon does not look at."""
        self.passed_over[name] = self.passed_over.get(name, 0) + 1

    def all(self) -> tuple[Note, ...]:
        """The notes: what is not modelled first."""
        notes = []
        if self.passed_over:
            text = f"these keys change nothing here: {', '.join(sorted(self.passed_over))}"
            notes.append(Note("not modelled", "slurm.conf", text, sum(self.passed_over.values())))
        for name, (place, count) in self.unknown.items():
            words = f"Parsing error at unrecognized key: {name}"
            notes.append(Note("not modelled", name, f"{place}: {words}; slurmctld does not start with it", count))
        notes.extend(Note(*key, count) for key, count in self.counts.items())
        return tuple(notes)


def keys_of(numbers: str = "", longs: str = "", huge: str = "", booleans: str = "", texts: str = "") -> dict[str, Key]:
    """The keys of a kind of line, by their names in lower case: numbers of 16, 32 and 64 bits, YES or NO, texts."""
    sizes = ((16, numbers), (32, longs), (64, huge))
    keys = [Key(name, "number", bits) for bits, names in sizes for name in names.split()]
    keys += [Key(name, "boolean") for name in booleans.split()]
    keys += [Key(name) for name in texts.split()]
    return {key.name.lower(): key for key in keys}


@dataclass(frozen=True)
class Entry:
    """A line by its keys in lower case, and what DEFAULT lines before it say."""

    line: Line
    own: Mapping[str, str]
    default: Mapping[str, str]
    keys: Mapping[str, Key]

    @property
    def name(self) -> str:
        """The value of the first key."""
        return self.line.first.value

    def text(self, *names: str) -> str | None:
        """The value of the first of these keys that stands on the line, else in DEFAULT: key by key."""
        for name in names:
            for source in (self.own, self.default):
                if name in source:
                    return source[name]
        return None

    def number(self, name: str, without: int) -> int:
        """A number; UNLIMITED is the largest that the key can hold."""
        found = self.limit(name, without)
        return int(2 ** self.keys[name].bits - 1) if found is None else found

    def limit(self, name: str, without: int | None = None) -> int | None:
        """A number; None: UNLIMITED."""
        value = self.text(name)
        return without if value is None else values.number(value, self.keys[name].name, self.keys[name].bits)

    def flag(self, name: str, *, inherited: bool = True) -> bool:
        """YES or NO; ``inherited``: DEFAULT counts too."""
        value = self.text(name) if inherited else self.own.get(name)
        return False if value is None else values.boolean(value, self.keys[name].name)

    def error(self, problem: str, key: str | None = None) -> InputError:
        """An error at this line; ``key`` in lower case."""
        name = None if key is None else self.keys[key].name
        return self.line.error(problem, field=name, found=None if key is None else self.text(key))


def entry_of(line: Line, keys: Mapping[str, Key], default: Mapping[str, str], notes: Notes) -> Entry:
    """A line taken apart. Raises :class:`InputError` for values that slurmctld does not take."""
    own: dict[str, str] = {}
    for pair in line.others:
        name = pair.key.lower()
        known = keys.get(name)
        if known is None:
            if name in KEYS or name in LINES:
                raise line.error(f"Parsing error at unrecognized key: {pair.key}", found=f"{pair.key}={pair.value}")
            notes.key_unknown(pair.key, line)
            continue
        try:
            if known.kind == "number":
                values.number(pair.value, known.name, known.bits)
            elif known.kind == "boolean":
                values.boolean(pair.value, known.name)
        except InputError as error:
            raise error.at(file=line.file, line=line.number) from None
        if name in own:
            notes.taken(known.name, f"{known.name} 1 specified more than once, latest value used")
        own[name] = pair.value
    return Entry(line, own, default, keys)


def entries_of(lines: Iterable[Line], keys: Mapping[str, Key], notes: Notes) -> list[Entry]:
    """Lines of one kind; a DEFAULT line adds to those before it and holds for those after it."""
    default: dict[str, str] = {}
    entries = []
    for line in lines:
        entry = entry_of(line, keys, default, notes)
        if line.first.value.lower() == "default":
            default = {**default, **entry.own}
        else:
            entries.append(entry)
    return entries
