"""Recovery: faults, how they are noticed and isolated, and what becomes of the work.

Pure parts, without a world: values in, values out (:mod:`gnomon.control` puts them together).
"""
