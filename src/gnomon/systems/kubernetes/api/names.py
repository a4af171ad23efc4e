"""Which names, labels and values the API server takes, and what it says of others.

Each rule gives None for what is taken. Source: apimachinery ``pkg/util/validation/validation.go``,
``pkg/api/validation/name.go`` and component-helpers of v1.34. Only what every supported version refuses is refused: the
objects of a live cluster were all taken once.

>>> subdomain("web-0.shop"), label_value("v1.2"), qualified("app.kubernetes.io/name")
(None, None, None)
>>> print(label_value("a b")[:90])
a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gnomon.systems.kubernetes.api.requests import HUGE_PAGES

Rule = Callable[[str], str | None]
"""What is said of a text that is not taken; None for one that is."""

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_NAME})?"
_PATH_SEGMENTS: Final = (".", "..")

_IS_LABEL: Final = re.compile(_LABEL)
_IS_SUBDOMAIN: Final = re.compile(_SUBDOMAIN)
_IS_NAME: Final = re.compile(_NAME)
_IS_VALUE: Final = re.compile(_VALUE)

_LABEL_SAYS: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_SAYS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_NAME_SAYS: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_SAYS: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_VALUE}')"
)
_QUALIFIED_SAYS: Final = (
    "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}') "
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
LABEL_BYTES_MAX: Final = 63
SUBDOMAIN_BYTES_MAX: Final = 253
PORT_NAME_BYTES_MAX: Final = 15

CONTAINER_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources without a domain that a container may ask for, huge pages of some size besides."""


def invalid(value: object, text: str) -> str:
    """How the API server says that a value is not taken."""
    shown = _quoted(value) if isinstance(value, str) else str(value)
    return f"Invalid value: {shown}: {text}"


def duplicate(value: str) -> str:
    """How it says that a value may be there once only."""
    return f"Duplicate value: {_quoted(value)}"


def _quoted(text: str) -> str:
    """As Go writes it with ``%q`` (``strconv.Quote``), in which ``field.Error`` has its texts.

    >>> print(_quoted('a"b\\n'))
    "a\\"b\\n"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(one if one.isprintable() else ascii(one)[1:-1] for one in plain)}"'


def subdomain(name: str) -> str | None:
    """Names of most objects."""
    if len(name) <= SUBDOMAIN_BYTES_MAX and _IS_SUBDOMAIN.fullmatch(name):
        return None
    if len(name.encode("utf-8", "surrogatepass")) > SUBDOMAIN_BYTES_MAX:
        return _too_long(SUBDOMAIN_BYTES_MAX)
    return _SUBDOMAIN_SAYS


@lru_cache(maxsize=65536)
def label(name: str) -> str | None:
    """Names of namespaces and containers."""
    if len(name.encode("utf-8", "surrogatepass")) > LABEL_BYTES_MAX:
        return _too_long(LABEL_BYTES_MAX)
    if _IS_LABEL.fullmatch(name):
        return None
    return "must not contain dots" if _IS_SUBDOMAIN.fullmatch(name) else _LABEL_SAYS


def path_segment(name: str) -> str | None:
    """Names that only have to fit into a path.

    >>> path_segment("a/b"), path_segment("A_b")
    ("may not contain '/'", None)
    """
    if name in _PATH_SEGMENTS:
        return f"may not be '{name}'"
    return next((f"may not contain '{part}'" for part in "/%" if part in name), None)


@lru_cache(maxsize=65536)
def qualified(name: str) -> str | None:
    """Keys of labels, taints and resources: a name, with a domain before it or without."""
    prefix, slash, rest = name.rpartition("/")
    if "/" in prefix:
        return _QUALIFIED_SAYS
    if slash and (problem := subdomain(prefix) if prefix else "must be non-empty"):
        return f"prefix part {problem}"
    if not rest:
        return "name part must be non-empty"
    if len(rest.encode("utf-8", "surrogatepass")) > LABEL_BYTES_MAX:
        return f"name part {_too_long(LABEL_BYTES_MAX)}"
    return None if _IS_NAME.fullmatch(rest) else f"name part {_NAME_SAYS}"


@lru_cache(maxsize=65536)
def label_value(value: str) -> str | None:
    """Values of labels."""
    if len(value.encode("utf-8", "surrogatepass")) > LABEL_BYTES_MAX:
        return _too_long(LABEL_BYTES_MAX)
    return None if _IS_VALUE.fullmatch(value) else _VALUE_SAYS


def port_name(name: str) -> str | None:
    """Names of ports.

    >>> port_name("http-alt"), port_name("a--b")
    (None, 'must not contain consecutive hyphens')
    """
    if len(name.encode("utf-8", "surrogatepass")) > PORT_NAME_BYTES_MAX:
        return _too_long(PORT_NAME_BYTES_MAX)
    if not re.fullmatch("[-a-z0-9]+", name):
        return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        return "must contain at least one letter (a-z)"
    if "--" in name:
        return "must not contain consecutive hyphens"
    return "must not begin or end with a hyphen" if name[0] == "-" or name[-1] == "-" else None


@lru_cache(maxsize=4096)
def container_resource(name: str) -> str | None:
    """Resources that containers ask for. Source: ``validateContainerResourceName`` and ``IsExtendedResourceName``.

    >>> container_resource("nvidia.com/gpu"), container_resource("memroy")
    (None, 'must be a standard resource for containers')
    """
    if (problem := qualified(name)) is not None:
        return problem
    if "/" not in name:
        standard = name in CONTAINER_RESOURCES or name.startswith(HUGE_PAGES)
        return None if standard else "must be a standard resource for containers"
    if "kubernetes.io/" in name:
        return None
    quota = qualified(f"requests.{name}") is not None or name.startswith("requests.")
    return "doesn't follow extended resource name standard" if quota else None


def _too_long(most: int) -> str:
    return f"must be no more than {most} bytes"
