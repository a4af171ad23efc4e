"""What ``kubectl top`` prints, as its documentation shows it, as one sample; and what is refused of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.read.samples import read_samples
from gnomon.systems.kubernetes.read.top import Top, read_top
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import node, pod

MIB = 2**20
PODS = {one.key: one for one in (Pod("web-0"), Pod("web-1", "shop"), Pod("same"), Pod("same", "shop"))}
NODES = {"n1": 16384 * MIB, "n2": 0}


def top(text: str) -> Top:
    return read_top("top.txt", text.splitlines(), PODS, NODES)


def test_pods_of_one_namespace() -> None:
    found = top("NAME    CPU(cores)   MEMORY(bytes)   \nweb-0   250m         1234Mi          \nweb-1   1      3Gi\n")
    assert found.pods == {
        "default/web-0": {"cpu": 250, "memory": 1234 * MIB},
        "shop/web-1": {"cpu": 1000, "memory": 3072 * MIB},
    }


def test_pods_of_all_namespaces() -> None:
    found = top("NAMESPACE   NAME   CPU(cores)   MEMORY(bytes)\nshop   same   0m   1Mi\ndefault   same   2m   3Mi\n")
    assert found.pods == {"shop/same": {"cpu": 0, "memory": MIB}, "default/same": {"cpu": 2, "memory": 3 * MIB}}


def test_pods_that_are_gone_are_left_out() -> None:
    """The file and the objects are seldom of the same second."""
    text = "NAMESPACE NAME CPU(cores) MEMORY(bytes)\ndefault web-0 1m 1Mi\ndefault gone 1m 1Mi\ndefault gone 1m 1Mi\n"
    found = top(text)
    assert (list(found.pods), found.gone) == (["default/web-0"], ["default/gone"])


def test_pods_that_are_gone_are_noted(tmp_path: Path) -> None:
    (tmp_path / "top.txt").write_text("NAME CPU(cores) MEMORY(bytes)\nweb-0 1m 1Mi\nweb-9 1m 1Mi\n")
    found = scenario_of(objects_of([node("n1"), pod("web-0")]), usage=[tmp_path / "top.txt"])
    assert [(note.field, note.text, note.count) for note in found.work.notes] == [
        ("kubectl top", "pods that are not there, left out: web-9", 1)
    ]


def test_containers_are_summed() -> None:
    text = "POD     NAME      CPU(cores)   MEMORY(bytes)\nweb-0   app       200m   100Mi\nweb-0   proxy   5m   20Mi\n"
    assert top(text).pods == {"default/web-0": {"cpu": 205, "memory": 120 * MIB}}


def test_the_sum_below_is_no_pod() -> None:
    text = "NAME    CPU(cores)   MEMORY(bytes)\nweb-0   1m   2Mi\n        ________   ________\n        1m         2Mi\n"
    assert list(top(text).pods) == ["default/web-0"]


@pytest.mark.parametrize("per_cent", ["CPU%", "CPU(%)"])
def test_nodes(per_cent: str) -> None:
    header = f"NAME   CPU(cores)   {per_cent}   MEMORY(bytes)   {per_cent.replace('CPU', 'MEMORY')}"
    found = top(f"{header}\nn1   1310m   16%   9216Mi   57%\nn2   <unknown>   <unknown>   <unknown>   <unknown>\n")
    assert (found.pods, found.nodes) == ({}, {"n1": 9216 * MIB})


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("NAME CPU(cores) MEMORY(bytes)\nweb-0 much 1Mi", r"top.txt, line 2, CPU\(cores\): .*'much'"),
        ("NAME CPU(cores) MEMORY(bytes)\nweb-0 1m", r"top.txt, line 2: 3 values are wanted, as in the header, found 2"),
        ("NAME CPU(cores) MEMORY(bytes)\nsame 1m 1Mi", "line 2, NAME: pods of several namespaces have this name"),
        ("NAME CPU(cores) SWAP(bytes)\nweb-0 1m 1Mi", r"line 1, SWAP\(bytes\): not a column of kubectl top"),
        ("CPU(cores) MEMORY(bytes)\n1m 1Mi", "line 1: the column NAME is missing"),
        ("NAME CPU(cores) CPU% MEMORY(bytes) MEMORY%\nn3 1m 1% 1Mi 1%", "line 2, NAME: unknown node"),
        ("NAME CPU(cores) CPU% MEMORY(bytes) MEMORY%\nn1 1m 1% 1Ti 1%", "up to the 16Gi that n1 has"),
    ],
)
def test_what_is_refused(text: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        top(text)


def test_a_nodes_reading_tells_what_the_system_uses_beside_the_pods(tmp_path: Path) -> None:
    """10 GiB are used on the node, 4 of them by a pod that was measured, 1 by one that was not, and asked for 1."""
    (tmp_path / "pods.txt").write_text("NAME CPU(cores) MEMORY(bytes)\nbig 1m 4Gi\n")
    (tmp_path / "nodes.txt").write_text("NAME CPU(cores) CPU% MEMORY(bytes) MEMORY%\nn1 1m 1% 10Gi 31%\n")
    small = pod("small", requests={"memory": "1Gi"}, nodeName="n1")
    objects = objects_of([node("n1"), node("n2"), pod("big", nodeName="n1"), small])
    files = [str(tmp_path / "pods.txt"), str(tmp_path / "nodes.txt")]
    found = scenario_of(objects, usage=files)
    assert [one.machine.used_bytes for one in found.cluster.nodes] == [5 * 2**30, 0]


def test_a_header_alone_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "top.txt").write_text("NAME CPU(cores) MEMORY(bytes)\n")
    assert read_samples([str(tmp_path / "top.txt")], PODS, NODES).pods == {}
