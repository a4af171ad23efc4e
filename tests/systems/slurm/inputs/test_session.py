"""A session: who gives which command when, and how long what is submitted runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND
from gnomon.systems.slurm.config.slurm_conf import conf_of
from gnomon.systems.slurm.inputs.session import LOOKS, Command, read_session
from gnomon.systems.slurm.sbatch.site import site_of

pytestmark = pytest.mark.unit

Read = Callable[[str], list[Command]]
CONF = "NodeName=n[1-4] CPUs=8 CoresPerSocket=8 RealMemory=8000\nPartitionName=batch Nodes=ALL Default=YES\n"


@pytest.fixture
def commands(tmp_path: Path) -> Read:
    """Reads a session that stands beside a script of two nodes which sleeps for ten minutes."""
    (tmp_path / "job.sh").write_text("#!/bin/bash\n#SBATCH -N2 -t 30\n#SBATCH -J mesh\nsleep 600\nexit 3\n")

    def read(text: str) -> list[Command]:
        (tmp_path / "jobs.session").write_text(text)
        return read_session(str(tmp_path / "jobs.session"), site_of(conf_of(CONF)))

    return read


def test_a_line_is_a_time_a_user_and_a_command(commands: Read) -> None:
    (found,) = commands("@1h30m ann sbatch -n4 -t 10 --wrap 'sleep 60'\n")
    assert (found.at_ns, found.user, found.words[0], found.line) == (90 * MINUTE, "ann", "sbatch", 1)
    (request,) = found.requests
    assert (request.user, request.tasks, request.time_min, request.run_s) == ("ann", 4, 10, None)


def test_what_stands_behind_a_command_tells_how_long_it_runs(commands: Read) -> None:
    runs = commands("@0s ann sbatch -n1 --wrap x  # runs 5m exit 2\n@1s ann sbatch -n1 --wrap x # runs 90s\n")
    assert [(one.requests[0].run_s, one.requests[0].exit_code) for one in runs] == [(300, 2), (90, 0)]
    (request,) = commands("@0s ann sbatch -n1 --wrap x  # runs 5m, exit 2\n")[0].requests
    assert (request.run_s, request.exit_code) == (300, 2)


def test_a_number_sign_in_quotes_is_no_end(commands: Read) -> None:
    (request,) = commands("@0s ann sbatch -J '# runs 9m' -n1 --wrap x\n")[0].requests
    assert (request.name, request.run_s) == ("# runs 9m", None)


def test_scripts_are_files_beside_the_session(commands: Read) -> None:
    (request,) = commands("@0s ann sbatch -t 20 job.sh\n")[0].requests
    assert (request.name, request.nodes_min, request.time_min) == ("mesh", 2, 20)  # the command line goes first
    assert "sleep 600" in request.script


def test_a_script_that_is_not_there_is_refused_by_sbatch(commands: Read) -> None:
    (found,) = commands("@0s ann sbatch nothing.sh\n")
    assert found.requests == ()
    assert found.refusal == "sbatch: error: Unable to open file nothing.sh"


def test_a_name_too_long_for_the_file_system_is_no_script(commands: Read) -> None:
    (found,) = commands(f"@0s ann sbatch {'a' * 300}\n")
    assert "Unable to open file" in found.refusal


def test_the_line_that_asks_for_too_many_tasks_is_told(commands: Read) -> None:
    with pytest.raises(InputError, match="too many tasks") as caught:
        commands("@0s ann sbatch -a 0-999 --wrap x\n" * 1001)
    assert caught.value.line == 1001


def test_commands_come_in_the_order_of_their_times(commands: Read) -> None:
    found = commands(
        "# first come comments\n\n@10s root scancel 1\n@5s root scontrol hold 1\n@5s ann sbatch -n1 --wrap x\n"
        "@0s root cloud Nodes=n1\n"
    )
    assert [(one.at_ns // SECOND, one.words[0], one.line) for one in found] == [
        (0, "cloud", 6),
        (5, "scontrol", 4),
        (5, "sbatch", 5),
        (10, "scancel", 3),
    ]


def test_an_array_and_a_heterogeneous_job_are_one_command(commands: Read) -> None:
    (array,) = commands("@0s ann sbatch -a 1-3%2 -n1 --wrap x # runs 1m\n")
    assert (array.requests[0].array, array.requests[0].array_limit) == ((1, 2, 3), 2)
    (het,) = commands("@0s ann sbatch -n1 : -n2 --wrap x # runs 1m\n")
    assert [(one.tasks, one.run_s) for one in het.requests] == [(1, 60), (2, 60)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@soon ann sbatch -n1 --wrap x", "line 2: not a duration"),
        ("ann sbatch -n1 --wrap x", "line 2: not a line of a session"),
        ("@0s ann", "line 2: not a line of a session"),
        ("@0s ann srun -n1 x", "line 2: not modelled: a command, found 'srun'"),
        ("@0s ann sbatch --wrap 'x", "line 2: quotes that do not match"),
        ("@0s ann sbatch --wrap x # runs long", "line 2, runs: not a duration"),
    ],
)
def test_mistakes_have_their_line(commands: Read, line: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        commands(f"# a session\n{line}\n")
    assert said in str(caught.value)


def test_what_a_session_looks_like() -> None:
    assert LOOKS.search("# comment\n@0s ann sbatch x\n")
    assert LOOKS.search("@5m\troot\tscontrol hold 1\n")
    assert not LOOKS.search("@ann sbatch\n")
    assert not LOOKS.search("#SBATCH -n1\nmail @0 sbatch\n")
