"""Commands name jobs by their ids: what is no id names none."""

from pathlib import Path

import pytest

from gnomon.api import simulate
from gnomon.systems.slurm.scenario import read_scenario

pytestmark = pytest.mark.unit

CONF = "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n"


@pytest.mark.parametrize("id", ["²", "٣", "9" * 5000, "1_²", "1_" + "9" * 5000, "1+²"])
def test_what_is_no_id_cancels_nothing(id: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "a.session").write_text(
        f"@0s ann sbatch -n1 -a 0-1 --wrap 'sleep 60'\n@1s root scancel -t PENDING {id}\n"
    )
    run = simulate(read_scenario([tmp_path / "slurm.conf", tmp_path / "a.session"]))
    assert run.metrics()["done"] == 2


def test_an_id_of_a_task_cancels_that_task(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "a.session").write_text("@0s ann sbatch -n1 -a 0-1 --wrap 'sleep 60'\n@1s root scancel 1_1\n")
    run = simulate(read_scenario([tmp_path / "slurm.conf", tmp_path / "a.session"]))
    assert run.metrics()["done"] == 1
