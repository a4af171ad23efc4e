"""Detection: the moments of the sheets, and agreement with a walk over every beat, look and question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.operation import Heartbeat, Probe
from gnomon.model.resources import NEVER
from gnomon.recovery.detection import Draws, delayed, drawn_losses, noticed_ns

SECOND = 1_000_000_000
LEASES = Heartbeat(10 * SECOND, 5 * SECOND, 50 * SECOND, "seen")
ROUNDS = Heartbeat(100 * SECOND, 100 * SECOND, 300 * SECOND, lag=1)
CHECKS = Probe(3 * SECOND, 10 * SECOND, 5)
EXPIRY = Heartbeat(SECOND, 0, 600 * SECOND)


# ------------------------------------------------------------------ the sheets


@pytest.mark.parametrize("phase", [0, 1, 3, 4.999, 7])
@pytest.mark.parametrize("silent", [100, 101.5, 104.999, 105, 109.999])
def test_leases_give_a_node_up_40_to_60_seconds_after_it_failed(silent: float, phase: float) -> None:
    failed, shift = round(silent * SECOND), round(phase * SECOND)
    noticed = noticed_ns(LEASES, failed, phase_ns=shift)
    last = (failed - shift) // LEASES.beat_ns * LEASES.beat_ns + shift
    assert 40 * SECOND <= noticed - failed <= 60 * SECOND
    assert 50 * SECOND <= noticed - last <= 60 * SECOND
    assert noticed % (5 * SECOND) == 0


@pytest.mark.parametrize("phase", [0, 1, 50, 99])
def test_rounds_give_a_node_up_400_to_500_seconds_after_the_last_contact(phase: int) -> None:
    contact = (1_000 + phase) * SECOND
    noticed = noticed_ns(ROUNDS, contact + SECOND // 2, phase_ns=phase * SECOND)
    assert 400 * SECOND < noticed - contact <= 500 * SECOND


def test_five_health_checks_take_15_seconds_refused_and_65_without_an_answer() -> None:
    assert noticed_ns(CHECKS, 0, refused=True) == 15 * SECOND
    assert noticed_ns(CHECKS, 0) == 65 * SECOND
    assert noticed_ns(CHECKS, SECOND) == 65 * SECOND
    assert noticed_ns(CHECKS, 0, phase_ns=SECOND) == 63 * SECOND


def test_expiry_takes_600_seconds_from_the_last_heartbeat() -> None:
    assert noticed_ns(EXPIRY, 1_000 * SECOND) == 1_600 * SECOND
    assert noticed_ns(EXPIRY, 1_000 * SECOND + 999) == 1_600 * SECOND


def test_without_a_heartbeat_a_node_is_given_up_at_once() -> None:
    assert noticed_ns(Heartbeat(), 12_345) == 12_345


def test_beats_that_were_lost_before_the_silence_bring_it_forward() -> None:
    lost = {90 * SECOND, 100 * SECOND}
    assert noticed_ns(LEASES, 104 * SECOND, heard=lambda beat: beat not in lost) == 135 * SECOND
    assert noticed_ns(LEASES, 104 * SECOND, heard=lambda _: False) == 105 * SECOND, "should have been lost long ago"


# ------------------------------------------------------------------ a walk over everything


def walk(detection: Heartbeat, arrivals: list[int], first: int, last: int) -> list[tuple[int, int]]:
    """Give-ups and returns from ``first`` to ``last``, look by look (every instant, if there are no looks)."""
    look = detection.check_ns or 1
    given_up, found = None, []
    for now in range(first // look * look, last + 1, look):
        heard = [at for at in arrivals if at <= now]
        if given_up is not None and heard[-1] > given_up:
            found.append((given_up, next(at for at in heard if at > given_up)))
            given_up = None
        since = -(-heard[-1] // look) * look if detection.since == "seen" else heard[-1]
        silence = now - detection.lag * detection.check_ns - since
        over = silence > detection.grace_ns if detection.check_ns else silence >= detection.grace_ns
        if over and given_up is None and now >= first:
            given_up = now
    return found


heartbeats = st.builds(
    lambda beat, check, more, since, lag: Heartbeat(beat, check, beat + more, since, lag),
    st.integers(1, 12),
    st.integers(0, 12),
    st.integers(0, 30),
    st.sampled_from(("beat", "seen")),
    st.integers(0, 2),
)


@given(heartbeats, st.integers(200, 260), st.integers(0, 11))
def test_silence_is_noticed_when_a_walk_notices_it(detection: Heartbeat, silent: int, phase: int) -> None:
    phase %= detection.beat_ns
    beats = list(range(phase, silent + 1, detection.beat_ns))
    returned = 2_000
    assert walk(detection, [*beats, returned], 150, returned + 20) == [
        (noticed_ns(detection, silent, phase_ns=phase), returned)
    ]


@given(heartbeats, st.integers(200, 260), st.integers(0, 200), st.integers(0, 150), st.integers(0, 11))
def test_a_delay_is_noticed_when_a_walk_notices_it(
    detection: Heartbeat, start: int, length: int, delay: int, phase: int
) -> None:
    phase %= detection.beat_ns
    beats = range(phase, 1_000, detection.beat_ns)
    arrivals = sorted(beat + delay if start < beat <= start + length else beat for beat in beats)
    pair = delayed(detection, start, start + length, delay, phase_ns=phase)
    assert walk(detection, arrivals, 150, 800) == ([pair] if pair else [])


class Told:
    """Draws that lose the signs of life with the numbers given, counted from 1, and none after."""

    def __init__(self, lost: list[int]) -> None:
        self.steps = [after - before for before, after in zip([0, *lost], lost, strict=False)]

    def geometric(self, p: float) -> int:
        assert 0 < p < 1
        return self.steps.pop(0) if self.steps else 10**9


def false_losses(
    rule: Heartbeat | Probe, start: int, until: int, chance_e4: int, rng: Draws, *, phase_ns: int = 0
) -> list[tuple[int, int]]:
    """What is drawn, without its pauses."""
    pairs = drawn_losses(rule, start, until, chance_e4, rng, phase_ns=phase_ns)
    return [(given_up, again) for given_up, again in pairs if given_up < again]


def false_alarms(rule: Heartbeat | Probe, start: int, until: int, chance_e4: int, rng: Draws) -> list[int]:
    return [given_up for given_up, _ in false_losses(rule, start, until, chance_e4, rng)]


@given(heartbeats, st.sets(st.integers(1, 40), max_size=30), st.integers(0, 11))
def test_lost_beats_are_noticed_when_a_walk_notices_them(detection: Heartbeat, lost: set[int], phase: int) -> None:
    phase, start = phase % detection.beat_ns, 200
    beats = list(range(phase, 1_200, detection.beat_ns))
    subject = [beat for beat in beats if beat > start]
    gone = {subject[number - 1] for number in lost}
    arrivals = [beat for beat in beats if beat not in gone]
    until = subject[39]
    pairs = false_losses(detection, start, until, 5_000, Told(sorted(lost)), phase_ns=phase)
    assert pairs == walk(detection, arrivals, 150, 1_000)


@given(st.integers(1, 5), st.integers(0, 8), st.integers(1, 4), st.sets(st.integers(1, 40), max_size=30))
def test_lost_questions_are_noticed_when_a_walk_notices_them(
    period: int, timeout: int, misses: int, lost: set[int]
) -> None:
    asked, row, given_up, expected = period, 0, None, []
    for number in range(1, 60):
        if number in lost:
            row += 1
            if row == misses:
                given_up = asked + timeout
            asked += timeout + period
        else:
            if given_up is not None:
                expected.append((given_up, asked))
            row, given_up = 0, None
            asked += period
    probe = Probe(period, timeout, misses)
    assert (false_losses(probe, 0, 10_000, 5_000, Told(sorted(lost)))) == expected


# ------------------------------------------------------------------ losses


@pytest.mark.parametrize("detection", [LEASES, ROUNDS, CHECKS, EXPIRY])
def test_no_loss_no_alarm_and_all_lost_is_silence(detection: Heartbeat | Probe) -> None:
    rng = np.random.default_rng(1)
    assert false_alarms(detection, 0, 5_000 * SECOND, 0, rng) == []
    assert false_alarms(detection, 0, 5_000 * SECOND, 10_000, rng) == [noticed_ns(detection, 0)]
    assert false_alarms(detection, 0, SECOND, 10_000, rng) == []


def test_questions_that_are_all_lost_are_answered_again_after() -> None:
    # asked after 3, 16, 29, 42, 55 and, the first after the minute, 68 seconds
    losses = false_losses(CHECKS, 0, 60 * SECOND, 10_000, np.random.default_rng(1))
    assert losses == [(65 * SECOND, 68 * SECOND)]


def test_alarms_are_as_frequent_as_runs_of_losses() -> None:
    # The look that sees a renewal comes with it here, and 55 s later the node is given up: after five lost renewals.
    # Of n renewals, n (1 - q) q^5 are the first of five or more in a row that are lost.
    chance, renewals = 0.5, 100_000
    alarms = false_alarms(LEASES, 0, renewals * LEASES.beat_ns, 5_000, np.random.default_rng(3))
    expected = renewals * (1 - chance) * chance**5
    assert len(alarms) == pytest.approx(expected, rel=0.1)


def test_the_same_draws_give_the_same_alarms() -> None:
    first, second = (false_alarms(CHECKS, 0, 10**14, 6_000, np.random.default_rng(8)) for _ in range(2))
    assert first == second
    assert first


# ------------------------------------------------------------------ delays


def test_only_the_delay_beyond_the_grace_counts() -> None:
    minute = 60 * SECOND
    assert delayed(LEASES, 100 * SECOND, 100 * minute, 45 * SECOND) is None
    assert delayed(LEASES, 100 * SECOND, 100 * minute, minute) == (155 * SECOND, 170 * SECOND)
    assert delayed(LEASES, 100 * SECOND, 112 * SECOND, minute) is None, "the next beat is in time again"


def test_questions_fail_while_the_way_there_and_back_takes_longer_than_the_timeout() -> None:
    assert delayed(CHECKS, 0, 1_000 * SECOND, 5 * SECOND) is None
    assert delayed(CHECKS, 0, 54 * SECOND, 6 * SECOND) is None, "the fifth question is asked after 55 s"
    assert delayed(CHECKS, 0, 55 * SECOND, 6 * SECOND) == (65 * SECOND, 68 * SECOND)
    assert delayed(CHECKS, 0, 100 * SECOND, 6 * SECOND) == (65 * SECOND, 107 * SECOND)


@pytest.mark.parametrize("rule", [Heartbeat(SECOND, 0, 40 * SECOND), Probe(SECOND, SECOND, 40)])
def test_a_loss_without_an_end_is_drawn_as_far_as_it_is_asked_for(rule: Heartbeat | Probe) -> None:
    """Forty of 5 % in a row never happen: there are only pauses, ever later."""
    losses = drawn_losses(rule, 0, NEVER, 500, np.random.default_rng(1))
    moments = [next(losses) for _ in range(3)]
    assert all(given_up == again for given_up, again in moments)
    assert 0 < moments[0][0] < moments[1][0] < moments[2][0] < NEVER
