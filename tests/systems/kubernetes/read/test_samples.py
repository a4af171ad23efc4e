"""What pods use: from CSV, from ``kubectl top``, from annotations; and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from gnomon.model.usage import Profile
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.read.samples import read_samples, usage_of

PODS = {pod.key: pod for pod in (Pod("a"), Pod("b", "team"))}
MIB, S = 2**20, 10**9


def read(folder: Path, text: str) -> dict[str, object]:
    file = folder / "usage.csv"
    file.write_text(text)
    return {key: one.profiles for key, one in read_samples([str(file)], PODS, {}).pods.items()}


def test_samples_over_time(tmp_path: Path) -> None:
    found = read(
        tmp_path, "namespace,pod,seconds,cpu,memory\ndefault,a,0,100m,1Mi\ndefault,a,60,1,2Mi\nteam,b,0,,3Mi\n"
    )
    assert found == {
        "default/a": (("cpu", Profile(((0, 100), (60 * S, 1000)))), ("memory", Profile(((0, MIB), (60 * S, 2 * MIB))))),
        "team/b": (("memory", Profile(((0, 3 * MIB),))),),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pod,ram\n", "not a column"),
        ("namespace,cpu\n", "pod is missing"),
        ("pod,cpu\nc,1\n", "no such pod"),
        ("pod,cpu\na,much\n", "line 2"),
        ("pod,seconds,cpu\na,soon,1\n", "not a number of seconds"),
        ("pod,seconds,cpu\na,-1,1\n", "before the pod's start"),
        ("pod,cpu\na,1,2\n", "2 values are wanted"),
        ("", "empty"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(tmp_path, text)


def test_annotations() -> None:
    said = {"gnomon.dev/usage-memory": "0s 1Mi, 10s 2Mi", "gnomon.dev/usage-cpu": "250m"}
    usage = usage_of(Pod("p", annotations=said))
    assert usage is not None
    assert dict(usage.profiles) == {"cpu": Profile(((0, 250),)), "memory": Profile(((0, MIB), (10 * S, 2 * MIB)))}
    assert usage_of(Pod("p")) is None
    with pytest.raises(InputError, match="usage-memory"):
        usage_of(Pod("p", annotations={"gnomon.dev/usage-memory": "0s lots"}))
