"""The simulated world: clock and event heap, ledger, causal log, random streams, and the run loop.

``run.run`` drives a world (``world.World``: all state, as columns) through a transition (handed in as a value, see
:mod:`gnomon.scheduling.pipeline`) until nothing is left to happen or a limit is reached. Ends stand in ``agenda`` (a
``heap``), what is free in ``ledger``, what happened in ``log`` (``record.emit`` writes it, ``outcome`` folds it into a
row a task); ``invariants.check`` holds the world to its rules; ``streams`` has the random streams, ``periods`` moments
that come again. The kernels are plain functions over columns: ``compiling`` marks them, ``fast.compiled`` makes the
fast form of the same functions. ``journal`` keeps what came from outside, as ``plain`` values.
"""
