"""What slurmdbd keeps, and what hangs on it: associations and QOS, sacctmgr, limits, usage."""
