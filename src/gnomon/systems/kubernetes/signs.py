"""What tells files of Kubernetes."""

from __future__ import annotations

from typing import Final

from gnomon.formats.signs import Signs

SIGNS: Final = Signs(
    (
        (
            "Kubernetes YAML or JSON",
            r"(?:^\ufeff?[ \t-]*|[{,]\s*)[\"']?apiVersion[\"']?\s*: *[\"']?[a-z0-9./-]*v[0-9]",
        ),
    ),
    keys=("apiVersion", "kind"),
)
