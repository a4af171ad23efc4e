"""Plain values as YAML that :mod:`gnomon.formats.yaml` reads back as they were."""

from __future__ import annotations

from typing import Any

import yaml

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError

_NUMBERS_BEGIN_WITH = tuple("+-.0123456789")


def as_yaml(value: Any) -> str:
    """Mappings, lists, texts, numbers, truth values and None as YAML; innermost lists and mappings on one line.

    PyYAML writes for readers of YAML 1.1, to whom ``1e3`` and ``0o17`` are text; here such texts are in quotes.

    >>> print(as_yaml({"faults": [{"at": "10m", "crash": "node/n3"}], "name": "1e3"}), end="")
    faults:
    - {at: 10m, crash: node/n3}
    name: "1e3"
    """
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


class _Dumper(yaml.SafeDumper):
    """Writes what is there twice twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if _is_text(text) else '"')


def _is_text(text: str) -> bool:
    """Whether a text that stands without quotes is no number to our reader."""
    if not text.startswith(_NUMBERS_BEGIN_WITH):
        return True
    try:
        return bool(parse_yaml(f"- {text}")[0].value == [text])
    except InputError:
        return False


_Dumper.add_representer(str, _text)
