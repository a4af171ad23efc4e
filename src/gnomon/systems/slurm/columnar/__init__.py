"""The controller in kernels, for work without anything special: the log of :mod:`gnomon.systems.slurm.controller`, to
the byte, many times as fast.

- ``layout``: whether a run is such a one (else it is left to the controller), and its columns: ``books``.
- ``clock``: arrivals, ends and the timers of both loops; ``passes``: the main and the backfill scheduler; ``queue``:
  the pending jobs in order, and their priorities; ``starting``: jobs take nodes and give them back; ``written``: rows.
- ``run``: all of it, from a scenario to its log.

The rules and their sources stand in the modules of the controller; a test holds both to one log.
"""
