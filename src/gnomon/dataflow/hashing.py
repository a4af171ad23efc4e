"""Hash functions of keys: the same key has the same number in every run and on every machine.

Each is that of a real engine, so that a key lands in the partition where it would land there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from gnomon.model.errors import InputError

_BITS_32: Final = 0xFFFFFFFF
_BITS_64: Final = 0xFFFFFFFFFFFFFFFF
_MAX_LONG: Final = 2**63 - 1
_PRIME: Final = 2**61 - 1
"""Python's numbers are hashed modulo this prime (``sys.hash_info.modulus`` on 64 bits)."""


def java_string(text: str) -> int:
    """``java.lang.String.hashCode``: ``31 h + c`` over the UTF-16 units, begun at 0.

    >>> java_string("hello"), java_string("spark")
    (99162322, 109638365)
    """
    value = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + low + (high << 8)) & _BITS_32
    return _signed(value)


def text_bytes(text: str) -> int:
    """Hadoop's ``Text.hashCode`` (``WritableComparator.hashBytes``): ``31 h + b`` over signed UTF-8 bytes, begun at 1.

    >>> text_bytes("the"), text_bytes("hadoop")
    (144592, -337361050)
    """
    return _bytes_from_one(text.encode("utf-8", "surrogatepass"))


def long_low_bits(number: int) -> int:
    """Hadoop 3.5's ``LongWritable.hashCode``: the low 32 bits.

    >>> long_low_bits(5_000_000_000)
    705032704
    """
    return _signed(number & _BITS_32)


def java(key: Any) -> int:
    """``hashCode`` of what Java or Scala would box a key as: strings, int, long, boolean, double, null (0), and tuples
    as of Scala 2.13 (``MurmurHash3.productHash``, begun with the name of the class).

    >>> java(-7), java(5_000_000_000), java(True), java(None), java(1.5)
    (-7, 705032705, 1231, 0, 1073217536)
    """
    if key is None:
        return 0
    if isinstance(key, str):
        return java_string(key)
    if isinstance(key, bool):
        return 1231 if key else 1237
    if isinstance(key, int) and -(2**63) <= key < 2**63:
        return key if -(2**31) <= key < 2**31 else _signed((key ^ (key >> 32)) & _BITS_32)
    if isinstance(key, float):
        (bits,) = struct.unpack(">Q", struct.pack(">d", math.nan if key != key else key))
        return _signed((bits ^ (bits >> 32)) & _BITS_32)
    if isinstance(key, tuple):
        parts = [java(int(part) if isinstance(part, float) and part.is_integer() else part) for part in key]
        return murmur3_mixed((java_string(f"Tuple{len(key)}"), *parts), len(key), 0xCAFEBABE)
    raise _no_hash("java", key, "strings, integers of 64 bits, booleans, floats, None, and tuples of them")


def writable(key: Any) -> int:
    """``hashCode`` of the Hadoop ``Writable`` of a key: Text, IntWritable or LongWritable, BytesWritable,
    BooleanWritable (true 0, false 1), NullWritable (0). A composite Writable has a hash of its own; for a tuple
    that of ``java.util.Objects.hash`` is taken.

    >>> writable("hello"), writable(7), writable(5_000_000_000)
    (127791473, 7, 705032704)
    """
    if key is None:
        return 0
    if isinstance(key, str):
        return text_bytes(key)
    if isinstance(key, bool):
        return 0 if key else 1
    if isinstance(key, int) and -(2**63) <= key < 2**63:
        return long_low_bits(key)
    if isinstance(key, bytes):
        return _bytes_from_one(key)
    if isinstance(key, tuple):
        value = 1
        for part in key:
            value = (31 * value + writable(part)) & _BITS_32
        return _signed(value)
    raise _no_hash("writable", key, "strings, bytes, integers of 64 bits, booleans, None, and tuples of them")


def murmur3(key: Any, seed: int = 42) -> int:
    """Spark SQL's ``hash``: Murmur3 (x86, 32 bits) with seed 42; a tuple chains its columns, a null leaves the seed.

    An integer that fits 32 bits is taken for an ``int``, a larger one for a ``bigint``; :func:`murmur3_long` is for
    columns that are ``bigint`` throughout. The bytes that are left after the last whole block are each a block of
    their own, sign-extended: not the standard's tail (``Murmur3_x86_32.hashUnsafeBytes``).

    >>> murmur3(0), murmur3(-1), murmur3("a"), murmur3("hadoop")
    (933211791, -1604776387, 1485273170, -378380819)
    """
    if isinstance(key, tuple):
        for part in key:
            seed = murmur3(part, seed)
        return _signed(seed & _BITS_32)
    if key is None:
        return _signed(seed & _BITS_32)
    if isinstance(key, bool):
        return murmur3_mixed((1 if key else 0,), 4, seed)
    if isinstance(key, int) and -(2**63) <= key < 2**63:
        return murmur3_mixed((key,), 4, seed) if -(2**31) <= key < 2**31 else murmur3_long(key, seed)
    if isinstance(key, float):
        (bits,) = struct.unpack("<q", struct.pack("<d", 0.0 if key == 0 else key))
        return murmur3_long(bits, seed)
    if isinstance(key, str | bytes):
        data = key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key
        whole = len(data) // 4 * 4
        blocks = [number for (number,) in struct.iter_unpack("<i", data[:whole])]
        tail = [byte - 256 if byte > 127 else byte for byte in data[whole:]]
        return murmur3_mixed((*blocks, *tail), len(data), seed)
    raise _no_hash("murmur3", key, "strings, bytes, integers of 64 bits, booleans, floats, None, and tuples of them")


def murmur3_long(number: int, seed: int = 42) -> int:
    """The hash of a ``bigint``: its low word, then its high word.

    >>> murmur3_long(0), murmur3_long(42)
    (-1670924195, 1316951768)
    """
    return murmur3_mixed((number & _BITS_32, number >> 32 & _BITS_32), 8, seed)


def murmur3_columns(key: Any) -> int:
    """The hash of a key whose integers are all of ``bigint`` columns, as a DataFrame made of Python's integers has.

    >>> murmur3_columns(42) == murmur3_long(42), murmur3_columns(("a", 1)) == murmur3_long(1, murmur3("a"))
    (True, True)
    """
    seed = 42
    for part in key if isinstance(key, tuple) else (key,):
        whole = isinstance(part, int) and not isinstance(part, bool) and -(2**63) <= part < 2**63
        seed = murmur3_long(part, seed) if whole else murmur3(part, seed)
    return seed


def portable(key: Any) -> int:
    """PySpark's ``portable_hash`` with ``PYTHONHASHSEED=0``, its default: None is 0, tuples are mixed as Python 2 did,
    anything else is Python's own ``hash``, here that of CPython 3.11 and later (SipHash-1-3 of strings).

    >>> portable(None), portable(-1), portable((1, 2)), portable("a")
    (0, -2, 3430029580082870073, 4644417185603328019)
    """
    if key is None:
        return 0
    if isinstance(key, tuple):
        value = 0x345678
        for part in key:
            value = ((value ^ portable(part)) * 1000003) & _MAX_LONG
        return value ^ len(key)
    if isinstance(key, str):
        return _python_string(key)
    if isinstance(key, bytes):
        return _siphash(key)
    if isinstance(key, int):
        return _python_integer(key)
    if isinstance(key, float):
        return _python_float(key)
    raise _no_hash("portable", key, "strings, bytes, integers, floats, None, and tuples of them")


HASHES: Final[dict[str, Callable[[Any], int]]] = {
    "portable": portable,
    "java": java,
    "writable": writable,
    "murmur3": murmur3,
    "murmur3_long": murmur3_columns,
}
"""What a partitioner can be named."""


def _signed(bits: int) -> int:
    """32 bits as a signed number."""
    return bits - (1 << 32) if bits & 0x80000000 else bits


def _bytes_from_one(data: bytes) -> int:
    value = 1
    if len(data) < 64 and data.isascii():  # most keys: one reduction at the end
        for byte in data:
            value = 31 * value + byte
        return _signed(value & _BITS_32)
    for byte in data:
        value = (31 * value + (byte - 256 if byte > 127 else byte)) & _BITS_32
    return _signed(value)


def murmur3_mixed(blocks: tuple[int, ...], length: int, seed: int) -> int:
    """Murmur3 (x86, 32 bits) of blocks of 32 bits, ended with a length.

    >>> murmur3_mixed((0,), 1, 0xCAFEBABE)
    -1669410282
    """
    value = seed & _BITS_32
    for block in blocks:
        mixed = (block & _BITS_32) * 0xCC9E2D51 & _BITS_32
        mixed = (mixed << 15 | mixed >> 17) & _BITS_32
        value ^= mixed * 0x1B873593 & _BITS_32
        value = (value << 13 | value >> 19) & _BITS_32
        value = (value * 5 + 0xE6546B64) & _BITS_32
    value ^= length
    value = (value ^ value >> 16) * 0x85EBCA6B & _BITS_32
    value = (value ^ value >> 13) * 0xC2B2AE35 & _BITS_32
    return _signed(value ^ value >> 16)


def _python_integer(number: int) -> int:
    value = abs(number) % _PRIME
    value = -value if number < 0 else value
    return -2 if value == -1 else value


def _python_float(number: float) -> int:
    if math.isinf(number):
        return 314159 if number > 0 else -314159
    if math.isnan(number):
        raise _no_hash("portable", number, "numbers: no NaN equals another, and Python hashes each differently")
    over, under = number.as_integer_ratio()
    value = abs(over) * pow(under, -1, _PRIME) % _PRIME
    value = -value if number < 0 else value
    return -2 if value == -1 else value


@lru_cache(maxsize=65_536)
def _python_string(text: str) -> int:
    """CPython hashes the characters as it stores them: 1, 2 or 4 bytes each, as the widest needs."""
    widest = max(map(ord, text), default=0)
    if widest < 0x100:
        return _siphash(text.encode("latin-1"))
    return _siphash(text.encode("utf-16-le" if widest < 0x10000 else "utf-32-le", "surrogatepass"))


def _siphash(data: bytes) -> int:
    """SipHash-1-3 with a key of zeros (Aumasson and Bernstein, 2012; CPython's ``Python/pyhash.c``)."""
    if not data:
        return 0
    a, b, c, d = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573
    whole = len(data) // 8 * 8
    last = int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56
    for (block,) in (*struct.iter_unpack("<Q", data[:whole]), (last,)):
        a, b, c, d = _sip_round(a, b, c, d ^ block)
        a ^= block
    c ^= 0xFF
    for _ in range(3):
        a, b, c, d = _sip_round(a, b, c, d)
    value = a ^ b ^ c ^ d
    value = value - (1 << 64) if value >> 63 else value
    return -2 if value == -1 else value


def _sip_round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a = (a + b) & _BITS_64
    b = (b << 13 | b >> 51) & _BITS_64 ^ a
    a = (a << 32 | a >> 32) & _BITS_64
    c = (c + d) & _BITS_64
    d = (d << 16 | d >> 48) & _BITS_64 ^ c
    a = (a + d) & _BITS_64
    d = (d << 21 | d >> 43) & _BITS_64 ^ a
    c = (c + b) & _BITS_64
    b = (b << 17 | b >> 47) & _BITS_64 ^ c
    return a, b, (c << 32 | c >> 32) & _BITS_64, d


def _no_hash(name: str, key: object, allowed: str) -> InputError:
    return InputError(f"the hash {name!r} is not defined for such a key", found=key, allowed=allowed)
