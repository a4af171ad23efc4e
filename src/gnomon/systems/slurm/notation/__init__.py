"""How Slurm writes values: host lists, times, trackable resources, numbers."""
