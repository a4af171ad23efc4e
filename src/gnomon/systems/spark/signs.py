"""What tells files of Spark."""

from __future__ import annotations

from typing import Final

from gnomon.formats.signs import Signs
from gnomon.systems.spark.read_lines import is_log_folder

_EVENT_LOG: Final = "an event log of Spark"

SIGNS: Final = Signs(
    (
        (_EVENT_LOG, r"\A\{[^\n]{0,80}\"Event\" *: *\"(org\.apache\.spark\.[\w.]*)?SparkListener"),
        ("spark-defaults.conf", r"^spark\.[A-Za-z.]+[ =]"),
    ),
    folder=(_EVENT_LOG, is_log_folder),
)
