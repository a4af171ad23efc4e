"""Why a pod of Kubernetes waits, is refused or is where it is, in the scheduler's own words, and what would change it.

``answer.explain`` finds whom a name means (``subjects``) and answers for a snapshot without a simulation, or for what
happened in one of the ``runs``. ``moment`` lays out the cluster as the scheduler has it when the pod's turn comes,
``classes`` groups the nodes by what is against it, ``summary`` tells the rule that holds it (``spreading``, ``quota``,
``pod_waits``, with ``nodes`` and ``others``: what is there besides), ``scores`` compares two nodes that would both do,
``threats`` tells who takes a running pod's place, and the ``levers`` are tried by running the cycle again.
``turn_answer`` puts that together for one turn. ``wording`` has the words for rows of a log.
"""

from gnomon.insight.kubernetes.answer import explain
from gnomon.insight.kubernetes.turn_answer import PodExplanation

__all__ = ["PodExplanation", "explain"]
