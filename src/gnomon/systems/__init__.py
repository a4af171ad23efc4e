"""Systems: for each the reader of its native files, its composition of policies, and its words.

``plain`` is Gnomon's own way to write clusters and work down. No system imports another.
"""
