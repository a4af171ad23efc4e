"""The lines of slurm.conf as ``parse_config.c`` takes them apart."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.lines import no_includes, read_lines


def pairs(text: str, **included: str) -> list[list[tuple[str, str]]]:
    texts = {name.replace("_", "."): inside for name, inside in included.items()}

    def opener(name: str, file: str) -> tuple[str, str]:
        return (name, texts[name]) if name in texts else no_includes(name, file)

    return [
        [(pair.key, pair.value) for pair in (line.first, *line.others)]
        for line in read_lines(text, "slurm.conf", opener)
    ]


def test_comments_end_a_line_also_between_quotes() -> None:
    assert pairs("# all\nA=1 # b\n  \nReason=x\\#1") == [[("A", "1")], [("Reason", "x#1")]]
    assert pairs('Reason="a #b"') == [[("Reason", '"a')]]


def test_a_backslash_goes_on_with_the_next_line() -> None:
    assert pairs("NodeName=n1 \\\n  CPUs=4 \\  \n Weight=2\nB=2") == [
        [("NodeName", "n1"), ("CPUs", "4"), ("Weight", "2")],
        [("B", "2")],
    ]


def test_an_error_names_the_line_where_the_joined_line_begins() -> None:
    with pytest.raises(InputError) as raised:
        pairs("A=1\n\nB=2 \\\n  junk")
    assert (raised.value.file, raised.value.line, raised.value.problem) == ("slurm.conf", 3, 'Parse error: "junk"')


def test_values_may_be_quoted_and_stand_off_the_equals_sign() -> None:
    assert pairs('Key = "a b"  Other= c d+=3 e=""') == [[("Key", "a b"), ("Other", "c"), ("d", "3"), ("e", "")]]


def test_a_file_is_included_where_it_stands() -> None:
    assert pairs("A=1\nInclude more.conf\nC=3", more_conf="B=2") == [[("A", "1")], [("B", "2")], [("C", "3")]]


def test_the_name_of_an_included_file_may_hold_the_cluster() -> None:
    assert pairs("ClusterName=Big\ninclude %c.conf", big_conf="B=2")[1] == [("B", "2")]
    with pytest.raises(InputError, match="Did not get ClusterName"):
        pairs("include %c.conf", big_conf="B=2")


def test_a_file_that_includes_itself_is_refused() -> None:
    with pytest.raises(InputError, match="includes itself"):
        pairs("include a.conf", a_conf="include b.conf", b_conf="include a.conf")


def test_a_file_that_is_not_there_is_named_with_its_line() -> None:
    with pytest.raises(InputError) as raised:
        list(read_lines("A=1\nInclude nodes.conf", "slurm.conf", no_includes))
    assert (raised.value.line, raised.value.found) == (2, "nodes.conf")
