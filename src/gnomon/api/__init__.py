"""The facade: load a scenario, run it, and ask what happened.

``load.load_scenario`` reads a file: ``scenario_file`` (with ``scenario_policy``, ``scenario_faults``) what stands in
YAML, ``python_file`` what Python defines, ``parts`` the clusters and works that they name (``joining``), ``native`` the
files of a system (``scenario_native``), ``job_scenario`` the ``jobs`` of dataflow; ``scenario_write`` writes them.
``recognise`` tells which it is, ``systems`` which systems there are (and ``to_come``). ``simulating.simulate`` runs it,
``simulating.compare`` several side by side. A ``run.Run`` is the log and all that is told from it (``tables``),
``kept`` and read back. ``explaining``, ``chaos``, ``checking``, ``running`` and ``verify`` are the verbs of these
names.

>>> from gnomon.api import Cluster, Scenario, Task, Work, simulate
>>> work = Work.from_tasks([Task("a", duration_ns=10 * 10**9)])
>>> simulate(Scenario(Cluster.of_processors(4), work)).metrics()["makespan_s"]
10.0
"""

from __future__ import annotations

from gnomon.api.explaining import explain, explain_recorded
from gnomon.api.run import Run
from gnomon.api.scenario import Scenario
from gnomon.api.simulating import calibrate, compare, simulate
from gnomon.engine.log import Kind, Reason, State, Waiting
from gnomon.insight.explain import Explanation
from gnomon.model.cluster import Cluster, Machine, Node, Reservation
from gnomon.model.errors import GnomonError, InputError, InvariantError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.operation import (
    Budget,
    ControlPlane,
    Enforcement,
    Eviction,
    Heartbeat,
    Operation,
    Pauses,
    Pressure,
    Probe,
    Speculation,
)
from gnomon.model.recovery import Backoff, Checkpoint, Recovery, Retry
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Policy, Tenant
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.scheduling.custom import View, dynamic
from gnomon.scheduling.policy import POLICY_NAMES, parse_policy

__all__ = [
    "NEVER",
    "POLICY_NAMES",
    "Backoff",
    "Budget",
    "Checkpoint",
    "Cluster",
    "ControlPlane",
    "Enforcement",
    "Eviction",
    "Explanation",
    "Failure",
    "FailureProcess",
    "Fault",
    "GnomonError",
    "Heartbeat",
    "InputError",
    "InvariantError",
    "Kind",
    "Law",
    "Limits",
    "Machine",
    "Node",
    "Note",
    "Operation",
    "Pauses",
    "Policy",
    "Pressure",
    "Probe",
    "Profile",
    "Reason",
    "Recovery",
    "Reservation",
    "Resources",
    "Retry",
    "Run",
    "Scenario",
    "Shape",
    "Speculation",
    "State",
    "Task",
    "Tenant",
    "Usage",
    "View",
    "Waiting",
    "Work",
    "calibrate",
    "compare",
    "dynamic",
    "explain",
    "explain_recorded",
    "parse_policy",
    "simulate",
]
