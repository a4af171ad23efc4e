"""Which pods workloads make over a run, as tasks: a fleet for each owner and version, before anything has happened."""
