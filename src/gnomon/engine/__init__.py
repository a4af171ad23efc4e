"""The simulated world: clock and event heap, ledger, causal log, random streams, and the run loop.

``run.run`` drives a world through ``advance`` (handed in as a value by a composition, see
:mod:`gnomon.scheduling.pipeline`) until nothing is left to happen or a limit is reached. The kernels are plain
functions over columns; :mod:`gnomon.engine.compiling` makes the fast form of the same functions.
"""
