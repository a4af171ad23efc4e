"""The facade: load a scenario, run it, and ask what happened.

>>> from gnomon.api import Cluster, Scenario, Task, Work, simulate
>>> work = Work.from_tasks([Task("a", duration_ns=10 * 10**9)])
>>> simulate(Scenario(Cluster.of_processors(4), work)).metrics()["makespan_s"]
10.0
"""

from __future__ import annotations

from gnomon.api.explaining import explain
from gnomon.api.run import Run
from gnomon.api.scenario import Scenario
from gnomon.api.simulating import calibrate, compare, simulate
from gnomon.engine.log import Kind, Reason, State, Waiting
from gnomon.insight.explain import Explanation
from gnomon.model.cluster import Cluster, Node, Reservation
from gnomon.model.errors import GnomonError, InputError, InvariantError
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Policy, Tenant
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.scheduling.custom import View, dynamic
from gnomon.scheduling.policy import POLICY_NAMES, parse_policy

__all__ = [
    "NEVER",
    "POLICY_NAMES",
    "Cluster",
    "Explanation",
    "GnomonError",
    "InputError",
    "InvariantError",
    "Kind",
    "Limits",
    "Node",
    "Note",
    "Policy",
    "Reason",
    "Reservation",
    "Resources",
    "Run",
    "Scenario",
    "Shape",
    "State",
    "Task",
    "Tenant",
    "View",
    "Waiting",
    "Work",
    "calibrate",
    "compare",
    "dynamic",
    "explain",
    "parse_policy",
    "simulate",
]
