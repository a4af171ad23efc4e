"""Formats found from the content, and read by name."""

import gzip
from pathlib import Path

import pytest

from gnomon import traces
from gnomon.model.errors import InputError

DATA = Path(__file__).parent.parent / "data" / "traces"
JOB = "1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 -1 -1 -1\n"


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("small.swf", "swf"),
        ("common-200.swf", "swf"),
        ("KTH-SP2-1996-2.1-cln-head.swf", "swf"),
        ("openb-nodes.csv", "openb-nodes"),
        ("openb-tasks.csv", "openb-tasks"),
        ("openb-tasks-plain.csv", "openb-tasks"),
        ("tasks.csv", "csv"),
    ],
)
def test_files_whatever_they_are_called(tmp_path: Path, name: str, format: str) -> None:
    content = (DATA / name).read_bytes()
    for number, bytes_ in enumerate((content, gzip.compress(content), b"\xef\xbb\xbf" + content)):
        path = tmp_path / f"file{number}"
        path.write_bytes(bytes_)
        assert traces.detect(path) == format


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (JOB, "swf"),
        ("\r\n" + JOB.replace(" ", "\t"), "swf"),
        ("; Version: 2.2\n", "swf"),
        ("; Version: 2.2\nnonsense\n", "swf"),
        (";\n" * 9_000 + JOB, "swf"),
        ("submit;duration\n", "csv"),
        ("job_id\trun_time\tncpus\n", "csv"),
        ("duration,colour\n", None),  # one known name proves nothing
        ("name,cpus,memory\n", None),  # no time: it may be a list of nodes
        ("duration,run_time,cpus\n", "csv"),  # whose reader says what is wrong
        ("(" * 10_000 + ",duration\n", None),
        ("; a comment\n[section]\n", None),
        ("1 2 3\n", None),
        ("\n\n", None),
        ("nodes:\n  - name: a\n", None),
        ('{"duration": 1, "cpus": 2}\n', None),
        ("apiVersion: v1\nkind: Pod\n", None),
        ("NodeName=n[1-4] CPUs=8 RealMemory=16000\n", None),
    ],
)
def test_content(tmp_path: Path, content: str, format: str | None) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    assert traces.detect(path) == format


def test_every_format_is_read_by_its_name() -> None:
    files = {"swf": "small.swf", "openb-tasks": "openb-tasks.csv", "csv": "tasks.csv", "openb-nodes": "openb-nodes.csv"}
    assert files.keys() == traces.FORMATS.keys()
    for format, name in files.items():
        path = DATA / name
        if traces.FORMATS[format].work:
            assert len(traces.read_work(path, format=format)) == len(traces.read_work(path)) > 0
        else:
            assert traces.read_cluster(path, format=format) == traces.read_cluster(path)


def test_options_go_to_the_reader() -> None:
    forever = traces.read_work(DATA / "openb-tasks.csv", arrivals_only=True)
    assert len(set(forever.duration_ns.tolist())) == 1


@pytest.mark.parametrize(
    ("name", "format", "error"),
    [
        ("openb-nodes.csv", None, "a node list of Alibaba's openb GPU cluster, which holds no work"),
        ("small.swf", "swff", "unknown format (did you mean 'swf'?), found 'swff'"),
        ("small.swf", "csv", "a table needs|no column says"),
        ("absent", None, "no such file"),
    ],
)
def test_work_that_cannot_be_read(name: str, format: str | None, error: str) -> None:
    with pytest.raises(InputError) as caught:
        traces.read_work(DATA / name, format=format)
    assert any(text in str(caught.value) for text in error.split("|"))


def test_what_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("nodes:\n")
    with pytest.raises(InputError, match="not a trace whose format is known; allowed: swf"):
        traces.read_work(path)
    with pytest.raises(InputError, match="not a trace"):
        traces.read_cluster(path)


def test_a_log_is_no_cluster() -> None:
    with pytest.raises(InputError, match="a job log in the Standard Workload Format, which holds no cluster"):
        traces.read_cluster(DATA / "small.swf")


def test_a_misspelt_option() -> None:
    with pytest.raises(InputError, match=r"unknown option of the format swf \(did you mean 'memory'"):
        traces.read_work(DATA / "small.swf", memry=True)
