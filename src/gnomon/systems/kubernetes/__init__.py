"""Kubernetes: its objects, their admission, the scheduler, controllers and kubelets (version 1.34).

Each package knows those before it: ``api`` (objects as typed values), ``read`` (files to objects), ``apiserver`` (what
becomes of an object that is created), ``fleets`` (which pods workloads make), ``controllers`` (and kubelets),
``scheduler`` (queue, cycle, plugins), ``descheduler``. From files to a run: ``scenario.read_scenario``; in a run:
``placing.KubeScheduler``; recorded cases: ``golden``.
"""
