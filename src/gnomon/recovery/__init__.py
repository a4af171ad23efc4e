"""Recovery: faults, how they are noticed and isolated, and what becomes of the work.

Pure parts, without a world: values in, values out (:mod:`gnomon.control` puts them together). In the order in which
they are asked: ``faults.Schedule`` (what goes wrong when; ``targets``, ``processes``),
``detection.noticed_ns`` (when silence is noticed), ``quorum.Election`` (who decides), ``eviction.Queue`` (how fast
nodes are given up), ``retry.Attempts.failed`` (whether and when an attempt is followed by another), ``checkpoint``
(what is saved of its work), ``lineage.lost`` (which results are made again), ``speculation`` (who deserves a second
copy), ``budgets.allows`` (whom a drain may send away). ``arithmetic``: the formulas of outages, to compare with.
"""
