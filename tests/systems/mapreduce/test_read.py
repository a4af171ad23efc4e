"""Configuration of MapReduce: Hadoop's names and values, its defaults, and what is refused."""

from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.mapreduce.read import read_configuration
from gnomon.systems.mapreduce.settings import OLD_NAMES, OPTIONS, Settings

S = 10**9


def site(folder: Path, name: str = "mapred-site.xml", **values: str) -> Path:
    lines = [
        f"<property><name>{key.replace('__', '-').replace('_', '.')}</name><value>{value}</value></property>"
        for key, value in values.items()
    ]
    path = folder / name
    path.write_text("\n".join(["<configuration>", *lines, "</configuration>"]))
    return path


def test_the_defaults_of_3_5_0() -> None:
    settings = read_configuration().settings
    assert settings == Settings()
    assert settings.sorting.soft_limit == 100 * 2**20 * 8 // 10
    assert (settings.sort_factor, settings.combine_spills, settings.copies) == (10, 3, 5)
    assert (settings.slowstart_e4, settings.rampup_e4) == (500, 5_000)
    assert (settings.map_attempts, settings.reduce_attempts, settings.node_expiry_ns) == (4, 4, 600 * S)
    assert (settings.committer, settings.master_attempts, settings.uber) == (2, 2, False)
    assert settings.map_speculative
    assert settings.reduce_speculative
    assert settings.memory_mb(reduce=False) == settings.memory_mb(reduce=True) == 1024
    assert settings.block_bytes == 128 * 2**20


def test_files_and_options(tmp_path: Path) -> None:
    mapred = site(
        tmp_path,
        mapreduce_task_io_sort_mb="256",
        yarn_nm_liveness__monitor_expiry__interval__ms="30000",
        my_own_key="1",
    )
    hdfs = site(tmp_path, "hdfs-site.xml", dfs_blocksize="64m", dfs_replication="2")
    read = read_configuration([mapred, hdfs], {"mapreduce.job.reduces": 7, "mapreduce.map.speculative": False})
    settings = read.settings
    assert (settings.sort_mb, settings.node_expiry_ns, settings.block_bytes) == (256, 30 * S, 64 * 2**20)
    assert (settings.replication, settings.reduces, settings.map_speculative) == (2, 7, False)
    assert [(note.what, note.field) for note in read.notes] == [("not modelled", "my.own.key")]
    assert "mapreduce.job.reduces" in read.given


def test_a_later_file_counts_more_unless_the_first_is_final(tmp_path: Path) -> None:
    first = tmp_path / "a.xml"
    first.write_text(
        "<configuration>"
        "<property><name>io.sort.mb</name><value>10</value><final>true</final></property>"
        "<property><name>io.sort.factor</name><value>20</value></property>"
        "</configuration>"
    )
    second = site(tmp_path, mapreduce_task_io_sort_mb="99", mapreduce_task_io_sort_factor="99")
    settings = read_configuration([first, second]).settings
    assert (settings.sort_mb, settings.sort_factor) == (10, 99)


def test_a_value_may_name_another_option(tmp_path: Path) -> None:
    path = site(tmp_path, base="300", mapreduce_task_io_sort_mb="${base}")
    assert read_configuration([path]).settings.sort_mb == 300


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mapreduce.task.io.sort.mb", "2048", "allowed: 1 to 2047"),
        ("mapreduce.task.io.sort.mb", "a lot", "not a whole number, found 'a lot'"),
        ("mapreduce.map.sort.spill.percent", "80", "allowed: 0.0 to 1.0"),
        ("mapreduce.map.speculative", "yes", "allowed: true, false"),
        ("dfs.blocksize", "128 MB", "not a number of bytes"),
        ("yarn.nm.liveness-monitor.expiry-interval-ms", "10s", "not milliseconds"),
        ("mapreduce.map.maxattempts", "0", "allowed: 1 or more"),
        ("mapreduce.fileoutputcommitter.algorithm.version", "3", "allowed: 1 to 2"),
    ],
)
def test_values_that_are_none(tmp_path: Path, name: str, value: str, message: str) -> None:
    path = site(tmp_path, ok="1", **{name.replace("-", "__").replace(".", "_"): value})
    with pytest.raises(InputError) as error:
        read_configuration([path])
    assert f"mapred-site.xml, line 3, {name}" in str(error.value)
    assert message in str(error.value)


def test_every_option_is_a_field() -> None:
    fields = set(Settings.__dataclass_fields__)
    assert {option.field for option in OPTIONS.values()} == fields, "no field without an option"
    assert set(OLD_NAMES.values()) <= set(OPTIONS)


@pytest.mark.parametrize(
    ("maps", "reduces", "size", "uber"), [(9, 1, 128 << 20, True), (10, 1, 1, False), (1, 2, 1, False)]
)
def test_a_job_is_uber_when_it_is_small_in_all_ways(maps: int, reduces: int, size: int, uber: bool) -> None:
    assert Settings(uber=True).is_uber(maps, reduces, size) is uber
    assert not Settings(uber=True).is_uber(maps, reduces, (128 << 20) + 1)
    assert not Settings().is_uber(maps, reduces, size), "off by default"
