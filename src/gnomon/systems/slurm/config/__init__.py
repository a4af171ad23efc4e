"""The configuration: slurm.conf with what it includes, gres.conf, topology.conf, read as slurmctld reads them."""
