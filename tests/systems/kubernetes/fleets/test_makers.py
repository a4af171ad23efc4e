"""Which pods workloads make, or may make: a place for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gnomon.engine.log import State
from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.objects import Container, PodSpec
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL, REVISION
from gnomon.systems.kubernetes.api.workloads import PodTemplate
from gnomon.systems.kubernetes.fleets.fleet import Change
from gnomon.systems.kubernetes.fleets.job_runs import runs_of
from gnomon.systems.kubernetes.fleets.makers import Made, Maker, template_hash, with_hash
from gnomon.systems.kubernetes.read.files import objects_of
from tests.systems.kubernetes.play import Object, S, events, job, node, play, pod, spec, workload


def made(objects: Sequence[Object], *changes: tuple[int, Sequence[Object]]) -> Made:
    applied = [Change(at_s * S, objects_of(list(later))) for at_s, later in changes]
    read = objects_of(list(objects))
    return Maker(read, applied, lambda one: one).all(runs_of(read, applied, NEVER))


def places(found: Made) -> dict[str, int | None]:
    """By pod when it is to be created, in seconds; None: when its controller says so."""
    pairs = zip(found.pods, found.submit_ns, strict=True)
    return {one.name: None if at >= NEVER else at // S for one, at in pairs}


def owned(name: str, kind: str, owner: str, **more: Any) -> Object:
    found = pod(name, labels={"app": owner}, **more)
    found["metadata"]["uid"] = name
    found["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": kind, "name": owner, "controller": True}]
    return found


class TestReplicaSets:
    def test_a_place_for_each_replica(self) -> None:
        found = made([workload("ReplicaSet", "r", 2, spec())])
        assert places(found) == {"r-0": 0, "r-1": 0}
        assert (found.fleets[0].kind, found.fleets[0].tasks, found.fleets[0].wanted) == ("ReplicaSet", (0, 1), 2)

    def test_pods_that_are_there_are_among_them(self) -> None:
        found = made([workload("ReplicaSet", "r", 2, spec()), owned("r-x", "ReplicaSet", "r", nodeName="n1")])
        assert places(found) == {"r-x": 0, "r-0": 0}

    def test_more_pods_than_wanted_are_places_too(self) -> None:
        there = [owned(f"r-{letter}", "ReplicaSet", "r", nodeName="n1") for letter in "abc"]
        found = made([workload("ReplicaSet", "r", 1, spec()), *there])
        assert (len(found.fleets[0].tasks), found.fleets[0].wanted) == (3, 1)

    def test_no_two_pods_have_one_name(self) -> None:
        found = made([workload("ReplicaSet", "r", 1, spec()), pod("r-0")])
        assert list(places(found)) == ["r-0", "r-0-1"]

    def test_one_that_goes_without_ever_having_had_a_node_takes_no_place(self) -> None:
        goes = owned("r-x", "ReplicaSet", "r")
        goes["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        found = made([workload("ReplicaSet", "r", 1, spec()), goes])
        assert [found.pods[task].name for task in found.fleets[0].tasks] == ["r-0"]


class TestDeployments:
    OLD, NEW = spec(image="app:1"), spec(image="app:2")

    def shop(self, replicas: int, template: Object) -> Object:
        return workload("Deployment", "shop", replicas, template)

    def test_its_pods_are_those_of_a_replica_set_that_is_named_by_the_template(self) -> None:
        found = made([self.shop(2, self.OLD)])
        (one,) = found.replica_sets
        digest = found.pods[0].labels[HASH_LABEL]
        assert (one.name, found.pods[0].owner and found.pods[0].owner.name) == (f"shop-{digest}", f"shop-{digest}")
        assert places(found) == {"shop-0": 0, "shop-1": 0}

    def test_a_new_version_has_places_of_its_own_which_its_controller_fills(self) -> None:
        found = made([self.shop(2, self.OLD)], (60, [self.shop(2, self.NEW)]))
        later = [name for name, at in places(found).items() if at is None]
        assert all(re.fullmatch(r"shop-[bcdf-hj-np-tv-xz2456789]+-[01]", name) for name in later)
        assert [(at // S, number) for at, _, number in found.rollouts[0].specs] == [(0, 0), (60, 1)]

    def test_an_earlier_version_again_is_the_same_fleet(self) -> None:
        found = made([self.shop(2, self.OLD)], (60, [self.shop(2, self.NEW)]), (120, [self.shop(2, self.OLD)]))
        assert [number for _, _, number in found.rollouts[0].specs] == [0, 1, 0]

    def test_scaling_up_has_places_for_those_that_come(self) -> None:
        """A pod that was deleted to scale down is not made again in its old place."""
        found = made([self.shop(3, self.OLD)], (60, [self.shop(1, self.OLD)]), (120, [self.shop(2, self.OLD)]))
        assert list(places(found).values()) == [0, 0, 0, None]

    def test_one_that_comes_by_a_change_is_made_then(self) -> None:
        found = made([], (60, [self.shop(2, self.OLD)]))
        assert places(found) == {"shop-0": None, "shop-1": None}
        assert found.rollouts[0].specs[0][0] == 60 * S


class TestDeploymentsThatRun:
    """Their ReplicaSets are among the objects: the template tells which is the present one, else the revision."""

    OLD, NEW = spec(image="app:1"), spec(image="app:2")

    def replica_set(self, digest: str, replicas: int, template: Object, revision: int) -> Object:
        found = workload("ReplicaSet", f"shop-{digest}", replicas, template, {REVISION: str(revision)})
        found["metadata"]["ownerReferences"] = [{"kind": "Deployment", "name": "shop", "controller": True}]
        found["spec"]["template"]["metadata"]["labels"] = {"app": "shop", HASH_LABEL: digest}
        found["spec"]["selector"] = {"matchLabels": {"app": "shop"}}
        return found

    def shop(self, replicas: int, template: Object, revision: int = 0) -> Object:
        return workload("Deployment", "shop", replicas, template, {REVISION: str(revision)})

    def test_a_new_version_goes_on_from_the_replica_set_that_is_there(self) -> None:
        there = [owned(f"shop-abc-{letter}", "ReplicaSet", "shop-abc", nodeName="n1") for letter in "xy"]
        objects = [self.shop(2, self.OLD, 1), self.replica_set("abc", 2, self.OLD, 1), *there]
        found = made(objects, (60, [self.shop(2, self.NEW)]))
        first = found.fleets[found.rollouts[0].specs[0][2]]
        assert (first.name, first.wanted) == ("shop-abc", 2)
        assert list(places(found).values()) == [0, 0, None, None]

    def test_a_rollout_goes_on_in_the_middle(self) -> None:
        sets = [self.replica_set("new", 1, self.NEW, 2), self.replica_set("abc", 2, self.OLD, 1)]
        found = made([self.shop(3, self.NEW, 2), *sets], (60, [self.shop(4, self.NEW)]))
        rollout = found.rollouts[0]
        assert [found.fleets[number].name for _, _, number in rollout.specs] == ["shop-new", "shop-new"]
        assert [found.fleets[number].name for number in rollout.old] == ["shop-abc"]
        assert len(found.fleets[rollout.specs[0][2]].tasks) == 4  # 1 that is there, 2 to 3, and 1 more at 60 s

    def test_back_to_an_earlier_version(self) -> None:
        sets = [self.replica_set("new", 2, self.NEW, 2), self.replica_set("abc", 0, self.OLD, 1)]
        found = made([self.shop(2, self.NEW, 2), *sets], (60, [self.shop(2, self.OLD)]))
        names = [found.fleets[number].name for _, _, number in found.rollouts[0].specs]
        assert names == ["shop-new", "shop-abc"]

    def test_the_revision_tells_where_no_template_is_the_same(self) -> None:
        sets = [self.replica_set("b", 2, spec(image="x"), 7), self.replica_set("a", 0, spec(image="y"), 8)]
        found = made([self.shop(2, self.OLD, 7), *sets], (60, [self.shop(2, self.NEW)]))
        assert found.fleets[found.rollouts[0].specs[0][2]].name == "shop-b"

    def test_it_rolls_within_its_bounds(self) -> None:
        there = [owned(f"shop-abc-{n}", "ReplicaSet", "shop-abc", nodeName="n1") for n in range(4)]
        objects = [node("n1"), self.shop(4, self.OLD, 1), self.replica_set("abc", 4, self.OLD, 1), *there]
        run = play(objects, until_s=600, changes=[(60, [self.shop(4, self.NEW)])])
        scaled = [(when, text.partition("set ")[2]) for when, reason, text in events(run) if "Scaled" in text]
        new = made(objects, (60, [self.shop(4, self.NEW)])).replica_sets[-1].name
        assert scaled[:2] == [(60, f"{new} from 0 to 1"), (60, "shop-abc from 4 to 3")]  # surge 1, unavailable 1
        assert scaled[-1][1] in (f"{new} from 3 to 4", "shop-abc from 1 to 0")
        states = run.outcome.state.tolist()
        running = [run.scenario.work.id(i) for i, state in enumerate(states) if state == State.RUNNING]
        assert len(running) == 4
        assert all(name.startswith(f"default/{new}-") for name in running)


class TestOthers:
    def test_a_stateful_sets_pods_have_ordinals_and_wait_for_its_controller(self) -> None:
        found = made([workload("StatefulSet", "db", 2, spec())])
        assert places(found) == {"db-0": None, "db-1": None}
        assert [one.labels["apps.kubernetes.io/pod-index"] for one in found.pods] == ["0", "1"]

    def test_an_ordinal_that_is_there_keeps_its_pod(self) -> None:
        found = made([workload("StatefulSet", "db", 2, spec()), owned("db-1", "StatefulSet", "db", nodeName="n1")])
        assert [found.pods[task].name for task in found.fleets[0].tasks] == ["db-0", "db-1"]
        assert places(found) == {"db-1": 0, "db-0": None}

    def test_a_job_has_a_place_for_each_completion(self) -> None:
        assert places(made([job("j", spec(), completions=3)])) == {"j-0": None, "j-1": None, "j-2": None}

    def test_an_indexed_job_tells_its_pods_their_index(self) -> None:
        found = made([job("j", spec(), completions=2, completionMode="Indexed")])
        assert [one.labels["batch.kubernetes.io/job-completion-index"] for one in found.pods] == ["0", "1"]

    def test_pods_that_have_ended_take_no_place(self) -> None:
        over = pod("p")
        over["status"] = {"phase": "Succeeded"}
        assert places(made([node("n1"), over])) == {}

    def test_what_a_workload_says_of_its_pods_is_said_of_each(self) -> None:
        """Annotations of the workload, where its template has none of that name."""
        said = {"gnomon.dev/duration": "5m", "other": "x"}
        assert made([workload("ReplicaSet", "r", 1, spec(), annotations=said)]).pods[0].annotations == {
            "gnomon.dev/duration": "5m"
        }


class TestHashes:
    def test_equal_templates_have_one_and_others_another(self) -> None:
        one, same, other = (PodTemplate(spec=PodSpec((Container("c", image),))) for image in ("a", "a", "b"))
        assert template_hash(one) == template_hash(same) != template_hash(other)

    def test_it_has_the_letters_of_the_real_one(self) -> None:
        """``rand.SafeEncodeString`` (k8s.io/apimachinery/pkg/util/rand)."""
        assert set(template_hash(PodTemplate())) <= set("bcdfghjklmnpqrstvwxz2456789")

    def test_it_is_a_label_of_the_template(self) -> None:
        assert with_hash(PodTemplate(labels={"app": "a"})).labels["app"] == "a"
