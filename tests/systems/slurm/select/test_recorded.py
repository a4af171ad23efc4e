"""1,036 random jobs, one after another, on 13 small clusters of a real Slurm 22.05.8: where each went, which waited.

Each file has the configuration and the events in order: a job that started, that waited (``pending``) or was refused,
and jobs that were cancelled.
"""

import json
import re
from typing import Any

import pytest

from gnomon.systems.slurm.select import Allocation
from tests.shared import ROOT
from tests.systems.slurm.otherwise import PLACES
from tests.systems.slurm.select.replaying import Cluster, conf_in, is_of_placement, places_of, request_of

pytestmark = pytest.mark.golden

FILES = sorted((ROOT / "tests" / "data" / "slurm" / "select").glob("*.json"))


def verdict(cluster: Cluster, event: dict[str, Any], held: dict[str, Allocation]) -> tuple[Any, Any]:
    """What was recorded and what the model says of one submission; then the recorded one is taken."""
    line = event["args"]
    demand, required = cluster.demand(line), cluster.mask(request_of(line).node_list)
    selector = cluster.selector
    if "refused" in event:
        refused = selector.shortfall(demand, cluster.everywhere) is not None
        return True, refused or not selector.fits_ever(demand, cluster.everywhere, required)
    found = selector.select(cluster.occupancy, demand, cluster.everywhere, required)
    if "pending" in event:
        return None, cluster.places(found)
    places = places_of(event["nodes"])
    total = re.search(r"cpu=(\d+)", event["tres"])
    assert total is not None
    taken = cluster.recorded(places, demand, int(total[1]))
    cluster.occupancy.take(taken)
    held[event["id"]] = taken
    return (places, int(total[1])), (cluster.places(found), found.total_cpus if found else 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_jobs_get_what_they_got(path: Any) -> None:
    case = json.loads(path.read_text())
    cluster = Cluster(conf_in(case))
    held: dict[str, Allocation] = {}
    otherwise = set()
    for event in case["events"]:
        if "cancel" in event:
            if event["cancel"] in held:
                cluster.occupancy.give(held.pop(event["cancel"]))
        elif is_of_placement(event):
            recorded, found = verdict(cluster, event, held)
            if recorded != found:
                otherwise.add(event.get("id", event["args"]))
    assert otherwise == PLACES.get(path.stem, set())
