"""The openb cluster as Kubernetes objects: the API server refuses none of its pods, and those that fit are done."""

from pathlib import Path

import pytest

from examples import kubernetes_openb

pytestmark = pytest.mark.unit

DATA = Path(__file__).parent.parent / "data" / "traces"


def test_every_pod_of_the_sample_is_admitted(capsys: pytest.CaptureFixture[str]) -> None:
    """Two can never run: pod 1639 asks for 120 cores of a G2 node, which has 96, and pod 2182 for 32.2 of a V100M16
    node, which has 32."""
    kubernetes_openb.main(str(DATA / "openb-nodes.csv"), str(DATA / "openb-tasks.csv"))
    out = capsys.readouterr().out
    assert "30 pods on 16 nodes: 28 done" in out
    assert "refuses" not in out
    assert (
        "2 wait: 0/16 nodes are available: 14 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu, "
        "2 Insufficient memory." in out
    )
