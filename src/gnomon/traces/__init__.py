"""Public trace formats, read as work and clusters."""
