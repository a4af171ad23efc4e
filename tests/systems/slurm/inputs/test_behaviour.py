"""What a script does, told from its text: how long it runs, how it ends, which signals it minds."""

import pytest

from gnomon.systems.slurm.inputs.behaviour import behaviour

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("script", "run_s", "exit_code"),
    [
        ("sleep 90", 90, "0:0"),
        ("sleep 1m 30s", 90, "0:0"),
        ("sleep 0.5", 0.5, "0:0"),
        ("hostname; sleep 2 && sleep 3\nexit 4", 5, "4:0"),
        ("exit 3\nsleep 100", 0, "3:0"),
        ("false", 0, "1:0"),
        ("false\nsleep 1", 1, "0:0"),
        ("no-such-program", 0, "127:0"),
        ("exit 300", 0, "44:0"),  # a status is a byte
        ("sleep 2\nkill -TERM $$", 2, "0:15"),
        ("kill -9 $$", 0, "0:9"),
        ("for i in $(seq 10); do sleep 2; done", 20, "0:0"),
        ("N=3\nsleep $((N * 60))", 180, "0:0"),
        ("# sleep 5\n\nsleep 1", 1, "0:0"),
        ("exit 137", 0, "9:0"),  # statuses from 128 up are shown less 128
    ],
)
def test_what_a_small_script_does(script: str, run_s: float, exit_code: str) -> None:
    found = behaviour(f"#!/bin/bash\n{script}\n")
    assert (found.run_s, found.exit_code) == (run_s, exit_code)


@pytest.mark.parametrize("script", ["./train", "sleep 5\n./train", "sleep $(cat time)", "srun hostname"])
def test_what_only_a_run_can_tell_is_not_known(script: str) -> None:
    assert behaviour(script).run_s is None


def test_the_tasks_of_an_array_know_their_number() -> None:
    script = "[ $SLURM_ARRAY_TASK_ID -eq 2 ]\nsleep $((SLURM_ARRAY_TASK_ID * 10))"
    assert [behaviour(script, {"SLURM_ARRAY_TASK_ID": str(n)}).run_s for n in (1, 2, 3)] == [10, 20, 30]


def test_traps() -> None:
    found = behaviour("trap 'exit 5' USR1\ntrap '' TERM\nsleep 60")
    assert dict(found.traps) == {"USR1": 5, "TERM": None}
    assert found.minds("TERM")
    assert not found.minds("INT")


@pytest.mark.parametrize(
    ("script", "run_s", "exit_code"),
    [
        ("sleep 99999999999999999999999999", None, "0:0"),
        ("for i in $(seq 999999999999999999); do sleep 1; done", None, "0:0"),
        (f"sleep {'9' * 5000}", None, "0:0"),
        (f"exit {'9' * 5000}", 0, "0:0"),
        ("exit ²", 0, "0:0"),
        ("sleep $((9223372036854775807 + 2))", 0, "0:0"),  # more digits than are read
        ("sleep $((4294967296 * 4294967296 + 5))", 5, "0:0"),  # 64 bits, as in a shell
        ("$NOT_SET\nsleep 1", 1, "0:0"),
        (f"[ {'9' * 5000} -gt 1 ]\nsleep 1", 1, "0:0"),
    ],
)
def test_numbers_of_no_script_are_not_stumbled_over(script: str, run_s: float | None, exit_code: str) -> None:
    found = behaviour(f"#!/bin/sh\n{script}\n")
    assert (found.run_s, found.exit_code) == (run_s, exit_code)
