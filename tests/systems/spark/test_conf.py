"""Options of Spark: files, values, what follows from them."""

from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.recovery.speculation import SlowTasks
from gnomon.scheduling.pools import Pool
from gnomon.systems.spark.allocations import read_allocations
from gnomon.systems.spark.conf import Conf, read_conf
from gnomon.systems.spark.memory import MIB, memory_of
from gnomon.systems.spark.profile import operation_of, rules_of

S = 1_000_000_000


def conf_of(tmp_path: Path, text: str) -> Conf:
    path = tmp_path / "spark-defaults.conf"
    path.write_text(text)
    return read_conf(path)


def test_names_and_values_are_apart_by_spaces_or_an_equals_sign(tmp_path: Path) -> None:
    found = conf_of(tmp_path, "# a comment\nspark.task.cpus   2\nspark.locality.wait=5s\n\nspark.app.name  two words\n")
    assert found.said == {"spark.task.cpus": "2", "spark.locality.wait": "5s", "spark.app.name": "two words"}


def test_a_line_goes_on_after_a_backslash(tmp_path: Path) -> None:
    assert conf_of(tmp_path, "spark.speculation \\\n  true\n").truth("spark.speculation")


def test_what_is_no_option_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: not an option of Spark, found 'hadoop.home'"):
        conf_of(tmp_path, "spark.task.cpus 1\nhadoop.home /opt\n")


def test_options_that_change_nothing_here_are_listed_but_for_those_that_cannot(tmp_path: Path) -> None:
    found = conf_of(tmp_path, "spark.kryo.pool 3\nspark.ui.port 4040\nspark.task.cpus 1\n")
    assert [(note.what, note.field) for note in found.notes()] == [("not modelled", "spark.kryo.pool")]


def test_old_names_still_count(tmp_path: Path) -> None:
    found = conf_of(tmp_path, "spark.blacklist.enabled true\n")
    assert rules_of(found).exclusion is not None


@pytest.mark.parametrize(
    ("text", "ns"),
    [("500ms", S // 2), ("3s", 3 * S), ("3", 3 * S), ("2min", 120 * S), ("2m", 120 * S), ("1h", 3600 * S)],
)
def test_times(text: str, ns: int) -> None:
    assert Conf({"spark.network.timeout": text}).time_ns("spark.network.timeout") == ns


@pytest.mark.parametrize("text", ["", "3 x", "-1s", "s", "1.5s", "9" * 30])
def test_times_that_are_none(text: str) -> None:
    if text:
        with pytest.raises(InputError, match=r"spark.network.timeout: not a number with a unit"):
            Conf({"spark.network.timeout": text}).time_ns("spark.network.timeout")


@pytest.mark.parametrize(("text", "size"), [("1g", 2**30), ("512m", 2**29), ("512", 2**29), ("2GB", 2**31)])
def test_sizes(text: str, size: int) -> None:
    assert Conf({"spark.executor.memory": text}).size("spark.executor.memory") == size


def test_the_rules_of_the_defaults() -> None:
    rules = rules_of(Conf())
    assert (rules.mode, rules.max_failures, rules.max_stage_attempts) == ("FIFO", 4, 4)
    assert rules.resubmit_ns == 200_000_000
    assert rules.fetch_fails_ns == 15 * S
    assert rules.locality is not None
    assert (rules.locality.process_ns, rules.locality.node_ns, rules.locality.rack_ns) == (3 * S, 3 * S, 3 * S)
    assert (rules.copies, rules.exclusion, rules.allocation) == (None, None, None)
    assert not rules.outputs_survive


def test_speculation_is_another_one_before_4_and_before_3_4() -> None:
    on = {"spark.speculation": "true"}
    now, three, older = (rules_of(Conf(on, version)).copies for version in ("4.3.0", "3.5.1", "3.3.2"))
    assert isinstance(now, SlowTasks)
    assert isinstance(three, SlowTasks)
    assert isinstance(older, SlowTasks)
    assert (now.multiplier_e4, now.quantile_e4, now.long_e4) == (30_000, 9_000, 20_000)
    assert (three.multiplier_e4, three.quantile_e4, three.long_e4) == (15_000, 7_500, 20_000)
    assert (older.multiplier_e4, older.quantile_e4, older.long_e4) == (15_000, 7_500, 0)


def test_waits_of_levels_are_the_general_one_unless_they_are_said() -> None:
    rule = rules_of(Conf({"spark.locality.wait": "1s", "spark.locality.wait.node": "0"})).locality
    assert rule is not None
    assert (rule.process_ns, rule.node_ns, rule.rack_ns) == (S, 0, S)


def test_dynamic_allocation() -> None:
    said = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "2"}
    rule = rules_of(Conf(said)).allocation
    assert rule is not None
    assert (rule.least, rule.initial, rule.idle_ns, rule.backlog_ns, rule.sustained_ns) == (2, 2, 60 * S, S, S)
    assert rules_of(Conf({"spark.speculation": "true"})).copies.threshold_ns == NEVER  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("spark.scheduler.mode", "LIFO", "no such mode"),
        ("spark.task.maxFailures", "many", "not a whole number"),
        ("spark.speculation", "yes", "neither true nor false"),
        ("spark.shuffle.service.enabled", "1", "neither true nor false"),
    ],
)
def test_values_that_are_none(name: str, value: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        rules_of(Conf({name: value}))


def test_a_heartbeat_that_is_longer_than_the_timeout_is_refused() -> None:
    with pytest.raises(InputError, match=r"spark.executor.heartbeatInterval: executors would be taken for lost"):
        operation_of(Conf({"spark.executor.heartbeatInterval": "200s"}))


def test_the_memory_of_an_executor_of_a_gigabyte() -> None:
    """434.4 MiB, reported as 455,501,414 bytes by 4.3.0; a container is 384 MiB larger than the heap."""
    found = memory_of(Conf())
    assert found.unified == 455_501_414
    assert found.container == (1024 + 384) * MIB
    large = memory_of(Conf({"spark.executor.memory": "10g"}))
    assert large.overhead == 1024 * MIB
    assert large.task_share(4) == (large.unified // 8, large.unified // 4)


@pytest.mark.parametrize("version", ["3.5.1", "4:", "9" * 5000, "x", ""])
def test_any_text_may_stand_for_the_version(version: str) -> None:
    assert Conf({}, version).text("spark.scheduler.mode") == "FIFO"


def test_pools_of_an_allocation_file(tmp_path: Path) -> None:
    path = tmp_path / "fairscheduler.xml"
    path.write_text(
        "<?xml version='1.0'?><allocations><pool name='a'><schedulingMode>FAIR</schedulingMode><weight>3</weight>"
        "<minShare>2</minShare></pool><pool name='b'><weight>x</weight></pool></allocations>"
    )
    pools, notes = read_allocations(path)
    assert pools == [Pool("a", 3, 2, "FAIR"), Pool("b")]
    assert [note.text for note in notes] == ["weight 'x' is no whole number; 1 is taken"]


@pytest.mark.parametrize("text", ["2147483648", "1_0", "٣²", "9" * 5000])
def test_a_weight_is_of_32_bits(tmp_path: Path, text: str) -> None:
    """What Java's ``Integer.parseInt`` refuses is said to be taken for the default."""
    path = tmp_path / "fairscheduler.xml"
    path.write_text(f"<allocations><pool name='a'><weight>{text}</weight></pool></allocations>")
    pools, notes = read_allocations(path)
    assert pools == [Pool("a")]
    assert [note.text for note in notes] == [f"weight {text!r} is no whole number; 1 is taken"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<configuration/>", "not a file of pools"),
        ("<allocations><pool/></allocations>", "not a pool"),
        ("<allocations>", "not XML"),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><allocations/>", "document type"),
    ],
)
def test_files_that_are_no_allocation_files(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "pools.xml"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_allocations(path)


def test_a_most_of_no_executors_is_refused() -> None:
    said = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "0"}
    with pytest.raises(InputError, match="not above 0") as refused:
        rules_of(Conf(said))
    assert (refused.value.field, refused.value.found) == ("spark.dynamicAllocation.maxExecutors", "0")
