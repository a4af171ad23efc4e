"""The descheduler: every so often pods are sent away, for the scheduler to place them anew."""
