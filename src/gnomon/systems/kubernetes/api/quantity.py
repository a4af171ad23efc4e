"""Quantities of the API, to exact integers and back.

Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ : a decimal number with one of
n, u, m, k, M, G, T, P, E (powers of 1000), Ki, Mi, Gi, Ti, Pi, Ei (of 1024), or a decimal exponent. Rounding is up, as
``Quantity.Value`` and ``MilliValue`` do. The API caps numbers above 2^63 - 1; here they are refused.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, InvalidOperation, Overflow
from functools import lru_cache
from typing import Final

AMOUNT_MAX: Final = 2**63 - 1
"""The largest amount, of cpu in millicores."""

_WRITTEN: Final = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([a-zA-Z]*)([+-]?[0-9]*)", re.ASCII)
_CHARACTERS_MAX: Final = 60
_EXPONENT_DIGITS_MAX: Final = 6
_EXACT: Final = Context(prec=200, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[InvalidOperation, Overflow])
_BINARY: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("k", "M", "G", "T", "P", "E")
_FACTORS: Final[dict[str, Decimal]] = {
    "": Decimal(1),
    **{unit: Decimal(1024**power) for power, unit in enumerate(_BINARY, 1)},
    **{unit: Decimal(1000**power) for power, unit in enumerate(_DECIMAL, 1)},
    "m": Decimal("1e-3"),
    "u": Decimal("1e-6"),
    "n": Decimal("1e-9"),
}
_ALLOWED: Final = "for instance 500m, 2, 1.5, 512Mi, 2Gi, 4G, 1e9"


def parse_quantity(value: object, resource: str = "") -> int:
    """An amount of a resource: cpu in millicores, others in bytes or units, rounded up.

    Raises ValueError for what is no quantity, is below zero or above :data:`AMOUNT_MAX`, and for a part of an extended
    resource (``nvidia.com/gpu: 0.5``), which the API server refuses.

    >>> parse_quantity("250m", "cpu"), parse_quantity(0.5, "cpu"), parse_quantity("1.5Gi", "memory")
    (250, 500, 1610612736)
    >>> parse_quantity("1e3"), parse_quantity("1E"), parse_quantity("100n", "cpu"), parse_quantity("1500m", "memory")
    (1000, 1000000000000000000, 1, 2)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"not a quantity: text or a number is wanted, {_ALLOWED}")
    text = value if isinstance(value, str) else repr(value)
    amount = _parsed(text, 3 if resource.rpartition(".")[2] == "cpu" else 0)
    if "/" in resource and amount * 1000 != _parsed(text, 3):
        raise ValueError("not a quantity of an extended resource: must be an integer")
    return amount


def parse_milli(value: object) -> int:
    """A quantity in thousandths, whatever it counts."""
    return parse_quantity(value, "cpu")


def format_quantity(amount: int, resource: str = "") -> str:
    """An amount as the API writes it.

    Whether it was written in powers of 1000 or of 1024 is not kept: the shorter of both is taken, which is what people
    write.

    >>> format_quantity(2500, "cpu"), format_quantity(3000, "cpu"), format_quantity(2**31), format_quantity(2 * 10**9)
    ('2500m', '3', '2Gi', '2G')
    """
    if resource.rpartition(".")[2] == "cpu":
        if amount % 1000:
            return f"{amount}m"
        return _with_unit(amount // 1000, 1000, _DECIMAL)
    binary, decimal = _with_unit(amount, 1024, _BINARY), _with_unit(amount, 1000, _DECIMAL)
    return binary if len(binary) <= len(decimal) else decimal


@lru_cache(maxsize=65536)
def _parsed(text: str, scale: int) -> int:
    found = _WRITTEN.fullmatch(text.strip()) if len(text) <= _CHARACTERS_MAX else None
    if found is None:
        raise ValueError(f"not a quantity; allowed: {_ALLOWED}")
    digits, unit, exponent = found.groups()
    if exponent and unit in ("e", "E"):
        if len(exponent) > _EXPONENT_DIGITS_MAX:
            raise ValueError("a quantity too large or too fine")
        factor = Decimal(1).scaleb(int(exponent), _EXACT)
    elif exponent or unit not in _FACTORS:
        raise ValueError(f"not a quantity; allowed: {_ALLOWED}")
    else:
        factor = _FACTORS[unit]
    number = _EXACT.multiply(Decimal(digits), factor).scaleb(scale, _EXACT)
    if number < 0:
        raise ValueError("a quantity below zero")
    if number > AMOUNT_MAX:
        raise ValueError(f"a quantity too large; allowed: up to {AMOUNT_MAX}")
    return int(number.to_integral_value(ROUND_CEILING, _EXACT))


def _with_unit(amount: int, base: int, units: tuple[str, ...]) -> str:
    unit = ""
    for larger in units:
        if not amount or amount % base:
            break
        amount, unit = amount // base, larger
    return f"{amount}{unit}"
