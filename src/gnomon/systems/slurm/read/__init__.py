"""What Slurm's commands print, as plain records: sacct, squeue, sinfo, scontrol show, sprio, sshare."""
