"""What a placement policy makes of one node: the score that it would compare with those of other nodes."""

from __future__ import annotations

from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.resources import E4, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape, Task, Work
from gnomon.scheduling.codes import PLACEMENT, PLACEMENT_CODES
from gnomon.scheduling.compose import compose
from gnomon.scheduling.layout import lay_out
from gnomon.scheduling.policy import parse_policy
from gnomon.scheduling.scores import points, score

_NOTHING = Resources()


def grade(placement: str, capacity: Resources, *, used: Resources = _NOTHING, request: Resources = _NOTHING) -> float:
    """The score, from 0 to 100 and the higher the better, of a node with ``capacity`` of which ``used`` is taken.

    ``request``: what the task asks for that is to be placed (nothing: the node as it stands). The node counts as the
    largest of its cluster. Devices are used from the first on. ``placement`` may carry options: ``best-fit:over=cpu``.
    Raises InputError for an unknown placement, or if more is used than there is.

    An 8-CPU node with 6 in use under Kubernetes' least-requested rule, which scores from 0 to 10 or 100:

    >>> grade("least-allocated", Resources(cpu_milli=8000), used=Resources(cpu_milli=6000))
    25.0
    """
    policy = parse_policy(placement)
    if placement.partition(":")[0] not in PLACEMENT_CODES:
        raise unknown_name("placement", placement, PLACEMENT_CODES)
    work = Work.from_tasks([Task("task", Shape(request))])
    scenario = Scenario(Cluster((Node("node", capacity),)), work, policy)
    world, layout = compose(scenario).world, lay_out(scenario)
    taken = layout.row(used, devices=capacity.gpus)
    taken[layout.plain :] = [each * used.gpu_share_e4 // E4 for each in taken[layout.plain :]]
    world.free[0] -= taken
    if (world.free[0] < 0).any() or used.gpus > capacity.gpus or set(used.names()) - set(layout.names):
        raise InputError("a node cannot have more in use than it has", found=used)
    return float(points(world, score(world, int(world.opt[PLACEMENT]), 0, 0)))
