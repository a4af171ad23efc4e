"""What a run of Kubernetes tells: of a pod (``answer``), a workload (``story``), all of it (``summary``, ``view``).

``replay`` folds the log up to a pod's turn. What there is: ``workloads``, which pods are ready when (``readiness``),
the ``course`` of a workload. What went wrong: ``departures`` of pods, ``crashes``, ``evictions`` by the descheduler,
``rollouts`` that do not end, ``layouts`` that end with another spread than they are to have. What would help is tried
by ``reruns`` (``resizing``, ``probing``).
"""
