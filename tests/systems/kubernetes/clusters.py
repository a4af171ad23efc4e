"""Random small clusters and pods, with labels, taints and terms that meet often."""

from __future__ import annotations

from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    SCHEDULE_ANYWAY,
    ZONE,
    Affinity,
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from gnomon.systems.kubernetes.api.objects import Container, ContainerPort, Node, Pod, PodSpec

MIB = 2**20
KEYS = st.sampled_from([HOSTNAME, ZONE, "rack"])
APPS = st.sampled_from(["a", "b"])

taints = st.builds(
    Taint,
    st.sampled_from(["t", "u"]),
    st.sampled_from(["", "x"]),
    st.sampled_from([NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE]),
)
tolerations = st.builds(
    Toleration,
    st.sampled_from(["", "t", "u"]),
    st.just("Exists"),
    st.just(""),
    st.sampled_from(["", NO_SCHEDULE, PREFER_NO_SCHEDULE]),
)
selectors = st.one_of(
    st.none(),
    st.just(LabelSelector()),
    st.builds(lambda app: LabelSelector((Requirement("app", "In", (app,)),)), APPS),
    st.builds(lambda app: LabelSelector((Requirement("app", "NotIn", (app,)),)), APPS),
)
pod_terms = st.builds(
    PodAffinityTerm, KEYS, selectors, st.sampled_from([(), ("default",), ("other",), ("default", "other")])
)
weighted_terms = st.builds(WeightedPodAffinityTerm, st.integers(1, 100), pod_terms)
node_terms = st.builds(
    lambda key, values: NodeSelectorTerm((Requirement(key, "In", tuple(values)),)),
    st.sampled_from([ZONE, "rack"]),
    st.lists(st.sampled_from(["z0", "z1", "r0", "r1"]), min_size=1, max_size=3),
)
constraints = st.builds(
    TopologySpreadConstraint,
    st.integers(1, 3),
    KEYS,
    st.sampled_from([DO_NOT_SCHEDULE, SCHEDULE_ANYWAY]),
    selectors,
    st.sampled_from([None, 2, 3]),
    st.sampled_from(["Honor", "Ignore"]),
    st.sampled_from(["Honor", "Ignore"]),
)


def few(strategy: st.SearchStrategy[object], most: int = 2) -> st.SearchStrategy[tuple[object, ...]]:
    """Mostly none."""
    return st.one_of(st.just(()), st.lists(strategy, max_size=most).map(tuple))


affinities = st.builds(
    Affinity,
    st.one_of(st.none(), st.none(), st.lists(node_terms, min_size=1, max_size=2).map(tuple)),
    few(st.builds(PreferredNodeTerm, st.integers(1, 100), node_terms)),
    few(pod_terms),
    few(weighted_terms),
    few(pod_terms, 1),
    few(weighted_terms),
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    labels = {HOSTNAME: name} if draw(st.integers(0, 9)) else {}
    if draw(st.integers(0, 5)):
        labels[ZONE] = draw(st.sampled_from(["z0", "z1", "z2"]))
    if draw(st.booleans()):
        labels["rack"] = draw(st.sampled_from(["r0", "r1"]))
    amounts = {
        "cpu": draw(st.sampled_from([1000, 2000, 4000])),
        "memory": draw(st.sampled_from([0, 1024, 4096])) * MIB,
        "pods": draw(st.sampled_from([2, 5, 110])),
    }
    listed = draw(few(taints))
    return Node(name, labels, {}, listed, draw(st.integers(0, 9)) == 0, amounts, amounts)  # type: ignore[arg-type]


@st.composite
def specs(draw: st.DrawFn) -> PodSpec:
    requests = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "cpu": st.sampled_from([100, 500, 1500]),
                "memory": st.sampled_from([64, 512, 2048]).map(lambda n: n * MIB),
                "example.com/gpu": st.just(1),
            },
        )
    )
    ports = (ContainerPort(80, 8080),) if draw(st.integers(0, 9)) == 0 else ()
    return PodSpec(
        (Container("c", "app:1", requests, ports=ports),),
        affinity=draw(affinities),
        tolerations=draw(few(tolerations)),  # type: ignore[arg-type]
        topology_spread_constraints=draw(few(constraints)),  # type: ignore[arg-type]
        priority=draw(st.sampled_from([0, 0, 10])),
    )


@st.composite
def pods(draw: st.DrawFn, name: str, templates: list[PodSpec]) -> Pod:
    namespace = draw(st.sampled_from(["default", "default", "other"]))
    return Pod(name, namespace, {"app": draw(APPS)}, spec=draw(st.sampled_from(templates)))
