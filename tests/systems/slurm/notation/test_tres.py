"""Resources in text."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.tres import FIXED, UNSET, format_tres, order_of, parse_tres


def test_memory_is_counted_in_mib_whatever_its_unit() -> None:
    assert parse_tres("mem=4G") == {"mem": 4096}
    assert parse_tres("mem=512") == {"mem": 512}
    assert parse_tres("Mem=1T,mem=2048K") == {"mem": 2}


def test_other_resources_take_units_of_1024_and_numbers_of_slurmdbd() -> None:
    assert parse_tres("1=10,gres/gpu=2,license/matlab=1K") == {"cpu": 10, "gres/gpu": 2, "license/matlab": 1024}


def test_minus_one_takes_a_limit_away() -> None:
    assert parse_tres("cpu=-1,node=3") == {"cpu": UNSET, "node": 3}


@pytest.mark.parametrize(
    "wrong", ["cpu", "cpu=x", "=4", "cpu=-7", "cpu=4.5", "cpu==4", "cpu=" + "9" * 5000, "mem=9000000000P"]
)
def test_what_is_no_count_is_refused(wrong: str) -> None:
    with pytest.raises(InputError):
        parse_tres(wrong)


def test_the_fixed_resources_come_first_then_those_tracked_as_they_are_listed() -> None:
    assert order_of(["license/x", "cpu"], ["gres/gpu", "gres/gpu:a100"]) == (
        *FIXED,
        "gres/gpu",
        "gres/gpu:a100",
        "license/x",
    )


def test_they_are_printed_in_order_with_those_that_are_0() -> None:
    assert format_tres({"node": 0, "cpu": 3}, FIXED) == "cpu=3,node=0"
