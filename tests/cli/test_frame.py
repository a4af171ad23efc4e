"""What holds for every verb: help with examples, one line an error, exit codes, quiet pipes, a quick start."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import __version__
from gnomon.cli import ANSWERED, INTERRUPTED, OUR_FAULT, USER_ERROR
from gnomon.cli.app import VERBS
from gnomon.model.errors import InvariantError
from gnomon.scheduling.policy import POLICY_NAMES
from tests.cli.conftest import Gnomon
from tests.shared import ROOT

pytestmark = pytest.mark.unit

SAY, WHERE = "say what is to be explained", ", where NAME is a task, job, pod, workload or node/NAME"
PROGRAM = [sys.executable, "-c", "import sys; sys.argv[0] = 'gnomon'; from gnomon.cli import main; main()"]


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1"}
    return subprocess.run(
        [*PROGRAM, *arguments], text=True, capture_output=True, check=False, timeout=60, env=environment
    )


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_help_is_asked_for_as_one_likes(gnomon: Gnomon, verb: str) -> None:
    asked = gnomon(verb, "--help")
    assert asked.code == ANSWERED
    assert asked == gnomon(verb, "-h") == gnomon("help", verb)
    assert f"  gnomon {verb} " in asked.out.partition("Examples:")[2]


def test_without_arguments_there_is_help(gnomon: Gnomon) -> None:
    assert gnomon() == gnomon("--help") == gnomon("help")


@pytest.mark.parametrize("verb", ["simulate", "compare", "calibrate", "explain"])
def test_the_help_of_what_simulates_lists_the_policies(gnomon: Gnomon, verb: str) -> None:
    listed = gnomon(verb, "--help").out.partition("Policies, joined by +")[2].partition(":\n")[2]
    assert (
        tuple(re.sub(r"^ +(order|backfill|placement)", "", listed, flags=re.M).replace(",", " ").split())
        == POLICY_NAMES
    )


def test_the_version(gnomon: Gnomon) -> None:
    assert gnomon("--version").out == f"gnomon {__version__}\n"
    assert gnomon("version") == gnomon("--version")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["simulat"], "error: No such command 'simulat'. Did you mean 'simulate'? (see gnomon --help)"),
        (["simulate"], "error: Missing argument 'WORK...' (see gnomon simulate --help)"),
        (
            ["verify", "x", "-o", "xml"],
            "error: Invalid value for '-o' / '--output': 'xml' is not one of 'table', 'wide', 'json', 'yaml' "
            "(see gnomon verify --help)",
        ),
        (
            ["generate", "x.swf", "--model", "lublni"],
            "error: Invalid value for '--model': 'lublni' is not one of 'lublin', 'lognormal', 'common' "
            "(did you mean 'lublin'?) (see gnomon generate --help)",
        ),
        (["verify", "x", "--nope"], "error: No such option: --nope (see gnomon verify --help)"),
        (["verify", "nowhere.json"], "error: nowhere.json: no such file"),
        (["help", "expalin"], "error: No such command 'expalin'. Did you mean 'explain'? (see gnomon --help)"),
        (["explain"], f"error: SUBJECT: {SAY}; allowed: gnomon explain NAME -f FILE{WHERE}"),
        (["explain", "-f", "a", "-f", "b"], f"error: SUBJECT: {SAY}; allowed: gnomon explain NAME -f a -f b{WHERE}"),
        (["explain", "--run", "a"], f"error: SUBJECT: {SAY}; allowed: gnomon explain NAME --run DIR"),
        (["query", "nowhere", "SELECT 1"], "error: nowhere: not a run: it has no log.parquet"),
        (["verify", "no\x1b[31m\nwhere.json"], "error: no\\x1b[31m\\nwhere.json: no such file"),
    ],
)
def test_mistakes_get_one_line_and_code_2(gnomon: Gnomon, arguments: list[str], said: str) -> None:
    ended = gnomon(*arguments)
    assert (ended.code, ended.out, ended.err) == (USER_ERROR, "", said + "\n")


@pytest.mark.parametrize(
    ("content", "commands"),
    [
        ("apiVersion: v1\nkind: Pod", "gnomon simulate ./{f}, gnomon explain NAME -f ./{f}"),
        ("#!/bin/sh\n#SBATCH -n 1\n", "gnomon simulate ./{f}, gnomon explain NAME -f ./{f}"),
        ('{"Event":"SparkListenerLogStart"}', "gnomon explain app -f ./{f}, gnomon simulate ./{f}"),
        ("nodes: []\n", "gnomon simulate ./{f}, gnomon explain NAME -f ./{f}"),
    ],
)
def test_a_file_without_a_verb_gets_the_commands_that_are_for_it(
    gnomon: Gnomon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, commands: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a file").write_text(content)
    ended = gnomon("./a file")
    said = commands.replace("./{f}", "'./a file'")
    assert (ended.code, ended.out) == (USER_ERROR, "")
    assert ended.err == f"error: ./a file: this is no verb: say what you want to know of it; allowed: {said}\n"
    asked = gnomon("explain", "./a file").err
    assert asked == f"error: SUBJECT: say what is to be explained; allowed: {said}\n"


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), INTERRUPTED, ""),
        (PermissionError(13, "Permission denied", "out.html"), USER_ERROR, "error: out.html: Permission denied\n"),
        (EOFError("oh"), OUR_FAULT, "error: EOFError: oh. This is a bug in Gnomon, please report it"),
        (ZeroDivisionError("oh"), OUR_FAULT, "error: ZeroDivisionError: oh. This is a bug in Gnomon, please report it"),
        (InvariantError("two places", story=["row 1", "row 2"], seed=7), OUR_FAULT, "(seed 7)"),
    ],
)
def test_whatever_is_raised_becomes_an_exit_code(
    gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, said: str
) -> None:
    def fail(path: object) -> None:
        raise raised

    monkeypatch.setattr("gnomon.api.verify.read_case", fail)
    ended = gnomon("verify", "x.json")
    assert ended.code == code
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.strip().splitlines()) <= (3 if isinstance(raised, InvariantError) else 1)


def test_the_traceback_is_there_for_those_who_ask(gnomon: Gnomon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_DEBUG", "1")
    assert "Traceback" in gnomon("verify", "nowhere.json").err


def test_several_mistakes_get_a_line_each(gnomon: Gnomon, tmp_path: Path) -> None:
    path = tmp_path / "pods.yaml"
    bad = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {priority: x, containers: [{name: c}]}\n"
    path.write_text(bad % "a" + "---\n" + bad % "b")
    ended = gnomon("explain", "a", "-f", str(path))
    assert ended.code == USER_ERROR
    assert [line.partition(", Pod ")[0] for line in ended.err.splitlines()] == [
        f"error: {path}, line 4",
        f"error: {path}, line 9",
    ]


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    for i in range(2000):
        (tmp_path / f"{i}.json").write_text(f'{{"name": "{"n" * 100}", "system": "abacus", "outcome": 0}}')
    command = 'set -o pipefail; "$@" | head -1'
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        ["bash", "-c", command, "-", *PROGRAM, "verify", str(tmp_path)],
        text=True,
        capture_output=True,
        check=False,
        env=environment,
    )
    assert ended.returncode == ANSWERED
    assert ended.stderr == "2000 cases: 0 agree, 0 disagree, 2000 not modelled\n"


@pytest.mark.parametrize(
    ("redirections", "code", "said"),
    [
        (">&-", ANSWERED, "3 cases: 0 agree"),
        ("2>&-", ANSWERED, ""),
        (">&- 2>&- <&-", ANSWERED, ""),
        ("> /dev/full", USER_ERROR, "error: standard output: cannot be written: No space left on device\n"),
        ("2> /dev/full", ANSWERED, ""),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="the system has no device that is full")
def test_streams_that_are_closed_or_full(tmp_path: Path, redirections: str, code: int, said: str) -> None:
    for i in range(3):
        (tmp_path / f"{i}.json").write_text('{"name": "n", "system": "abacus", "outcome": 0}')
    ended = subprocess.run(
        ["bash", "-c", f'"$@" {redirections}', "-", *PROGRAM, "verify", str(tmp_path)],
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert ended.returncode == code
    assert ended.stderr.startswith(said)
    assert "Traceback" not in ended.stderr


def test_names_that_the_terminal_cannot_write_do_not_stop_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"name": "größer\\ud800", "system": "Ω", "outcome": 0}', encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([*PROGRAM, "verify", str(tmp_path)], capture_output=True, check=False, env=environment)
    assert ended.returncode == ANSWERED
    assert rb"gr\xf6\xdfer" in ended.stdout


def test_help_is_there_at_once() -> None:
    start("--help")  # leaves its modules compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert start("--help").returncode == ANSWERED
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 0.5


def test_completion_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # whatever shell runs the tests
    assert "gnomon" in start("--show-completion", "bash").stdout


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gnomon exp", "explain"),
        ("gnomon simulate x --pol", "--policy"),
        ("gnomon simulate x --policy sjf+ea", "sjf+easy"),
    ],
)
def test_a_shell_is_told_how_words_go_on(monkeypatch: pytest.MonkeyPatch, line: str, words: str) -> None:
    for name, value in (("_GNOMON_COMPLETE", "complete_bash"), ("COMP_WORDS", line)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    ended = start()
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (ANSWERED, [words], "")


def test_files_and_runs_of_nearly_the_name_are_offered(
    gnomon: Gnomon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deploy.yaml").touch()
    Path("results").mkdir()
    assert gnomon("simulate", "deploi.yaml").err == "error: deploi.yaml: no such file (did you mean 'deploy.yaml'?)\n"
    assert "(did you mean 'results'?)" in gnomon("query", "resluts", "SELECT 1").err
    assert "(did you mean 'results'?)" in gnomon("explain", "a", "--run", "resluts").err
    assert "did you mean" not in gnomon("simulate", "else.swf").err
