"""Systems: for each the reader of its native files, its composition of policies, and its recorded cases.

``plain`` is Gnomon's own way to write clusters and work down; ``kubernetes``, ``slurm``, ``spark`` and ``mapreduce``
are modelled after theirs. No system imports another; :mod:`gnomon.api.systems` has the table of them.
"""
