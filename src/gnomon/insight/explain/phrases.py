"""Plain words for amounts, times and counts, as explanations use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gnomon.model.quantity import NS_PER_S, format_duration, format_memory
from gnomon.model.resources import E4, NEVER

Plain = int | float | str
Numbers = dict[str, Plain | None]


def number(name: str, amount: int) -> int | float:
    """An amount of a resource as a plain number: processors, bytes, devices, units of a named resource.

    >>> number("cpu", 1500), number("memory", 2**30), number("gpu", 5_000)
    (1.5, 1073741824, 0.5)
    """
    if name == "memory":
        return amount
    unit = 1000 if name == "cpu" else E4
    return amount / unit if amount % unit else amount // unit


def written(name: str, amount: int) -> Plain:
    """An amount as one writes it in a file of tasks.

    >>> written("cpu", 12_000), written("memory", 24 * 2**30)
    (12, '24Gi')
    """
    return format_memory(amount) if name == "memory" else number(name, amount)


def amount(name: str, value: int) -> str:
    """An amount with its resource.

    >>> amount("cpu", 12_000), amount("memory", 24 * 2**30), amount("gpu", 5_000)
    ('12 cpu', '24Gi memory', '0.5 gpu')
    """
    return f"{written(name, value)} {name}"


def amounts_of(values: Mapping[str, int]) -> str:
    """All amounts of a request.

    >>> amounts_of({"cpu": 12_000, "memory": 2**30, "gpu": 10_000})
    '12 cpu, 1Gi memory and 1 gpu'
    """
    return listed([amount(name, value) for name, value in values.items()]) or "nothing"


def compared(offer: Mapping[str, tuple[int, int]], there: str) -> Numbers:
    """What is asked and what is there, by resource, and what that is short by.

    >>> compared({"cpu": (12_000, 8_000)}, "free")
    {'asked_cpu': 12, 'free_cpu': 8, 'short_cpu': 4}
    """
    found: Numbers = {}
    for name, (asked, has) in offer.items():
        found |= {f"asked_{name}": number(name, asked), f"{there}_{name}": number(name, has)}
        if asked > has:
            found[f"short_{name}"] = number(name, asked - has)
    return found


def size(value: int) -> str:
    """Bytes to three digits, exactly where that is as short.

    >>> size(16 * 2**30), size(17_394_617_549), size(100 * 2**20), size(513)
    ('16Gi', '16.2Gi', '100Mi', '513')
    """
    exact = format_memory(value)
    if len(exact) <= 6:
        return exact
    unit, factor = next((u, f) for u, f in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)) if value >= f)
    return f"{value / factor:.4g}{unit}" if value >= 1000 * factor else f"{value / factor:.3g}{unit}"


def above(value: int, bound: int) -> str:
    """Bytes that are more than a bound, so that one sees it.

    >>> above(4 * 2**30 + 1, 4 * 2**30), above(5 * 2**30, 4 * 2**30)
    ('just over 4Gi', '5Gi')
    """
    return f"just over {size(bound)}" if value > bound and size(value) == size(bound) else size(value)


def percent(e4: int) -> str:
    """A part of 10,000.

    >>> percent(5_000), percent(3_333), percent(10_000)
    ('50%', '33.33%', '100%')
    """
    return f"{e4 / 100:.4g}%"


def seconds(ns: int) -> int | float | None:
    """Seconds, None for never."""
    if ns >= NEVER or ns < 0:
        return None
    return ns / NS_PER_S if ns % NS_PER_S else ns // NS_PER_S


def span(ns: int) -> str:
    """A length of time, or a time since the beginning, to three digits of its smallest unit.

    >>> span(7_384_500_000_000), span(61_234_567_891), span(637_898_102), span(0), span(NEVER)
    ('2h3m5s', '1m1.235s', '638ms', '0s', 'never')
    """
    if ns >= NEVER:
        return "never"
    step = NS_PER_S if ns >= 3_600 * NS_PER_S else 10**6 if ns >= 10**7 else 10**3 if ns >= 10**4 else 1
    return format_duration((ns + step // 2) // step * step if step > 1 else ns)


def listed(parts: Iterable[str], most: int = 8) -> str:
    """Texts one after the other; what is beyond ``most`` is counted.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    texts = list(parts)
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most:,} more"]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "node"), counted(1200, "node")
    ('1 node', '1,200 nodes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
