"""What may be changed so that a pod of a snapshot is placed, or created: each change is tried on a ``bench``.

What is the pod's ``own``, its ``constraints`` and ``claims``; ``others``: pods in the way and nodes, with ``scaling``
of workloads; ``pairs`` of two changes together. For a pod that is not created: ``quota``, ``denials``.
"""
