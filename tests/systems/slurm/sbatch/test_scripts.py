"""Scripts: words of directives, where directives end, components (see test_submission for recorded scripts)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.slurm.sbatch.refusals import RefusedError
from gnomon.systems.slurm.sbatch.scripts import check, components, words, wrapped


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (" -n4 -J name", ["-n4", "-J", "name"]),
        ("\t--time=5 ", ["--time=5"]),
        (' --comment="a # b" -J x#y', ["--comment=a # b", "-J", "x"]),
        (' --comment="say \\"a\\""', ['--comment=say "a"']),
        (" --comment='say \"a\"'", ['--comment=say "a"']),
        (" --comment=a\\ b\\#c", ["--comment=a b#c"]),
        (' -J "" -n3', ["-J"]),  # an empty word ends the line
        (" -n2 hetjob -t5", ["-n2"]),
        (" # -n4", []),
    ],
)
def test_words(line: str, found: list[str]) -> None:
    assert list(words(line, "run.sh", 2)) == found


def test_directives_end_at_the_first_command() -> None:
    script = "#!/bin/sh\n\n# a comment\n#SBATCH -n1\n##SBATCH -n2\n #SBATCH -n3\n# SBATCH -n4\n\t\n#SBATCH -t5\n"
    script += "run\n#SBATCH -n6\n"
    assert components(script, "run.sh", []) == [["-n1", "-t5"]]


def test_components_of_a_heterogeneous_job() -> None:
    said: list[str] = []
    script = "#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH packjob\n#SBATCH -n3\n"
    assert components(script, "run.sh", said) == [["-n1"], [], ["-n3"]]
    assert said == [
        'sbatch: Warning: the "packjob" component separator is being deprecated. Please, use "hetjob" instead.'
    ]


def test_what_wrap_makes_is_a_script() -> None:
    check(wrapped("sleep 1"))


@given(st.text(st.sampled_from("ab \t\"'\\#:-="), max_size=15))
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        found = list(words(line, "run.sh", 2))
    except RefusedError:
        assert any(letter in line for letter in "\"':")
    else:
        assert all(found)
