"""How values are spread: mean, percentiles, maximum."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from gnomon.insight import exact
from gnomon.model.work import IntArray

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Distribution:
    """Mean, percentiles (linear interpolation between the two nearest ranks) and maximum; None of nothing."""

    mean: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: npt.NDArray[np.float64]) -> Distribution:
        """Of plain numbers.

        >>> Distribution.of(np.array([0.0, 100.0]))
        Distribution(mean=50.0, p50=50.0, p90=90.0, p99=99.0, max=100.0)
        """
        if not len(values):
            return cls()
        p50, p90, p99 = (float(p) for p in np.percentile(values, (50, 90, 99)))
        return cls(float(values.mean()), p50, p90, p99, float(values.max()))

    @classmethod
    def of_ns(cls, values: IntArray) -> Distribution:
        """Of times in ns, in seconds; the mean is that of the exact sum, percentiles are rounded to ns."""
        if not len(values):
            return cls()
        p50, p90, p99 = (round(float(p)) / SECOND for p in np.percentile(values, (50, 90, 99)))
        return cls(exact.total(values) / (len(values) * SECOND), p50, p90, p99, int(values.max()) / SECOND)

    def as_dict(self) -> dict[str, float | None]:
        """By name, as in ``metrics.json``."""
        return {one.name: getattr(self, one.name) for one in fields(self)}
