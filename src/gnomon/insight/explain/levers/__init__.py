"""What may be changed: facts of a scenario that can be moved, by whose business they are.

``chosen.levers`` picks those that can have to do with a case: ``own`` (requests, estimates, wishes), ``recovery``
(limits, retries, checkpoints), ``policy`` and ``operation`` (how the cluster is run), ``others`` (limits of the tenant,
the work of others), ``nodes`` (more of them); ``drain`` is about a node that a budget keeps from being emptied. Each is
a :class:`~gnomon.insight.explain.changes.Lever`.
"""
