"""The vocabulary: what a cluster, its work and a scenario are, as plain frozen values.

Nothing here imports another part of Gnomon. Quantities are exact integers: nanoseconds, millicores, bytes, and 1/10,000
of a device or of any other named resource (:mod:`gnomon.model.quantity` reads and writes them). ``scenario.Scenario``
is all that a run is a function of: ``cluster.Cluster``, ``work.Work`` (tasks as columns; ``work.Task`` at the edges),
``scenario.Policy``, ``fault.Failure`` and ``operation.Operation``. A task asks for ``resources.Resources``, uses what
``usage.Usage`` says, and is treated as ``recovery.Recovery`` says when it is lost. ``errors``: whose fault an error is.
"""
