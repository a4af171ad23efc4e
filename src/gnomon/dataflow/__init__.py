"""Jobs as graphs of stages, and what they mean on real records; knows no time."""

from gnomon.dataflow.collection import Collection
from gnomon.dataflow.graph import Dataflow
from gnomon.dataflow.stage import Graph, Stage

__all__ = ["Collection", "Dataflow", "Graph", "Stage"]
