"""Why a pod of Kubernetes waits, is refused or is where it is, in the scheduler's own words, and what would change it.

:func:`explain` finds whom a name means (``subjects``), lays out the cluster as the scheduler has it when the pod's turn
comes (``moment``), of a snapshot without a simulation or of a run at a row of its log (``replay``), groups the nodes by
what is against it (``classes``), tells the rule that holds it (``summary``, ``spreading``, ``quota``), and tries
changes by running the cycle again (``bench``) for what is the pod's ``own``, its ``constraints``, the ``quota``, and
the ``cluster``. ``scores`` compares two nodes that would both do; ``threats`` tells who takes a running pod's place.
``turn_answer`` puts that together for one turn, ``run_answer`` for what happened in a run (``reruns``); ``evictions``
tells of pods that the descheduler moves, ``layouts`` of rollouts that end with another spread than they are to have.
"""

from gnomon.insight.kubernetes.answer import explain
from gnomon.insight.kubernetes.turn_answer import PodExplanation

__all__ = ["PodExplanation", "explain"]
