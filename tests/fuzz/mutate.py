"""Changes of text that keep its form: lines taken out, doubled and moved; words replaced by others and by hostile ones.

Changes of bytes, which are the fuzzer's own, seldom get past the first test of a line.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

HOSTILE: Final = (
    *(
        b"",
        b"0",
        b"-1",
        b"-0",
        b"00",
        b"1",
        b"2147483648",
        b"4294967296",
        b"9223372036854775807",
        b"9223372036854775808",
    ),
    *(
        b"18446744073709551616",
        b"9" * 40,
        b"9" * 400,
        b"1e400",
        b"1e-400",
        b"1e999999999",
        b"1E5",
        b"0.1",
        b".5",
        b"5.",
    ),
    *(b"nan", b"NaN", b"-inf", b"Infinity", b"0x10", b"0o17", b"1_000", b"null", b"~", b"true", b"no", b"[]", b"{}"),
    *(b"[1-999999999]", b"n[1-4000001]", b"[0-3,2-1]", b"n[", b"n]", b"n[01-3]", b"0-4000001", b"1-9999999:7%3", b"%0"),
    *(b"&a", b"*a", b"<<: *a", b"!!python/object:os.system x", b"!!binary x", b"---", b"...", b"? a", b"|", b">-"),
    *(b"UNLIMITED", b"INFINITE", b"NONE", b"None", b"(null)", b"N/A", b"Unknown", b"365-24:61:61", b"1-0", b"1:2:3:4"),
    *(b"99999999-0", b"9999-12-31T23:59:59", b"0001-01-01T00:00:00", b"2026-02-30", b"1h1h", b"-1s", b"1e9d", b"500m"),
    *(
        b"1e30Gi",
        b"9Ei",
        b"-1Gi",
        b"1u",
        b"1n",
        b"100%",
        b"101%",
        b"-1%",
        b"1.5M",
        b"16G",
        b"1K",
        b"0n",
        b"9" * 19 + b"G",
    ),
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\r",
        b"\r\n",
        b"\t",
        b"\x0b",
        b"\x1b[31m",
        b"\x85",
    ),
    *("٣".encode(), "²".encode(), b"\xc2\xa0", "\u2028".encode(), "\U0001f600".encode(), "İ".encode(), b"\\u0000"),
    *(b'"', b"'", b"\\", b"`", b"$(x)", b"%", b",", b";", b"|", b"=", b":", b": ", b"#", b"<", b">", b"&lt;", b"]]>"),
    *(b"[" * 200, b"{" * 200, b"- " * 150, b"(" * 150, b"../" * 3, b"/", b".", b"-", b"a" * 300),
)
_TOKEN: Final = re.compile(rb"[A-Za-z0-9_.+-]+|[^A-Za-z0-9_.+\s-]")


def mutator(own: Callable[[bytes, int], bytes], words: Sequence[bytes]) -> Callable[[bytes, int, int], bytes]:
    """A mutator: ``own`` is the fuzzer's, for one change in three; ``words`` are those of the seeds."""

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if not data or chance.random() < 0.3:
            return own(data, most)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            data = chance.choice((_word, _word, _word, _line, _value))(data, chance, words)
        return data[:most]

    return mutate


def crossed(first: bytes, second: bytes, most: int, seed: int) -> bytes:
    """The beginning of one and the end of another, cut at lines."""
    chance = random.Random(seed)
    one, other = first.split(b"\n"), second.split(b"\n")
    return b"\n".join([*one[: chance.randint(0, len(one))], *other[chance.randint(0, len(other)) :]])[:most]


def _word(data: bytes, chance: random.Random, words: Sequence[bytes]) -> bytes:
    found = _random_token(data, chance)
    return data if found is None else data[: found.start()] + _any(chance, words) + data[found.end() :]


def _value(data: bytes, chance: random.Random, words: Sequence[bytes]) -> bytes:
    """All up to the end of the line, or of the field, after a separator."""
    found = _random_token(data, chance)
    if found is None:
        return data
    end = re.compile(rb"[\n,|]").search(data, found.end())
    return data[: found.start()] + _any(chance, words) + data[end.start() if end else len(data) :]


def _random_token(data: bytes, chance: random.Random) -> re.Match[bytes] | None:
    return _TOKEN.search(data, chance.randrange(len(data))) if data else None


def _line(data: bytes, chance: random.Random, words: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case 3:
            lines[at] = b" " * chance.randrange(5) + lines[at].lstrip()
        case _:
            lines.insert(to, _any(chance, words))
    return b"\n".join(lines)


def _any(chance: random.Random, words: Sequence[bytes]) -> bytes:
    return chance.choice(words if words and chance.random() < 0.5 else HOSTILE)
