"""What slurmctld holds: jobs, nodes, partitions, reservations; what happens to a job, and who gives way to whom."""
