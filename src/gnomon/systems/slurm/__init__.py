"""Slurm: slurm.conf and its companions, accounting, submissions; the main scheduler and backfill of slurmctld, with its
own order, choice of nodes, limits and words. Versions 22.05 to 25.05.

Each package knows those before it: ``notation`` (how Slurm writes values), ``config`` (slurm.conf and its companions),
``accounting`` (associations, QOS, limits, usage), ``sbatch`` (submissions to what a job asks for), ``select`` (the
choice of nodes and cores), ``cluster`` (jobs, nodes and reservations, as slurmctld holds them), ``read`` (what commands
print), ``inputs`` (what the files of a scenario say), ``schedulers``, ``priority``, ``controller`` (slurmctld as a
whole), ``columnar`` (the controller in kernels), ``views`` (squeue and its like). From files to a run:
``scenario.read_scenario``; in a run: ``placing.SlurmScheduler``; recorded cases: ``golden``, on a ``machine``.
"""
