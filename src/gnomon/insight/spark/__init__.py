"""Why an application of Spark took so long, or failed, from its event log, and what would change it.

``answer.explain`` finds what is asked about (``subjects``) and puts the answer together: of the application
(``story_app``), a job or stage (``story_stage``, ``story_parts``), of one that ``failed`` (``abort``, ``meanings``:
what failures really say). ``path`` is the critical path, ``slow`` the causes that make a stage slow (``stragglers``,
``idle``, ``idleness``; ``figures`` of a stage, ``events``: rows of the log). ``advice`` gives the changes that a
simulation confirms, each tried on a ``bench`` (``rerun``, ``repairs``). ``run_summary`` sums up a run, ``declared`` a
job in Python; ``views``, ``tables`` and ``words``: how it is shown.
"""

from gnomon.insight.spark.answer import explain, explain_recorded

__all__ = ["explain", "explain_recorded"]
