"""What is simulated: sessions of commands, sacct histories, traces, snapshots of a running cluster, scripts."""
