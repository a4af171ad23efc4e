"""Recorded cases of Spark, by their kind: facts of event logs here, predictions and pools by the model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.systems.spark.golden_facts import KIND as FACTS
from gnomon.systems.spark.golden_facts import judge_facts
from gnomon.systems.spark.golden_predictions import KINDS as PREDICTIONS
from gnomon.systems.spark.golden_predictions import judge_prediction


def judge(case: Mapping[str, Any], path: str | os.PathLike[str] | None) -> tuple[bool | None, Sequence[str], object]:
    """Does the model agree with a case, what differs, and the whole of what it says. ``path``: of the case's file."""
    if str(case["name"]).startswith(FACTS):
        return judge_facts(case, path)
    if str(case["name"]).startswith(PREDICTIONS):
        return judge_prediction(case, path)
    return None, ("not modelled: a case of Spark of this kind",), None
