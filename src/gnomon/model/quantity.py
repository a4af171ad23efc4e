"""Quantities as people write them, to exact integers and back.

========  ====================================================  ======================
kind      written                                               integer
========  ====================================================  ======================
cpu       ``500m``, ``1.5``, ``2``                              millicores
memory    ``512Mi``, ``2Gi``, ``4G``, ``1e9``, plain bytes      bytes
duration  ``90s``, ``1h30m``, ``1-12:00:00``, plain seconds     nanoseconds
e4        ``2``, ``0.25`` (at most four decimals)               1/10,000
share     ``0.5``, ``50%`` (above 0, at most 1)                 1/10,000
count     ``8``                                                 8
========  ====================================================  ======================

Every ``parse_`` takes text or a number and is exact: it reads decimal digits, a float as its shortest decimal form.
What is not a quantity raises ``ValueError``, whose message says what is wrong and what is allowed; the caller, who
knows the value and its place, adds them. Every ``format_`` is exact, so that ``parse(format(x)) == x``.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from numbers import Integral

from gnomon.model.resources import E4, MAX_AMOUNT, MAX_TIME_NS, NEVER

Quantity = str | int | float
"""What a quantity may be written as."""

NS_PER_S = 10**9
"""Nanoseconds in a second."""

_DIGITS_MAX = 60
_EXACT = Context(prec=200, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation])

_NUMBER = re.compile(r"\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)

_BINARY_UNITS = {"Pi": 2**50, "Ti": 2**40, "Gi": 2**30, "Mi": 2**20, "Ki": 2**10}
_DECIMAL_UNITS = {"P": 10**15, "T": 10**12, "G": 10**9, "M": 10**6, "k": 10**3}
_MEMORY_UNITS = {"": 1, **_BINARY_UNITS, **_DECIMAL_UNITS}

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+(?::\d+){0,2}(?:\.\d+)?)", re.ASCII)
_SPAN = re.compile(
    r"(?:([\d.]+) ?d)? ?(?:([\d.]+) ?h)? ?(?:([\d.]+) ?m)? ?(?:([\d.]+) ?s)?"
    r" ?(?:([\d.]+) ?ms)? ?(?:([\d.]+) ?[uµμ]s)? ?(?:([\d.]+) ?ns)?",
    re.ASCII,
)
_DAY, _HOUR, _MINUTE = 86_400 * NS_PER_S, 3_600 * NS_PER_S, 60 * NS_PER_S
_SPAN_NS = (_DAY, _HOUR, _MINUTE, NS_PER_S, 10**6, 10**3, 1)


def parse_cpu(value: Quantity) -> int:
    """Processors, to millicores; what is finer is rounded up.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ ("numbers larger or
    more precise will be capped or rounded up"); here the larger are refused.

    >>> parse_cpu("500m"), parse_cpu("1.5"), parse_cpu(2), parse_cpu(0.1)
    (500, 1500, 2000, 100)
    """
    what = "a number of CPUs (as in 2, 1.5, 500m)"
    number, unit = _number_and_unit(value, what)
    if unit not in ("", "m"):
        raise ValueError(f"not {what}")
    return _whole(number, 1 if unit else 1000, what=what, rounding=ROUND_CEILING)


def parse_memory(value: Quantity) -> int:
    """Memory, to bytes; what is finer is rounded up. k, M, G, T, P are powers of 1000, Ki, Mi, Gi, Ti, Pi of 1024.

    A trailing ``B`` is read over. Source: as :func:`parse_cpu`. Its unit ``m`` (1/1000 byte) is refused here: nobody
    means it.

    >>> parse_memory("2Gi"), parse_memory("4G"), parse_memory("1e9"), parse_memory(4096)
    (2147483648, 4000000000, 1000000000, 4096)
    """
    what = "an amount of memory (as in 512Mi, 2Gi, 4G, or plain bytes)"
    number, unit = _number_and_unit(value, what)
    unit = unit.removesuffix("B")
    factor = _MEMORY_UNITS.get("k" if unit == "K" else unit)
    if factor is None:
        hint = "; m is a thousandth of a byte, Mi and M are mega" if unit == "m" else ""
        raise ValueError(f"not {what}{hint}")
    return _whole(number, factor, what=what, rounding=ROUND_CEILING)


def parse_duration(value: Quantity) -> int:
    """A span of time, to ns (the nearest, ties to the even one). A plain number is seconds.

    Besides ``1d``, ``2h``, ``3m``, ``4s``, ``5ms``, ``6us``, ``7ns`` and their combinations in this order the forms
    with colons are read: ``mm:ss``, ``hh:mm:ss``, and ``days-hh``, ``days-hh:mm``, ``days-hh:mm:ss``.
    Source of these: https://slurm.schedmd.com/sbatch.html, option ``--time`` (whose plain number, other than here,
    is minutes).

    >>> [parse_duration(text) // NS_PER_S for text in ("90s", "1h30m", "1.5h", "2d", "1-12:00:00", "30:00")]
    [90, 5400, 5400, 172800, 129600, 1800]
    >>> parse_duration("250ms"), parse_duration(0.1)
    (250000000, 100000000)
    """
    what = "a duration (as in 90s, 1h30m, 2d, 250ms, 1-12:00:00, or plain seconds)"
    text = _text(value, what)
    if _NUMBER.fullmatch(text):
        total = _EXACT.multiply(_decimal(text, what), Decimal(NS_PER_S))
    elif text and (span := _SPAN.fullmatch(text)):
        total = _sum_ns([(part, ns) for part, ns in zip(span.groups(), _SPAN_NS, strict=True) if part], what)
    elif clock := _CLOCK.fullmatch(text):
        total = _clock_ns(clock[1], clock[2].split(":"), what)
    else:
        raise ValueError(f"not {what}")
    if total > MAX_TIME_NS:
        raise ValueError(f"not {what}: more than {MAX_TIME_NS // _DAY} days")
    return int(total.to_integral_value(ROUND_HALF_EVEN, _EXACT))


def parse_e4(value: Quantity) -> int:
    """A number with at most four decimals, to 1/10,000.

    >>> parse_e4(2), parse_e4("0.25")
    (20000, 2500)
    """
    what = "an amount (as in 2, 0.25, at most four decimals)"
    return _whole(_plain(value, what), E4, what=what)


def parse_share(value: Quantity) -> int:
    """A part of one whole, above 0 and at most 1, at most four decimals (or as per cent two), to 1/10,000.

    >>> parse_share(0.5), parse_share("50%"), parse_share(1)
    (5000, 5000, 10000)
    """
    what = "a share (above 0 and at most 1, as in 0.5, 50%, at most four decimals)"
    number, unit = _number_and_unit(value, what)
    if unit not in ("", "%"):
        raise ValueError(f"not {what}")
    share = _whole(number, 100 if unit else E4, what=what)
    if not 0 < share <= E4:
        raise ValueError(f"not {what}")
    return share


def parse_count(value: Quantity) -> int:
    """A whole number of things.

    >>> parse_count("8"), parse_count(8.0)
    (8, 8)
    """
    what = "a whole number"
    return _whole(_plain(value, what), 1, what=what)


def format_cpu(milli: int) -> str:
    """Millicores as Kubernetes writes them.

    >>> format_cpu(500), format_cpu(1500), format_cpu(2000)
    ('500m', '1500m', '2')
    """
    return f"{milli}m" if milli % 1000 else str(milli // 1000)


def format_memory(size: int) -> str:
    """Bytes in the unit, of those in which they are a whole number, that makes the shortest text.

    >>> format_memory(2 * 2**30), format_memory(4 * 10**9), format_memory(1025)
    ('2Gi', '4G', '1025')
    """
    texts = [f"{size // factor}{unit}" for unit, factor in _MEMORY_UNITS.items() if size % factor == 0]
    return min(texts, key=len)


def format_duration(ns: int) -> str:
    """A span of time in days, hours, minutes and seconds, or below a second in its largest whole unit.

    >>> format_duration(5_400 * NS_PER_S), format_duration(61_500_000_000), format_duration(250_000_000)
    ('1h30m', '1m1.5s', '250ms')
    >>> format_duration(0), format_duration(NEVER), format_duration(-NS_PER_S)
    ('0s', 'never', '-1s')
    """
    if ns >= NEVER:
        return "never"
    if ns < 0:
        return f"-{format_duration(-ns)}"
    if 0 < ns < NS_PER_S:
        unit, factor = next((unit, f) for unit, f in (("ms", 10**6), ("us", 10**3), ("ns", 1)) if ns % f == 0)
        return f"{ns // factor}{unit}"
    text, rest = "", ns
    for unit, factor in (("d", _DAY), ("h", _HOUR), ("m", _MINUTE)):
        whole, rest = divmod(rest, factor)
        text += f"{whole}{unit}" if whole else ""
    return f"{text}{format_seconds(rest)}s" if rest or not text else text


def format_seconds(ns: int) -> str:
    """Seconds as an exact decimal number; empty for what never happens, as in the tasks file.

    >>> format_seconds(1_500_000_000), format_seconds(2 * NS_PER_S), format_seconds(-1), format_seconds(NEVER)
    ('1.5', '2', '-0.000000001', '')
    """
    return "" if ns >= NEVER else _fixed_point(ns, 9)


def format_e4(amount: int) -> str:
    """1/10,000 as a decimal number.

    >>> format_e4(15_000), format_e4(20_000)
    ('1.5', '2')
    """
    return _fixed_point(amount, 4)


def _fixed_point(value: int, decimals: int) -> str:
    whole, part = divmod(abs(value), 10**decimals)
    digits = f"{part:0{decimals}d}".rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' if digits else ''}{digits}"


def _text(value: Quantity, what: str) -> str:
    """The value as text; numbers in their shortest exact form."""
    if isinstance(value, str):
        text = value.strip()
    elif isinstance(value, bool):
        raise ValueError(f"not {what}")
    elif isinstance(value, float):
        text = float.__repr__(value)
    elif isinstance(value, Integral):
        if abs(int(value)) >= 10**_DIGITS_MAX:  # before it is made into text, which Python limits
            raise ValueError(f"not {what}: too large")
        text = str(value)
    else:
        raise ValueError(f"not {what}")
    if text.startswith("-"):
        raise ValueError(f"not {what}: it is below zero" if _NUMBER.match(text, 1) else f"not {what}")
    if len(text) > _DIGITS_MAX:
        raise ValueError(f"not {what}: longer than {_DIGITS_MAX} characters")
    return text


def _number_and_unit(value: Quantity, what: str) -> tuple[Decimal, str]:
    text = _text(value, what)
    number = _NUMBER.match(text)
    if number is None:
        raise ValueError(f"not {what}")
    return _decimal(number[0], what), text[number.end() :].strip()


def _plain(value: Quantity, what: str) -> Decimal:
    number, unit = _number_and_unit(value, what)
    if unit:
        raise ValueError(f"not {what}")
    return number


def _decimal(digits: str, what: str) -> Decimal:
    try:
        return _EXACT.create_decimal(digits)
    except InvalidOperation:
        raise ValueError(f"not {what}") from None


def _whole(number: Decimal, factor: int, *, what: str, rounding: str | None = None) -> int:
    """``number * factor`` as an integer within the bounds; without a ``rounding`` it must be one."""
    scaled = _EXACT.multiply(number, Decimal(factor))
    if scaled > MAX_AMOUNT:
        raise ValueError(f"not {what}: too large")
    whole = scaled.to_integral_value(rounding or ROUND_CEILING, _EXACT)
    if rounding is None and whole != scaled:
        raise ValueError(f"not {what}: too many decimals")
    return int(whole)


def _sum_ns(parts: list[tuple[str, int]], what: str) -> Decimal:
    total = Decimal(0)
    for digits, ns in parts:
        total = _EXACT.add(total, _EXACT.multiply(_decimal(digits, what), Decimal(ns)))
    return total


def _clock_ns(days: str | None, fields: list[str], what: str) -> Decimal:
    """``[days-]hh[:mm[:ss]]`` or ``[hh:]mm:ss``: with days the first field is hours, without the last is seconds."""
    all_units = (_HOUR, _MINUTE, NS_PER_S)
    units = all_units[: len(fields)] if days else all_units[-len(fields) :]
    for position, field in enumerate(fields):
        limit = 60 if position else 24 if days else None
        if limit and _decimal(field, what) >= limit:
            raise ValueError(f"not {what}: {field} is not below {limit}")
    if days and len(fields) < 3 and "." in fields[-1]:
        raise ValueError(f"not {what}: only seconds may have decimals")
    return _sum_ns([(days or "0", _DAY), *zip(fields, units, strict=True)], what)
