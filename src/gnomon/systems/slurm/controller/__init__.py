"""slurmctld as a whole: its loops, submissions, commands, power saving, and when a job would start."""
