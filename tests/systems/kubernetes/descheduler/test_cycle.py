"""The descheduler in runs: when it acts, what becomes of whom it evicts, whom budgets keep, and when it is over."""

from __future__ import annotations

from typing import Any

from gnomon.api import simulate
from gnomon.engine.log import Kind
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import Object, events, job, node, play, rows, spec, starts, workload

VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


def policy(plugins: dict[str, Object], point: str = "balance", evictor: Object | None = None, **top: Any) -> Object:
    given = [{"name": name, "args": args} for name, args in {**plugins, "DefaultEvictor": evictor or {}}.items()]
    profile = {"name": "p", "pluginConfig": given, "plugins": {point: {"enabled": [*plugins]}}}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}


LOW = {"LowNodeUtilization": {"thresholds": {"memory": 25}, "targetThresholds": {"memory": 70}}}
TWINS: dict[str, Object] = {"RemoveDuplicates": {}}


def bound(name: str, where: str, owner: str, memory: str, **more: Any) -> Object:
    refs = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}]
    metadata = {"name": name, "uid": name, "labels": {"app": owner}, "ownerReferences": refs}
    template = spec(requests={"memory": memory}, **more)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**template, "nodeName": where}}


def owner(name: str, replicas: int, memory: str) -> Object:
    one = workload("ReplicaSet", name, replicas, spec(requests={"memory": memory}))
    one["metadata"]["uid"] = name
    return one


def too_big() -> list[Object]:
    """User problem U16: a pod that overloads whichever node it is on."""
    nodes = [node(name, memory="100Gi") for name in ("a", "b", "c")]
    pods = [bound("big-0", "a", "big", "75Gi"), bound("s-0", "b", "s", "20Gi"), bound("s-1", "c", "s", "20Gi")]
    return [*nodes, *pods, owner("big", 1, "75Gi"), owner("s", 2, "20Gi")]


def evictions(run: Any) -> list[tuple[float, str, str]]:
    return [(when, task, where) for when, _, task, where, reason in rows(run, Kind.FAIL) if reason == "DELETED"]


def budget(name: str, app: str, **more: Any) -> Object:
    body = {"selector": {"matchLabels": {"app": app}}, **more}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": body}


class TestTheSamePodAgainAndAgain:
    def test_every_five_minutes_wherever_it_is(self) -> None:
        for seed in range(3):
            run = play([*too_big(), policy(LOW)], until_s=3600, seed=seed)
            gone = evictions(run)
            assert [when for when, _, _ in gone] == [300 * k for k in range(1, 13)]
            assert {task for _, task, _ in gone} == {"big-0"}
            where = [place for _, _, place in gone]
            assert where[::2] == ["a"] * 6  # the empty node has the best score each time

    def test_its_place_is_held_until_it_has_stopped(self) -> None:
        run = play([*too_big(), policy(LOW)], until_s=400)
        copies = [(when, kind) for when, kind, *_ in rows(run, Kind.COPY, Kind.COPY_END)]
        assert copies == [(300, "COPY"), (330, "COPY_END")]

    def test_without_a_grace_period_it_is_gone_at_once(self) -> None:
        run = play([*too_big(), policy(LOW, gracePeriodSeconds=0)], until_s=400)
        assert rows(run, Kind.COPY) == []
        assert starts(run)[-1] == (300, "big-0")

    def test_a_run_without_an_end_stops_when_all_is_as_it_was(self) -> None:
        run = simulate(scenario_of(objects_of([*too_big(), policy(LOW)])), invariants=True)
        assert [when for when, _, _ in evictions(run)] == [300, 600, 900]

    def test_the_interval_is_what_is_said(self) -> None:
        said: Object = {"metadata": {"annotations": {"gnomon.dev/descheduling-interval": "2m"}}}
        run = play([*too_big(), policy(LOW, **said)], until_s=300)
        assert [when for when, _, _ in evictions(run)] == [120, 240]

    def test_a_single_node_is_left_alone(self) -> None:
        run = play([node("a", memory="100Gi"), *too_big()[3:4], policy(TWINS)], until_s=900)
        assert evictions(run) == []


class TestTheTargetThatEndsIt:
    """Its share of 75 and the 20 that are on b and c: 95 do wherever it is, 94 do not once it is not alone."""

    def run(self, target: int, where: str) -> Any:
        plugin = {"LowNodeUtilization": {"thresholds": {"memory": 25}, "targetThresholds": {"memory": target}}}
        objects = [one for one in too_big() if one["metadata"]["name"] != "big-0"]
        return play([*objects, bound("big-0", where, "big", "75Gi"), policy(plugin)], until_s=1000)

    def test_95_is_enough_anywhere(self) -> None:
        assert all(evictions(self.run(95, where)) == [] for where in ("a", "b", "c"))

    def test_94_is_so_only_where_it_is_alone(self) -> None:
        assert evictions(self.run(94, "a")) == []
        assert [when for when, _, _ in evictions(self.run(94, "b"))] == [300]  # and then it is alone on a


def test_a_pod_without_an_owner_that_says_it_may_go_is_lost() -> None:
    one = bound("w-1", "a", "w", "1Gi")
    bare = bound("bare", "a", "w", "60Gi")
    del bare["metadata"]["ownerReferences"]
    bare["metadata"]["annotations"] = {"descheduler.alpha.kubernetes.io/evict": "true"}
    nodes = [node("a", memory="70Gi"), node("b", memory="100Gi")]
    run = play([*nodes, one, owner("w", 1, "1Gi"), bare, policy(LOW)], until_s=1000)
    assert evictions(run) == [(300, "w-1", "a"), (300, "bare", "a")]  # 61 of 70 GiB, and then still 60
    assert [when for when, task in starts(run) if task == "bare"] == [0]


class TestDuplicates:
    def test_the_replacement_goes_elsewhere_and_that_is_that(self) -> None:
        pods = [bound(f"w-{k}", "a", "w", "1Gi") for k in range(4)]
        run = play([node("a"), node("b"), *pods, owner("w", 4, "1Gi"), policy(TWINS)], until_s=3600)
        assert evictions(run) == [(300, "w-2", "a"), (300, "w-3", "a")]
        assert {where for when, _, task, where, _ in rows(run, Kind.START) if when == 300} == {"b"}


class TestBudgets:
    def objects(self, *budgets: Object) -> list[Object]:
        pods = [bound(f"w-{k}", "a", "w", "1Gi") for k in range(4)]
        return [node("a"), node("b"), *pods, owner("w", 4, "1Gi"), policy(TWINS), *budgets]

    def test_only_as_many_go_as_may(self) -> None:
        run = play(self.objects(budget("one", "w", minAvailable=3)), until_s=310)
        assert evictions(run) == [(300, "w-2", "a")]
        (said,) = [text for _, reason, text in events(run) if reason == "EvictionFailed"]
        assert said.startswith("pod eviction from a node by sigs.k8s.io/descheduler failed: ")
        assert said.endswith(f'error when evicting pod (ignoring) "w-3": {VIOLATED}')

    def test_max_unavailable_counts_from_the_replicas(self) -> None:
        assert len(evictions(play(self.objects(budget("one", "w", maxUnavailable="25%")), until_s=310))) == 1
        assert evictions(play(self.objects(budget("one", "w", maxUnavailable=0)), until_s=3600)) == []

    def test_two_budgets_for_one_pod_let_nobody_go(self) -> None:
        run = play(self.objects(budget("one", "w", minAvailable=1), budget("two", "w", minAvailable=1)), until_s=310)
        assert evictions(run) == []
        assert any("more than one PodDisruptionBudget" in text for _, _, text in events(run))


class TestRestarts:
    """Killed every 82.4 s, it starts again at once and then after 10, 20, 40 and 80 s."""

    def run(self, interval: str) -> Any:
        crashing = {"gnomon.dev/usage-memory": "0s 100Mi, 100s 600Mi"}
        template = spec(requests={"memory": "100Mi"}, limits={"memory": "512Mi"})
        leaky = workload("ReplicaSet", "leaky", 1, template, crashing)
        plugin = {"RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 4}}
        said: Object = {"metadata": {"annotations": {"gnomon.dev/descheduling-interval": interval}}}
        return play([node("a"), node("b"), leaky, policy(plugin, "deschedule", **said)], until_s=700)

    def test_a_pod_with_too_many_is_made_anew(self) -> None:
        run = self.run("5m")  # three restarts at 300 s, five at 600 s
        (when,) = [when for when, reason, _ in events(run) if reason == "RemovePodsHavingTooManyRestarts"]
        assert when == 600
        assert len([at for at, _ in starts(run) if at < when]) == 1 + 5
        assert [round(float(at), 1) for at, _ in starts(run) if at >= when] == [
            600,
            682.4,
        ]  # a new pod, and its first restart

    def test_also_while_it_waits_for_the_next(self) -> None:
        run = self.run("500s")
        (when,) = [when for when, reason, _ in events(run) if reason == "RemovePodsHavingTooManyRestarts"]
        assert when == 500
        assert [round(float(at), 1) for at, _ in starts(run) if at > 399] == [399.6, 500, 582.4, 674.8]


def test_a_job_is_told_that_its_pod_was_disrupted() -> None:
    """podFailurePolicy Ignore for DisruptionTarget: the eviction does not count among its failures."""
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    twins = job(
        "j",
        spec(requests={"memory": "1Gi"}),
        {"gnomon.dev/duration": "8m"},
        parallelism=2,
        completions=2,
        backoffLimit=0,
        podFailurePolicy={"rules": [rule]},
    )
    run = play([node("a"), node("b", memory="512Mi"), twins, policy(TWINS)], until_s=3600)
    assert [(when, reason) for when, *_, reason in rows(run, Kind.FAIL)] == [(300, "DRAINED")]
    assert len(rows(run, Kind.END)) == 2


def test_a_run_without_an_end_ends_though_a_pod_that_would_end_never_starts() -> None:
    """The big pod goes round for ever; the Job's pod asks for a node label that there is not, and waits for ever."""
    stuck = job("stuck", spec(nodeSelector={"pool": "none"}), {"gnomon.dev/duration": "1m"})
    scenario = scenario_of(objects_of([*too_big(), policy(LOW), stuck]))
    log = simulate(scenario).log
    assert log.t_ns[-1] < 3 * 3600 * 10**9
    assert len(set(log.t_ns[log.kind == Kind.FAIL].tolist())) >= 2
