"""Retries: the rows of delays of real systems, limits, and counters that do not mix."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.recovery import CAUSES, Backoff, Recovery, Retry
from gnomon.model.resources import NEVER
from gnomon.recovery.retry import Answer, Attempts

SECOND = 1_000_000_000
MINUTE = 60 * SECOND


def undrawn() -> float:
    raise AssertionError("no jitter, no draw")


def row(backoff: Backoff, length: int, cause: str = "exit") -> list[float]:
    """The first delays, in seconds, of a task whose attempts all end at once."""
    task, recovery = Attempts(), Recovery((Retry((cause,), backoff=backoff),))
    return [task.failed(recovery, cause, 0, 0, undrawn).delay_ns / SECOND for _ in range(length)]


CRASH_LOOP = Backoff(first_ns=10 * SECOND, factor_e4=20_000, most_ns=300 * SECOND, free=1, reset_ns=10 * MINUTE)


def test_crash_loop_doubles_from_10_to_300_seconds_after_a_free_restart() -> None:
    assert row(CRASH_LOOP, 8) == [0, 10, 20, 40, 80, 160, 300, 300]


def test_a_run_of_ten_minutes_begins_the_row_anew() -> None:
    task, recovery = Attempts(), Recovery((Retry(backoff=CRASH_LOOP),))
    delays = [
        task.failed(recovery, "exit", 0, ran, undrawn).delay_ns // SECOND
        for ran in (0, 0, 0, 10 * MINUTE - 1, 10 * MINUTE, 0, 0)
    ]
    assert delays == [0, 10, 20, 40, 0, 10, 20]


def test_a_long_run_that_another_cause_ended_begins_the_row_anew_too() -> None:
    task = Attempts()
    recovery = Recovery((Retry(("node",)), Retry(("exit",), limit=5, backoff=CRASH_LOOP)))
    for _ in range(4):
        task.failed(recovery, "exit", 0, 0, undrawn)
    task.failed(recovery, "node", 0, 10 * MINUTE, undrawn)
    answer = task.failed(recovery, "exit", 0, 0, undrawn)
    assert (answer.delay_ns, answer.count) == (0, 5), "the row began anew, the count of retries did not"
    assert not task.failed(recovery, "exit", 0, 0, undrawn).retry


def test_delays_of_a_job_double_from_10_to_600_seconds() -> None:
    backoff = Backoff(first_ns=10 * SECOND, factor_e4=20_000, most_ns=600 * SECOND)
    assert row(backoff, 9) == [min(600, 10 * 2 ** (n - 1)) for n in range(1, 10)]


def test_exponential_restarts_add_up_as_in_the_capacity_sheet() -> None:
    backoff = Backoff(first_ns=SECOND, factor_e4=15_000, most_ns=60 * SECOND)
    sums = [round(total, 1) for total in accumulate(row(backoff, 13))]
    assert sums[:5] == [1, 2.5, 4.8, 8.1, 13.2]
    assert sums[5:10] == [20.8, 32.2, 49.3, 74.9, 113.3]
    assert sums[10:] == [171.0, 231.0, 291.0], "11 restarts, then a minute each"


def test_refused_creations_come_again_after_5_milliseconds_doubling() -> None:
    backoff = Backoff(first_ns=5_000_000, factor_e4=20_000, most_ns=1_000 * SECOND)
    moments = list(accumulate(row(backoff, 18)))
    after_grace = next(moment for moment in moments if moment >= 90)
    assert [round(after_grace, 1), round(moments[moments.index(after_grace) - 1], 1)] == [163.8, 81.9]


def test_four_attempts_are_three_retries() -> None:
    task, recovery = Attempts(), Recovery((Retry(("exit",), limit=3),))
    answers = [task.failed(recovery, "exit", 0, 0, undrawn) for _ in range(4)]
    assert [(answer.retry, answer.count) for answer in answers] == [(True, 1), (True, 2), (True, 3), (False, 3)]


def test_a_cause_that_no_rule_names_ends_the_task() -> None:
    answer = Attempts().failed(Recovery(), "exit", 7, 0, undrawn)
    assert answer == Answer(retry=False, delay_ns=0, in_place=False, count=0, limit=0, rule=-1, at_ns=NEVER)


def test_each_rule_counts_for_itself_and_the_first_that_names_the_cause_answers() -> None:
    recovery = Recovery((Retry(("memory",), -1), Retry(("exit", "memory"), 1, in_place=True), Retry(("node",), 1)))
    task = Attempts()
    rules = [task.failed(recovery, cause, 0, 0, undrawn) for cause in ("memory", "node", "memory", "exit", "node")]
    assert [answer.rule for answer in rules] == [0, 2, 0, 1, 2]
    assert [answer.count for answer in rules] == [1, 1, 2, 1, 1]
    assert [answer.retry for answer in rules] == [True, True, True, True, False]
    assert [answer.in_place for answer in rules] == [False, False, False, True, False]


def test_a_row_of_few_nanoseconds_grows() -> None:
    backoff = Backoff(first_ns=1, factor_e4=15_000)
    assert [round(delay * SECOND) for delay in row(backoff, 6)] == [1, 1, 2, 3, 5, 7], "1.5^n, rounded down"


def test_the_time_of_the_retry_never_passes_the_end_of_time() -> None:
    backoff = Backoff(first_ns=NEVER)
    answer = Attempts().failed(Recovery((Retry(backoff=backoff),)), "exit", 5, 0, undrawn)
    assert (answer.retry, answer.at_ns) == (True, NEVER)


@given(
    first=st.integers(0, 10**13),
    factor=st.integers(10_000, 40_000),
    most=st.integers(0, 10**13),
    jitter=st.integers(0, 10_000),
    draws=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=30),
)
def test_jitter_stays_within_its_part_of_the_row(
    first: int, factor: int, most: int, jitter: int, draws: list[float]
) -> None:
    plain = Recovery((Retry(backoff=Backoff(first, factor, most)),))
    noisy = Recovery((Retry(backoff=Backoff(first, factor, most, jitter_e4=jitter)),))
    one, two, before = Attempts(), Attempts(), 0
    for value in draws:
        expected = one.failed(plain, "exit", 0, 0, undrawn).delay_ns
        delay = two.failed(noisy, "exit", 0, 0, lambda value=value: value).delay_ns  # type: ignore[misc]
        assert before <= expected <= most, "delays without jitter only grow, up to the most"
        assert abs(delay - expected) * 10_000 <= expected * jitter
        before = expected


@given(causes=st.lists(st.sampled_from(CAUSES), max_size=40), limit=st.integers(0, 5))
def test_retries_of_a_rule_never_exceed_its_limit(causes: list[str], limit: int) -> None:
    recovery = Recovery((Retry(("exit", "memory"), limit), Retry(("node",), limit), Retry(("disk",))))
    task = Attempts()
    granted = [cause for cause in causes if task.failed(recovery, cause, 0, 0, undrawn).retry]
    assert granted.count("exit") + granted.count("memory") == min(limit, causes.count("exit") + causes.count("memory"))
    assert granted.count("node") == min(limit, causes.count("node"))
    assert granted.count("disk") == causes.count("disk")
    assert not set(granted) - {"exit", "memory", "node", "disk"}
