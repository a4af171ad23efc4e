"""Why an application of Spark took so long, or failed, from its event log, and what would change it.

``answer`` finds what is asked about and puts the answer together; ``path`` is the critical path, ``slow`` the causes
that make a stage slow, ``meanings`` what failures really say, ``advice`` the changes that a simulation confirms.
"""

from gnomon.insight.spark.answer import explain, explain_recorded

__all__ = ["explain", "explain_recorded"]
