"""Scenarios drawn at random: small ones in which tasks wait for every reason."""

from __future__ import annotations

from hypothesis import strategies as st

from gnomon.model.cluster import Cluster, Node, Reservation
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.scenario import Limits, Scenario, Tenant
from gnomon.model.work import Shape, Task, Work
from gnomon.scheduling.policy import parse_policy

S = 10**9
GI = 2**30
POLICIES = (
    *("fcfs", "sjf", "priority", "edf", "largest", "fcfs:full=drop", "fair-share:blocks=all"),
    *("easy", "priority+easy", "easy+best-fit", "conservative", "fair-share", "drf", "round-robin"),
)
FAIR = ("fair-share", "drf", "round-robin")

_seconds = st.integers(0, 15).map(lambda n: n * S)
_requests = st.builds(
    Resources,
    cpu_milli=st.sampled_from((500, 1000, 2000, 4000, 9000)),
    memory_bytes=st.sampled_from((0, GI, 8 * GI)),
    gpus=st.sampled_from((0, 0, 1, 2)),
    named=st.sampled_from(((), (), (("licence", E4),))),
) | st.builds(Resources, cpu_milli=st.just(1000), gpus=st.just(1), gpu_share_e4=st.sampled_from((5000, 6000)))
_shapes = st.builds(
    Shape,
    _requests,
    st.sampled_from(((), (), ("A",), ("A", "B"), ("C",))),
    st.sampled_from(((), (), (), (("zone", "1"),))),
)
_nodes = st.builds(
    Node,
    st.just("n"),
    st.builds(
        Resources,
        cpu_milli=st.sampled_from((4000, 8000)),
        memory_bytes=st.just(16 * GI),
        gpus=st.sampled_from((0, 2)),
        named=st.sampled_from(((), (("licence", 2 * E4),))),
    ),
    st.sampled_from(("", "A", "B")),
    st.sampled_from(((), (("zone", "1"),))),
)


@st.composite
def scenarios(draw: st.DrawFn, policies: tuple[str, ...] = POLICIES) -> Scenario:
    """A scenario of a few nodes, or a pool, and a dozen tasks."""
    pool = draw(st.booleans())
    cluster = Cluster.of_processors(draw(st.sampled_from((4, 8)))) if pool else _cluster(draw)
    shapes = st.integers(1, 6).map(lambda n: Shape(Resources(cpu_milli=1000 * n))) if pool else _shapes
    policy = draw(st.sampled_from(policies))
    return Scenario(
        cluster,
        Work.from_tasks([_task(draw, index, shapes) for index in range(draw(st.integers(1, 12)))]),
        parse_policy(policy),
        seed=draw(st.integers(0, 3)),
        limits=Limits(until_ns=draw(st.sampled_from((NEVER, 5 * S, 25 * S))), repeats=100),
        kill_at_limit=draw(st.booleans()),
        gang=draw(st.booleans()),
        preempt=draw(st.booleans()) and policy != "conservative",
        tenants_by=draw(st.sampled_from(("user", "queue"))),
        tenants=draw(st.just(()) | st.tuples(_tenant("u"), _tenant("p"))),
    )


def _cluster(draw: st.DrawFn) -> Cluster:
    nodes = draw(st.lists(_nodes, min_size=1, max_size=4))
    named = tuple(Node(f"n{i}", one.capacity, one.kind, one.labels) for i, one in enumerate(nodes))
    windows = []
    for number in range(draw(st.sampled_from((0, 0, 1, 2)))):
        begin, length = draw(st.integers(0, 20)), draw(st.integers(1, 20))
        where, users = draw(st.sampled_from(("", "n0"))), draw(st.sampled_from(((), ("u",))))
        windows.append(Reservation(f"w{number}", begin * S, (begin + length) * S, where, None, users))
    return Cluster(named, reservations=tuple(windows))


def _task(draw: st.DrawFn, index: int, shapes: st.SearchStrategy[Shape]) -> Task:
    return Task(
        f"t{index}",
        draw(shapes),
        submit_ns=draw(_seconds),
        duration_ns=draw(st.sampled_from((0, 3 * S, 10 * S, 20 * S, NEVER))),
        estimate_ns=draw(st.sampled_from((None, 5 * S, 15 * S, 30 * S))),
        user=draw(st.sampled_from("uv")),
        queue=draw(st.sampled_from("pq")),
        priority=draw(st.integers(0, 3)),
        job=draw(st.sampled_from(("", "", "j", "k"))),
    )


def _tenant(name: str) -> st.SearchStrategy[Tenant]:
    limits = (None, Resources(cpu_milli=6000), Resources(cpu_milli=9000, gpus=2))
    return st.builds(
        Tenant, st.just(name), st.sampled_from((1.0, 2.0)), st.sampled_from(limits), st.sampled_from((None, 2))
    )
