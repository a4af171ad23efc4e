"""Jobs as graphs of stages, and what they mean on real records; knows no time.

A job is declared by ``graph.Dataflow`` and ``collection.Collection``, and is a ``stage.Graph`` then; ``layout_of``
(``layout``) decides what crosses the network, ``plan.cut`` which stages run. ``execute.run_task`` makes the records of
one task (``operators``, ``partition``, ``hashing``, ``sampling``), ``execute.run_plan`` all of them; where a function
of the user raises, ``failing`` says whose lines and on which record. ``checks.check_plan`` runs what engines are free
to do otherwise. ``sorted_shuffle.map_task``, ``reduce_task`` are the same on sorted files (``sorting``,
``spill_buffer``, ``merging``, ``fetching``); ``splits``, ``storage``, ``commit`` are files as contracts; ``cost`` says
how long a task takes.
"""

from gnomon.dataflow.collection import Collection
from gnomon.dataflow.graph import Dataflow
from gnomon.dataflow.stage import Graph, Stage

__all__ = ["Collection", "Dataflow", "Graph", "Stage"]
