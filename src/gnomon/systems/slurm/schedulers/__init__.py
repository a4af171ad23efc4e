"""The main scheduler and backfill: who is looked at, in which order, on which nodes; gangs and heterogeneous jobs."""
