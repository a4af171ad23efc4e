"""What the scores look things up in: scales, shapes that score alike, families of device tasks, FGD's task classes."""

from __future__ import annotations

import numpy as np

from gnomon.engine.streams import stream
from gnomon.engine.world import F64, I32
from gnomon.model.errors import InputError
from gnomon.model.resources import E4
from gnomon.model.scenario import Scenario
from gnomon.scheduling import codes
from gnomon.scheduling.columns import Columns
from gnomon.scheduling.layout import Layout

_FEW_NODES = 8
"""Up to so many nodes a score is computed at each look; looking it up would not pay."""

_TABLE_BYTES = 2**26
_RING = 4096
_WITHOUT_SCORES = (codes.FIRST_FIT, codes.RANDOM, codes.PYTHON)


def score_columns(scenario: Scenario, layout: Layout, columns: Columns, placement: int) -> Columns:
    """The tables for one placement policy. Raises InputError for an unknown resource in ``over=``."""
    nodes, policy = len(layout.nodes), scenario.policy
    scale = _scale(scenario, layout)
    family = families(columns["gpus"], columns["share"])
    looked_at = {
        codes.GPU_PACKING: [columns["gpus"], columns["share"]],
        codes.GPU_CLUSTERING: [family],
        codes.FGD: [columns["need"][:, 0], columns["gpus"], columns["share"]],
    }.get(placement, [columns["need"] * (scale > 0)])
    _, kin_shape, kin = np.unique(np.column_stack(looked_at), axis=0, return_index=True, return_inverse=True)
    if nodes <= _FEW_NODES or placement in _WITHOUT_SCORES:
        lines = 0
    else:
        lines = int(min(len(kin_shape), max(16, _TABLE_BYTES // (8 * nodes))))
    classes, masks = np.zeros((0, 4)), np.zeros(0, np.int32)
    if placement == codes.FGD:
        classes, masks = task_classes(scenario, columns, float(policy.option("fgd", "classes", 0.95)))
    draws = 0
    if placement == codes.RANDOM:
        draws = min(2**21, 2 * len(scenario.work) + 1024)
    return {
        "scale": scale,
        "family": family,
        "families": np.zeros((nodes, int(family.max(initial=0)) + 1), np.int32),
        "kin": kin.reshape(-1).astype(np.int32),
        "kin_shape": kin_shape.astype(np.int32),
        "table": np.zeros((lines, nodes), np.float64),
        "table_kin": np.full(lines, -1, np.int32),
        "table_seen": np.zeros(lines, np.int64),
        "changed": np.zeros(_RING, np.int32),
        "changed_at": np.full(nodes, -1, np.int64),
        "classes": classes,
        "class_mask": masks,
        "draws": stream(scenario.seed, "placement").random(draws),
        "feasible": np.zeros(nodes, np.int8),
    }


def _scale(scenario: Scenario, layout: Layout) -> F64:
    """For each resource one over the largest node's amount; 0 for those that the policy leaves out."""
    policy = scenario.policy
    over = str(policy.option(str(policy.placement), "over", ""))
    chosen = over.split("/") if over else list(layout.names)
    for name in chosen:
        if name not in layout.names:
            field = f"policy {policy.placement}:over"
            raise InputError("unknown resource", field=field, found=name, allowed="/".join(layout.names))
    largest = [max(node.capacity.amount(name) for node in layout.nodes) for name in layout.names]
    used = [name in chosen and most > 0 for name, most in zip(layout.names, largest, strict=True)]
    return np.array([1.0 / most if use else 0.0 for most, use in zip(largest, used, strict=True)])


def families(gpus: I32, share: np.ndarray) -> I32:
    """Kinds of device tasks for clustering: 0 none, 1 a share of a device, 2... each number of whole devices."""
    whole = sorted({int(g) for g, s in zip(gpus, share, strict=True) if g and s == E4})
    number = {g: 2 + i for i, g in enumerate(whole)}
    rows = [0 if not g else 1 if s < E4 else number[int(g)] for g, s in zip(gpus, share, strict=True)]
    return np.array(rows, np.int32)


def task_classes(scenario: Scenario, columns: Columns, share: float) -> tuple[F64, I32]:
    """FGD's typical tasks: distinct (cpu, devices, share, allowed nodes), most frequent first (ties: larger first),
    until they cover ``share`` of the work; their weights sum to 1 (Weng et al., ATC'23, section 3.2)."""
    if not 0 < share <= 1:
        raise InputError("a share of the tasks", field="policy fgd:classes", found=share, allowed="above 0, at most 1")
    work = scenario.work
    rows = np.column_stack([columns["need"][:, 0], columns["gpus"], columns["share"], columns["mask"]])
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(kind.reshape(-1)[work.shape], minlength=len(kinds))
    order = sorted(range(len(kinds)), key=lambda k: (-int(counts[k]), *(-int(x) for x in kinds[k])))
    total, covered, chosen = int(counts.sum()), 0, []
    for k in order:
        if not counts[k] or covered >= share * total:
            break
        chosen.append(k)
        covered += int(counts[k])
    weights = counts[chosen] / max(covered, 1)
    table = np.column_stack([weights, kinds[chosen, 0], kinds[chosen, 1], kinds[chosen, 2]]).astype(np.float64)
    return np.ascontiguousarray(table).reshape(-1, 4), kinds[chosen, 3].astype(np.int32)
