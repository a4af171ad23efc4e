"""Coverage-guided fuzzing of every reader of files: ``python -m tests.fuzz READER --minutes 20``."""
