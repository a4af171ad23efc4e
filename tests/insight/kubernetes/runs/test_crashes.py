"""Containers that are killed again and again: told in a sentence, and mended whichever instant the run stops at."""

from __future__ import annotations

import pytest

from gnomon.api import explain
from gnomon.insight.explain.answer import Explanation
from tests.systems.kubernetes.play import Object, node, play, pod, spec, workload

LEAKY = {"gnomon.dev/usage-memory": "0s 100Mi, 100s 900Mi"}
"""Over 500 Mi after 50 s; 900 Mi in the end."""


def leaky(until_s: int, **more: Object) -> Explanation:
    limits = {"memory": "500Mi"}
    objects = [node("n1"), pod("leaky", LEAKY, requests={"memory": "100Mi"}, limits=limits, **more)]
    return explain("leaky", play(objects, until_s=until_s))


class TestOverItsLimit:
    @pytest.mark.parametrize("until_s", [75, 130, 180, 1000])
    def test_the_limit_that_it_needs_whether_it_runs_or_waits_at_the_end(self, until_s: int) -> None:
        (change,) = (one for one in leaky(until_s).changes if "limits.memory" in one.field)
        assert (change.before, change.after) == ("500Mi", "900Mi")
        assert change.what.endswith("it is not killed")

    def test_only_settings_of_kubernetes_are_proposed(self) -> None:
        said = " ".join(one.what for one in leaky(130).changes)
        assert "nobody" not in said
        assert "try it again" not in said

    def test_how_often_in_one_sentence(self) -> None:
        """Killed after 50 s; at once again, until 100 s; then 10 s later, until 160 s."""
        found = leaky(170)
        assert found.summary.startswith("default/leaky was OOMKilled over its own limit of 500Mi memory 3 times")
        assert found.summary.count(". ") == 0
        assert [one.event for one in found.chain if one.event == "fail"] == []

    def test_when_it_starts_next(self) -> None:
        """Killed at 50, 100 and 160 s; after that it backs off for 20 s."""
        assert leaky(170).summary.endswith("; its next start is due at 3m.")

    def test_all_pods_of_its_workload_get_the_limit(self) -> None:
        template = spec(requests={"memory": "100Mi"}, limits={"memory": "500Mi"})
        web = workload("Deployment", "web", 2, template)
        web["spec"]["template"]["metadata"]["annotations"] = LEAKY
        found = explain("deployment/web", play([node("n1"), web], until_s=130))
        assert any(one.after == "900Mi" for one in found.changes)


@pytest.mark.parametrize("until_s", [600, 610, 700, 900])
def test_a_probe_that_kills_too_early(until_s: int) -> None:
    """It would be live after 50 s, and is killed at 30 s (three probes from 10 s on, 10 s apart)."""
    one = pod("slow", {"gnomon.dev/live-after": "50s", "gnomon.dev/stops-after": "0s"})
    one["spec"]["containers"][0]["livenessProbe"] = {"initialDelaySeconds": 10}
    found = explain("slow", play([node("n1"), one], until_s=until_s))
    assert [(change.before, change.after) for change in found.changes if "failureThreshold" in change.field] == [(3, 5)]
    assert not any("try it again" in change.what for change in found.changes)


def test_one_that_is_evicted_wherever_it_is() -> None:
    """It comes to use all that a node has: from 100 Mi below that on it is sent away, after the same time each time."""
    uses = {"gnomon.dev/usage-memory": "0s 0Mi, 1000s 1000Mi"}
    web = workload("Deployment", "fat", 1, spec(requests={"memory": "10Mi"}))
    web["spec"]["template"]["metadata"]["annotations"] = uses
    nodes = [node("n1", memory="1000Mi"), node("n2", memory="1000Mi")]
    found = explain("fat-0", play([*nodes, web], until_s=3000))
    assert found.summary.startswith("default/fat-0 was evicted as the memory of its node was used up")
    assert found.notes == (
        "it comes to use 1000Mi of memory, and n1, the largest node, has 1000Mi, of which 100Mi are to stay free: "
        "a larger node, or less use, helps",
    )
