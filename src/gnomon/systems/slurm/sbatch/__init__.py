"""Submissions: the command line of sbatch, its batch scripts and its environment, to what a job asks for."""
