"""What a run of Kubernetes tells: of a pod (``answer``), a workload (``story``), all of it (``summary``, ``view``)."""
