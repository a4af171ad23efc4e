"""The vocabulary: what a cluster, its work and a scenario are, as plain frozen values.

Nothing here imports another part of Gnomon. Quantities are exact integers: nanoseconds, millicores,
bytes, and 1/10,000 of a device or of any other named resource (:mod:`gnomon.model.quantity`).
"""
