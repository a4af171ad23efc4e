"""What may be changed so that a job starts sooner: each change is tried on a ``bench``, by ``acts`` on the model.

``own``: what a user changes about the job alone; ``constraints``: what the job insists on; ``others``: limits,
configuration, nodes, jobs in its way.
"""
