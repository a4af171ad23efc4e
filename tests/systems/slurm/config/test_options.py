"""Defaults against ``scontrol show config`` of Slurm 22.05.8, and those that later versions changed."""

import pytest

from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.config.options import KEYS
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.notation.times import format_seconds
from tests.systems.slurm.shown import DATA, shown_config

ELSEWHERE = {
    "clustername": "is lower-cased when printed",
    "selecttypeparameters": "is upper-cased when printed",
    "accountingstoragetres": "is printed with the fixed ones",
    "accountingstoragetype": "the recorded cluster had slurmdbd",
    "priorityflags": "is printed as what follows from it",
    "preemptmode": "is printed in another order",
}
NOTHING = ("(null)", "UNLIMITED", "")


@pytest.mark.parametrize("name", ["01-minimal", "06-topology-preempt", "07-cloud"])
def test_values_and_defaults_are_those_of_22_05(name: str) -> None:
    conf = read_conf(DATA / name / "slurm.conf", version=(22, 5))
    compared = 0
    for key, printed in shown_config(name).items():
        known = KEYS.get(key)
        if known is None or not known.looked_at or key in ELSEWHERE or "program" in key:
            continue
        compared += 1
        assert _as_printed(conf, key, known.kind) == ("" if printed in NOTHING else printed), key
    assert compared >= 45


def _as_printed(conf: Conf, key: str, kind: str) -> str:
    if kind == "boolean":
        return "Yes" if conf.flag(key) else "No"
    if kind in ("limit", "precise"):
        return format_seconds(conf.seconds(key))
    if kind == "idle":
        seconds = conf.seconds(key)
        return "INFINITE" if seconds is None else str(seconds)
    return conf.text(key)


@pytest.mark.parametrize(
    ("key", "by_version"),
    [
        ("SelectType", ["select/linear", "select/linear", "select/cons_tres", "select/cons_tres"]),
        ("PriorityType", ["priority/basic", "priority/basic", "priority/multifactor", "priority/multifactor"]),
        ("TreeWidth", ["50", "50", "16", "16"]),
        ("MaxBatchRequeue", ["5"] * 4),
        ("SchedulerType", ["sched/backfill"] * 4),
        ("MinJobAge", ["300"] * 4),
        ("SelectTypeParameters", ["", "", "CR_Core_Memory", "CR_Core_Memory"]),
    ],
)
def test_defaults_by_version(key: str, by_version: list[str]) -> None:
    versions = [(22, 5), (23, 2), (23, 11), (25, 5)]
    assert [Conf((), (), version=version).text(key) for version in versions] == by_version


def test_lengths_of_time_are_seconds_whatever_they_are_written_in() -> None:
    conf = Conf((), (), {"overtimelimit": "UNLIMITED", "prioritydecayhalflife": "90", "preemptexempttime": "0:10"})
    keys = ("OverTimeLimit", "PriorityDecayHalfLife", "PreemptExemptTime", "PriorityCalcPeriod", "SlurmdTimeout")
    assert [conf.seconds(key) for key in keys] == [None, 5400, 10, 300, 300]


def test_a_key_that_slurm_does_not_have_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError):
        Conf((), ()).text("NoSuchKey")


def test_processes_that_do_not_die_are_given_five_times_the_message_timeout() -> None:
    assert Conf((), ()).seconds("UnkillableStepTimeout") == 60
    assert Conf((), (), {"messagetimeout": "30"}, version=(22, 5)).seconds("UnkillableStepTimeout") == 60
    assert Conf((), (), {"messagetimeout": "30"}).seconds("UnkillableStepTimeout") == 150
