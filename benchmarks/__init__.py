"""What is measured, how, and against what. Results are printed, never asserted: ``make bench``."""
