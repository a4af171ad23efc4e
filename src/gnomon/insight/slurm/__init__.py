"""Why a job of Slurm waits, was refused or runs where it does, what the reason really says, and what would change it.

``answer.explain`` finds whom a name means (``subjects``; a script that is not submitted yet: ``submitted``), runs the
model (``rehearsal``) to the end for what really happens (``course``) and again to the ``moment`` that matters.
``meaning`` tells what the reason of squeue says there (``ranks``: why another is before it), ``outlook`` when it
starts, ``rules`` everything else that holds the job, ``classes`` the nodes by what is against them, ``history`` how it
came to be, ``arrays`` and ``sizing`` what is special to those; the ``levers`` are tried by running the model again.
``refused`` is about submissions that are refused, ``places`` about nodes and partitions, ``shares`` about fair share.
"""

from gnomon.insight.slurm.answer import explain

__all__ = ["explain"]
