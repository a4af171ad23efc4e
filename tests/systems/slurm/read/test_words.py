"""Values as Slurm's commands print them: what no cluster has is refused, what stands for nothing is nothing."""

from collections.abc import Callable

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.jobs import number
from gnomon.systems.slurm.read.words import NO_TIME, count, job_id, moment, size_mb, tres, whole

pytestmark = pytest.mark.unit

DIGITS = "9" * 5000  # more than int() takes


@pytest.mark.parametrize("read", [whole, count, size_mb, job_id, moment])
@pytest.mark.parametrize("text", [DIGITS, "9" * 400, "²", "٣", f"{DIGITS}E", "nan", "1e400"])
def test_what_is_no_number_of_a_cluster_is_refused(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_whole_numbers_have_32_bits() -> None:
    assert whole("4294967295") == 4_294_967_295
    with pytest.raises(InputError, match="whole numbers up to 4294967295"):
        whole("4294967296")


@pytest.mark.parametrize("text", ["0", "4294967294", "4294967295"])
def test_no_val_and_infinite_are_no_moment(text: str) -> None:
    """``slurm_make_time_str`` of src/common/parse_time.c prints Unknown and None for them."""
    assert moment(text) == NO_TIME


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00", "1969-12-31T23:59:59", "9999-12-31T23:59:59"])
def test_a_moment_that_does_not_fit_in_the_ledger_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="1970 to 2105"):
        moment(text)


def test_energy_that_nobody_measures_is_left_out() -> None:
    """``NO_VAL64`` of slurm.h: what AllocTRES says of energy where no plugin gathers it."""
    assert tres("cpu=4,energy=18446744073709551614,mem=4G") == {"cpu": 4, "mem": 4096}
    assert number(18446744073709551614) is None


def test_amounts_go_up_to_what_the_ledger_holds() -> None:
    assert size_mb("8P") == 2**33
    assert tres("energy=9007199254740992")["energy"] == 2**53
    for text in ("mem=9P", "cpu=8589934593", "energy=9007199254740993000"):
        with pytest.raises(InputError, match="more than any cluster has"):
            tres(text)


@pytest.mark.parametrize("value", [10**30, -(10**30), 2.0**70])
def test_a_number_in_json_that_nothing_has_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="more than any cluster has"):
        number(value)
