"""Slurm: slurm.conf and its companions, accounting, submissions; the main scheduler and backfill of slurmctld, with its
own order, choice of nodes, limits and words. Versions 22.05 to 25.05."""
