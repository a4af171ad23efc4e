"""Weights of trackable resources: ``TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=2"``, PriorityWeightTRES.

Source: ``_tres_weight_item`` of ``src/common/slurm_protocol_api.c``, Slurm 22.05 to 25.05; tres.html.
"""

from __future__ import annotations

from collections.abc import Mapping

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.tres import FIXED
from gnomon.systems.slurm.notation.values import weight


def tres_weights(text: str, options: Mapping[str, str], key: str) -> dict[str, float]:
    """The weight of each resource for the unit that Slurm counts: memory in MiB. ``options``: of slurm.conf, for
    AccountingStorageTRES. Raises :class:`InputError` in slurmctld's words.

    >>> tres_weights("CPU=1.0,Mem=0.25G", {}, "TRESBillingWeights")
    {'cpu': 1.0, 'mem': 0.000244140625}
    """
    weights: dict[str, float] = {}
    tracked = tracked_resources(options)
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = item.partition("=")
        name = name.strip().lower()
        failed = f"failed to parse tres weights str '{text}'"
        if not (name and equals and value):
            raise InputError(f'{failed} ("{item}" is an invalid TRES weight entry)', field=key)
        if name not in tracked:
            written = name.replace("/", ":", 1)
            raise InputError(
                f"{failed} (TRES weight '{written}' is not a configured TRES type.)",
                field=key,
                allowed="what AccountingStorageTRES names, cpu, mem, node, energy, billing",
            )
        amount = weight(value.strip(), "m" if name == "mem" or name.startswith("bb/") else "")
        if amount is None:
            raise InputError(f'{failed} ("{item}" is an invalid TRES weight entry)', field=key)
        weights[name] = amount
    return weights


def tracked_resources(options: Mapping[str, str]) -> tuple[str, ...]:
    """The fixed resources and those of AccountingStorageTRES, in that order; a type comes with its kind.

    >>> tracked_resources({"accountingstoragetres": "gres/gpu:a100,license/matlab"})[8:]
    ('gres/gpu', 'gres/gpu:a100', 'license/matlab')
    """
    names = dict.fromkeys(FIXED)
    for part in options.get("accountingstoragetres", "").split(","):
        if name := part.strip().lower():
            if name.startswith("gres/"):
                names.setdefault(name.partition(":")[0])
            names.setdefault(name)
    return tuple(names)
