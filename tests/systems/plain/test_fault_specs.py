"""What goes wrong: one entry of ``faults`` and what it means, and what is refused."""

from __future__ import annotations

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.systems.plain.fault_specs import AMOUNT_KEYS, FIELDS, KINDS, read_fault

S = 10**9
M, H = 60 * S, 3600 * S


def fault(text: str) -> Failure | FailureProcess:
    return read_fault(*parse_yaml(f"{{{text}}}", file="f.yaml"))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at: 10m, crash: node/n3, for: 5m", Failure(Fault.CRASH, 10 * M, 5 * M, ("node/n3",))),
        ("crash: [node/n3, rack/r1]", Failure(Fault.CRASH, targets=("node/n3", "rack/r1"))),
        ("at: 1, reboot: node/n, for: 2", Failure(Fault.REBOOT, S, 2 * S, ("node/n",))),
        ("slow: node/n, speed: 0.5", Failure(Fault.SLOW, targets=("node/n",), amount=5000)),
        ("slow: node/n, speed: 0", Failure(Fault.SLOW, targets=("node/n",))),
        ("disk-full: node/n, left: 1Gi", Failure(Fault.DISK_FULL, targets=("node/n",), amount=2**30)),
        ("disk-full: node/n", Failure(Fault.DISK_FULL, targets=("node/n",))),
        ("device: node/n, number: 1", Failure(Fault.DEVICE, targets=("node/n",), amount=1)),
        ("leak: node/n, rate: 1Mi", Failure(Fault.LEAK, targets=("node/n",), amount=2**20)),
        ("at: 1, kill: task/t", Failure(Fault.KILL, S, targets=("task/t",))),
        ("fail: job/j, chance: 10%", Failure(Fault.FAIL, targets=("job/j",), amount=1000)),
        ("loss: node/n, chance: 5%", Failure(Fault.LOSS, targets=("node/n",), amount=500)),
        ("delay: node/n, by: 2s", Failure(Fault.DELAY, targets=("node/n",), amount=2 * S)),
        (
            "at: 10m, partition: [zone/a, control/0], from: zone/b, for: 5m",
            Failure(Fault.PARTITION, 10 * M, 5 * M, ("zone/a", "control/0"), ("zone/b",)),
        ),
        ("partition: zone/a", Failure(Fault.PARTITION, targets=("zone/a",))),
        ("at: 1, leader: , for: 1", Failure(Fault.LEADER, S, S)),
        ("at: 1, leader: control/2", Failure(Fault.LEADER, S, targets=("control/2",))),
        ("cordon: n", Failure(Fault.CORDON, targets=("n",))),
        ("drain: n", Failure(Fault.DRAIN, targets=("n",))),
        ("cancel: task/t", Failure(Fault.CANCEL, targets=("task/t",))),
        ("crash: node/*, mtbf: 24h", FailureProcess(Fault.CRASH, ("node/*",), 24 * H)),
        (
            "crash: node/*, mtbf: 24h, mttr: 1h, law: weibull, shape: 0.7, repair_law: log-normal, repair_shape: 2, "
            "together: true, begin: 1h, end: 9h",
            FailureProcess(
                *(Fault.CRASH, ("node/*",), 24 * H, H, Law.WEIBULL, 0.7, Law.LOG_NORMAL, 2.0, True),
                from_ns=H,
                until_ns=9 * H,
            ),
        ),
        (
            "partition: zone/a, from: zone/b, mtbf: 1h, law: fixed",
            FailureProcess(Fault.PARTITION, ("zone/a",), H, law=Law.FIXED, others=("zone/b",)),
        ),
        ("slow: n, speed: 10%, mtbf: 1h", FailureProcess(Fault.SLOW, ("n",), H, amount=1000)),
    ],
)
def test_means(text: str, expected: Failure | FailureProcess) -> None:
    assert fault(text) == expected


@pytest.mark.unit
def test_no_word_means_two_things() -> None:
    words = [*KINDS, "trace", *FIELDS.values(), *AMOUNT_KEYS]
    assert len(words) == len(set(words))
    assert set(KINDS.values()) == set(Fault)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "at: 10m, crahs: node/n",
            "crahs: unknown kind of fault (did you mean 'crash'?); allowed: cancel, cordon, crash",
        ),
        ("at: 10m", ": what goes wrong is missing; allowed: crash, reboot, slow"),
        ("crash: n, kill: t", ": a fault is of one kind, found 'crash, kill'"),
        ("crash: n, speed: 0.5", "speed: unknown field; allowed: at, crash, for"),
        ("crash: n, fro: 5m", "fro: unknown field (did you mean 'for'?); allowed: at, crash, for"),
        ("crash: n, at: soon", "at: not a duration"),
        ("crash: 5", "crash: a list is wanted, found 5"),
        ("slow: n", "speed: this is missing"),
        ("slow: n, speed: 1.5", "speed: not a part (from 0 to 1, as in 0.5, 50%, at most four decimals), found 1.5"),
        ("leak: n, rate: fast", "rate: not an amount a second"),
        ("device: n, number: -1", "number: a whole number from 0"),
        ("crash: n, mttr: 1h", "mtbf: this is missing"),
        ("crash: n, mtbf: 0", "mtbf: a duration above zero is wanted, found 0"),
        ("crash: n, mtbf: 1h, at: 1h", "at: unknown field"),
        (
            "crash: n, mtbf: 1h, law: weibul",
            "law: unknown law (did you mean 'weibull'?), found 'weibul'; allowed: expo",
        ),
        ("crash: n, mtbf: 1h, repair_law: no", "repair_law: unknown law"),
        ("crash: n, mtbf: 1h, law: weibull, shape: steep", "shape: a number of at least 0 is wanted, found 'steep'"),
        ("partition: zone/a, from: [zone/b, 7.5]", "from[1]: a name is wanted"),
    ],
)
def test_refuses(text: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        fault(text)
    assert str(caught.value).startswith("f.yaml, line 1")
    assert problem in str(caught.value)


@pytest.mark.unit
def test_refuses_what_is_no_mapping() -> None:
    with pytest.raises(InputError, match="line 1: a mapping is wanted, found 'crash'"):
        read_fault(*parse_yaml("crash"))
