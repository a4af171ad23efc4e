"""Host lists against what ``scontrol show hostlist`` and ``hostnames`` of Slurm 22.05 printed, and by their laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.hostlist import by_name, compare_names, compress, expand


def test_expands_as_scontrol_show_hostnames() -> None:
    listed = expand("node[001-003,007],gpu[01-03],bigmem01")
    assert listed == ("node001", "node002", "node003", "node007", "gpu01", "gpu02", "gpu03", "bigmem01")


def test_compresses_as_scontrol_show_hostlist() -> None:
    names = expand("n1,n2,n3,n5,a-b01,a-b02,x[1-2]y[3-4]")
    assert compress(names) == "n[1-3,5],a-b[01-02],x1y[3-4],x2y[3-4]"


def test_of_three_brackets_the_last_counts_fastest_then_the_first() -> None:
    """As ``hostlist_create`` of libslurm 22.05.8 gives them."""
    assert expand("r[1-2]c[1-2]n[1-2]") == (
        *("r1c1n1", "r1c1n2", "r2c1n1", "r2c1n2"),
        *("r1c2n1", "r1c2n2", "r2c2n1", "r2c2n2"),
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["n9", "n10"], "n[9-10]"),
        (["n09", "n10"], "n[09-10]"),
        (["n99", "n100"], "n[99-100]"),
        (["n099", "n100"], "n[099-100]"),
        (["n9", "n010"], "n[9,010]"),
        (["n5"], "n5"),
        (["b", "a"], "b,a"),
        (["12", "13"], "[12-13]"),
        ([], ""),
    ],
)
def test_numbers_join_where_they_are_printed_alike(names: list[str], text: str) -> None:
    assert compress(names) == text
    assert list(expand(text)) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n[4-1]", "Invalid range: `4-1'"),
        ("n[a]", "Invalid range: `a'"),
        ("n[1x3]", "Invalid range: `1x3'"),
        ("n[]", "Invalid range: `'"),
        ("n[1--2]", "Invalid range: `1--2'"),
        ("n[0-65536]", "Too many hosts in range `0-65536'"),
        ("z[0-3]-ib", "text after the last bracket"),
        ("n[1-3", "unbalanced brackets"),
        ("n]1", "unbalanced brackets"),
        ("a[0-9999]b[0-9999]", "too many hosts"),
    ],
)
def test_refuses_what_slurm_refuses(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("[", r"\[")):
        expand(text)


def test_names_are_ordered_with_their_numbers_as_numbers() -> None:
    names = ["login-x1", "c100", "c98", "r10n1", "r9n2", "a10", "a9", "b"]
    assert by_name(names) == ["a9", "a10", "b", "c98", "c100", "login-x1", "r9n2", "r10n1"]


def test_a_number_that_begins_with_zero_compares_digit_by_digit() -> None:
    assert by_name(["n1", "n010", "n01", "n9"]) == ["n01", "n010", "n1", "n9"]


NAMES = st.from_regex(r"[a-z]{1,3}(-[a-z])?[0-9]{0,4}", fullmatch=True)


@given(st.lists(NAMES, max_size=60))
def test_what_is_compressed_expands_to_the_same_names(names: list[str]) -> None:
    assert list(expand(compress(names))) == names


@given(st.text("n019[]-,x\t ", max_size=24))
def test_any_text_is_a_list_or_an_input_error(text: str) -> None:
    try:
        names = expand(text)
    except InputError:
        return
    assert expand(compress(names)) == names


@given(NAMES, NAMES)
def test_the_order_of_two_names_turns_with_them(a: str, b: str) -> None:
    assert compare_names(a, b) == -compare_names(b, a)
    assert (compare_names(a, b) == 0) == (a == b)
