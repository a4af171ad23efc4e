"""What a task uses over time: each form of a profile, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_AMOUNT, NEVER
from gnomon.model.usage import Profile, Usage
from gnomon.systems.plain.usage_specs import read_usage

S = 10**9
M, H = 60 * S, 3600 * S
MI, GI = 2**20, 2**30


def usage(text: str, duration_ns: int = NEVER, file: str = "f.yaml") -> Usage | None:
    (document,) = parse_yaml(text, file=file)
    return read_usage(document, duration_ns)


def profile(text: str, name: str = "memory", duration_ns: int = NEVER) -> Profile:
    found = usage(f"{name}: {text}", duration_ns)
    assert found is not None
    assert [known for known, _ in found.profiles] == [name]
    return found.profiles[0][1]


def amount_at(one: Profile, ns: int) -> Fraction:
    """What the model says of a profile, read naively: the last segment that begins at or before this time."""
    if one.every_ns:
        ns %= one.every_ns
    before = [point for point in one.points if point[0] <= ns][-1]
    after = [point for point in one.points if point[0] > ns]
    if not after:
        return Fraction(before[1])
    return before[1] + Fraction(ns - before[0], after[0][0] - before[0]) * (after[0][1] - before[1])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1Gi", Profile(((0, GI),))),
        ("{from: 1Gi, to: 6Gi, over: 10m}", Profile(((0, GI), (10 * M, 6 * GI)))),
        ("{points: [[0, 1Gi], [10m, 3Gi]]}", Profile(((0, GI), (10 * M, 3 * GI)))),
        ("{points: [[0, 0], [5, 1], [5, 9]], every: 6}", Profile(((0, 0), (5 * S, 1), (5 * S, 9)), 6 * S)),
        ("{from: 100Mi, leak: 0}", Profile(((0, 100 * MI),))),
    ],
)
def test_means(text: str, expected: Profile) -> None:
    assert profile(text) == expected


@pytest.mark.unit
def test_every_resource_has_its_own_unit_and_the_order_is_that_of_the_model() -> None:
    found = usage("{store: 1Mi, disk-io: 200M/s, disk: 1G, memory: 1Ki, cpu: 1.5}")
    assert found == Usage(
        tuple(
            (name, Profile(((0, amount),)))
            for name, amount in (
                ("cpu", 1500),
                ("memory", 1024),
                ("disk", 10**9),
                ("disk-io", 2 * 10**8),
                ("store", MI),
            )
        )
    )
    assert usage("{}") is None


@pytest.mark.unit
def test_a_leak_grows_by_so_much_a_second_far_beyond_the_task() -> None:
    one = profile("{from: 100Mi, leak: 1Mi}", duration_ns=S)
    assert [amount_at(one, ns) for ns in (0, S, H, 1000 * H)] == [100 * MI, 101 * MI, 3700 * MI, 3_600_100 * MI]
    assert one.points[-1][1] <= MAX_AMOUNT


@pytest.mark.unit
def test_spikes_end_each_period() -> None:
    one = profile("{base: 1Gi, spike: 4Gi, every: 10m, for: 30s}")
    edge = 10 * M - 30 * S
    found = [amount_at(one, ns) for ns in (0, edge - 1, edge, 10 * M - 1, 10 * M, 20 * M - 1)]
    assert found == [GI, GI, 4 * GI, 4 * GI, GI, 4 * GI]


@pytest.mark.unit
def test_points_of_a_file_beside_the_document(tmp_path: Path) -> None:
    (tmp_path / "use.csv").write_text("amount,seconds\n1Gi,0\n2Gi,1.5\n")
    found = usage("memory: {trace: use.csv}", 2 * S, file=str(tmp_path / "f.yaml"))
    assert found == Usage((("memory", Profile(((0, GI), (1_500_000_000, 2 * GI)))),))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("seconds,bytes\n0,1\n", "line 1: no column amount, found 'seconds, bytes'; allowed: amount, seconds"),
        ("seconds,amount\n", "a table without a row"),
        ("seconds,amount\n1,1\n", "line 2, seconds: the first row is at 0, found '1'"),
        ("seconds,amount\n0,1\n2,1\n1,1\n", "line 4, seconds: before the row in front of it, found '1'"),
        ("seconds,amount\n0,much\n", "line 2, amount: not an amount of memory"),
        ("seconds,amount\nsoon,1\n", "line 2, seconds: not a duration"),
    ],
)
def test_a_file_of_points_that_is_none(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "use.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        usage("memory: {trace: use.csv}", file=str(tmp_path / "f.yaml"))
    assert str(caught.value).startswith(str(tmp_path / "use.csv"))
    assert problem in str(caught.value)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("memroy: 1", "memroy: unknown field (did you mean 'memory'?); allowed: cpu, disk, disk-io, memory, store"),
        ("5", ": a mapping is wanted, found 5"),
        ("memory: much", "memory: not an amount of memory (as in 512Mi"),
        ("memory:", "memory: not an amount of memory"),
        ("memory: {frm: 1, to: 2, over: 1}", "memory.frm: unknown field (did you mean 'from'?)"),
        (
            "memory: {from: 1, to: 2}",
            "memory: these fields do not make a profile, found 'from, to'; allowed: an amount",
        ),
        ("memory: {}", "memory: these fields do not make a profile"),
        ("memory: {from: 1, to: 2, over: }", "memory.over: nothing stands here"),
        ("memory: {from: 1, to: 2, over: 0}", "memory.over: a duration above zero is wanted, found 0"),
        ("memory: {from: 1, to: 2, over: 61s}", "over: beyond the end of the task, found '1m1s'; allowed: at most its"),
        ("memory: {points: [[0, 1], [61, 1]]}", "memory.points: beyond the end of the task, found '1m1s'"),
        ("memory: {base: 1, spike: 2, every: 2m, for: 1}", "every: beyond the end of the task, found '2m'"),
        ("memory: {base: 1, spike: 2, every: 30, for: 30}", "memory.for: a spike longer than its period, found 30"),
        ("memory: {points: []}", "memory.points: the first point is at 0"),
        ("memory: {points: [[1, 1]]}", "memory.points: the first point is at 0, found [[1, 1]]"),
        ("memory: {points: [[0, 1], [9, 1], [5, 1]]}", "memory.points[2]: before the point in front of it, found 5"),
        ("memory: {points: [[0, 1], [9]]}", "memory.points[1]"),
        ("memory: {points: [[0, x]]}", "memory.points[0][1]: not an amount of memory"),
        ("memory: {points: [[0, 1], [9, 1]], every: 8}", "every: a period shorter than what repeats, found 8; allowed"),
        ("memory: {trace: absent.csv}", "absent.csv: no such file"),
        ("cpu: 1Gi", "cpu: not a number of CPUs"),
        ("disk-io: quick", "disk-io: not an amount a second"),
    ],
)
def test_refuses(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        usage(text, duration_ns=M)
    assert problem in str(caught.value)


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**12)), max_size=8))
def test_points_are_what_was_written(points: list[tuple[int, int]]) -> None:
    points = [(0, 7), *sorted(points, key=lambda point: point[0])]
    text = ", ".join(f"[{time}ms, {amount}]" for time, amount in points)
    assert profile(f"{{points: [{text}]}}").points == tuple((time * 10**6, amount) for time, amount in points)
