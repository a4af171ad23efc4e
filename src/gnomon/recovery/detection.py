"""Detection: when a silent node is given up, computed from the moment it fell silent, without walking over beats.

One rule for ties: a message at the very instant of a change still meets the state before it. So a beat at the moment
at which a node falls silent is heard, and a question at that moment answered. Signs of life come at multiples of
their period plus ``phase_ns``, looks at multiples of ``check_ns``, without a beginning or an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from gnomon.engine.periods import at_or_after, following
from gnomon.model.operation import Heartbeat, Probe
from gnomon.model.resources import E4, NEVER

PAUSE = 1_000
"""After so many runs of losses that nobody noticed a draw pauses."""


class Draws(Protocol):
    """What is needed of a :class:`numpy.random.Generator`."""

    def geometric(self, p: float) -> int:
        """Draw the number of trials up to and with the first one that comes true, each with the chance ``p``."""
        ...


def noticed_ns(
    detection: Heartbeat | Probe,
    silent_from_ns: int,
    *,
    refused: bool = False,
    phase_ns: int = 0,
    heard: Callable[[int], bool] | None = None,
) -> int:
    """When a node that is silent after ``silent_from_ns`` is given up [ns].

    With a :class:`Heartbeat`, at the first look at which more than the grace has passed since its last sign of life
    (or since the look that saw that; without looks, as soon as the grace has passed). ``heard`` tells of a beat
    before the silence whether it arrived (all did, by default); a node that should have been given up before it fell
    silent is so at once. With a :class:`Probe`, when so many questions in a row had no answer: ``refused`` at once,
    or each after its timeout; the next question follows a period after the last one was answered or failed.

    Beats of 10 s, looks every 5 s, 50 s of grace (node-lifecycle controller of Kubernetes 1.32):

    >>> noticed_ns(Heartbeat(10, 5, 50, "seen"), 100), noticed_ns(Heartbeat(10, 5, 50, "seen"), 109)
    (155, 155)

    Questions every 3 s, 10 s of timeout, 5 failures (health checks of the Ray control service):

    >>> noticed_ns(Probe(3, 10, 5), 0, refused=True), noticed_ns(Probe(3, 10, 5), 0)
    (15, 65)
    """
    if isinstance(detection, Probe):
        first = following(silent_from_ns, detection.period_ns, phase_ns)
        wait = 0 if refused else detection.timeout_ns
        return first + (detection.misses - 1) * (detection.period_ns + wait) + wait
    last = last_sign(detection, silent_from_ns, phase_ns)
    if heard is not None and detection.beat_ns > 0:
        while not heard(last) and given_up_ns(detection, last) > silent_from_ns:
            last -= detection.beat_ns
    return max(given_up_ns(detection, last), at_or_after(silent_from_ns, detection.check_ns))


def given_up_ns(detection: Heartbeat, last_ns: int) -> int:
    """When a node is given up whose last sign of life came at ``last_ns`` [ns].

    With looks: the first look t at which t less the lag is more than the grace after the sign, or after the look that
    first saw it. The Slurm controller compares with its round before, a lag of 1 (``src/slurmctld/ping_nodes.c``):

    >>> [given_up_ns(Heartbeat(100, 100, 300, lag=1), last) for last in (0, 1, 99)]
    [500, 500, 500]
    """
    look = detection.check_ns
    since = at_or_after(last_ns, look) if detection.since == "seen" else last_ns
    if look <= 0:
        return since + detection.grace_ns
    return following(since + detection.grace_ns, look) + detection.lag * look


def drawn_losses(
    detection: Heartbeat | Probe, from_ns: int, until_ns: int, chance_e4: int, rng: Draws, *, phase_ns: int = 0
) -> Iterator[tuple[int, int]]:
    """Pairs of moments [ns] at which a node that is well is given up, and then heard again, because its signs of life
    after ``from_ns``, up to ``until_ns``, are each lost with a chance of ``chance_e4`` / 10,000.

    They are drawn one by one as they are asked for, in the order of time, with pauses: a pair of two equal moments, up
    to which nothing more is to come, after every :data:`PAUSE` losses in which nothing was. So the next pair is there
    soon, however rare false alarms are, and however far off the end is. A run of losses may be noticed a little after
    ``until_ns``.

    Only losses are drawn (the number of signs from one to the next is geometric), so that rare ones cost little. The
    grace is taken to be at least a beat: else the node would be given up between any two.
    """
    if chance_e4 <= 0:
        return
    if isinstance(detection, Probe):
        yield from unanswered(detection, following(from_ns, detection.period_ns, phase_ns), until_ns, chance_e4, rng)
    elif detection.beat_ns > 0:
        first = following(from_ns, detection.beat_ns, phase_ns)
        for looked, (last, again) in enumerate(gaps(first, until_ns, detection.beat_ns, chance_e4, rng), 1):
            given_up = given_up_ns(detection, last)
            if given_up < again:
                yield given_up, again
            elif looked % PAUSE == 0:
                yield last, last


def gaps(first_ns: int, until_ns: int, beat_ns: int, chance_e4: int, rng: Draws) -> Iterator[tuple[int, int]]:
    """The runs of lost beats from ``first_ns`` up to ``until_ns``: the beats heard before and after each."""
    if chance_e4 >= E4:
        after = max(first_ns, following(until_ns, beat_ns, first_ns))
        if after > first_ns:
            yield first_ns - beat_ns, after
        return
    before, lost = first_ns - beat_ns, NEVER
    upcoming = first_ns
    while True:
        upcoming += (int(rng.geometric(chance_e4 / E4)) - 1) * beat_ns
        heard_between = upcoming > lost + beat_ns
        if lost != NEVER and (heard_between or upcoming > until_ns):
            yield before, lost + beat_ns
        if upcoming > until_ns:
            return
        if lost == NEVER or heard_between:
            before = upcoming - beat_ns
        lost = upcoming
        upcoming += beat_ns


def unanswered(probe: Probe, first_ns: int, until_ns: int, chance_e4: int, rng: Draws) -> Iterator[tuple[int, int]]:
    """As :func:`drawn_losses`, for questions from ``first_ns`` on: one that is lost fails after its timeout."""
    step = probe.period_ns + probe.timeout_ns
    if chance_e4 >= E4:
        failed = first_ns + (probe.misses - 1) * step
        if failed <= until_ns:
            yield failed + probe.timeout_ns, following(until_ns, step, first_ns)
        return
    asked, misses, given_up = first_ns, 0, NEVER
    drawn = 0
    while asked <= until_ns:
        answered = int(rng.geometric(chance_e4 / E4)) - 1
        if answered:
            if given_up != NEVER:
                yield given_up, asked
            misses, given_up, drawn = 0, NEVER, drawn + 1
            if drawn % PAUSE == 0:
                yield asked, asked
        asked += answered * probe.period_ns
        if asked > until_ns:
            return
        misses += 1
        if misses == probe.misses:
            given_up = asked + probe.timeout_ns
        asked += step
    if given_up != NEVER:
        yield given_up, asked


def delayed(
    detection: Heartbeat | Probe, from_ns: int, until_ns: int, delay_ns: int, *, phase_ns: int = 0
) -> tuple[int, int] | None:
    """When a node is given up, and heard again, because messages sent after ``from_ns``, up to ``until_ns``, each come
    ``delay_ns`` later; None if it is not.

    A constant delay lengthens one silence only, the one before the first late beat, so what counts is how far it goes
    beyond the grace. A question and its answer are late both: with twice the delay beyond the timeout every question
    fails as long as the delay lasts, with less none does.

    >>> delayed(Heartbeat(10, 5, 50, "seen"), 100, 1_000, 40), delayed(Heartbeat(10, 5, 50, "seen"), 100, 1_000, 60)
    (None, (155, 170))
    """
    if isinstance(detection, Probe):
        given_up = noticed_ns(detection, from_ns, phase_ns=phase_ns)
        step = detection.period_ns + detection.timeout_ns
        last_asked = given_up - detection.timeout_ns
        if 2 * delay_ns <= detection.timeout_ns or last_asked > until_ns:
            return None
        return given_up, following(until_ns, step, last_asked)
    if detection.beat_ns <= 0:
        silent, again = from_ns, min(from_ns + delay_ns, until_ns)
    else:
        silent = last_sign(detection, from_ns, phase_ns)
        late = silent + detection.beat_ns
        again = late if late > until_ns else min(late + delay_ns, following(until_ns, detection.beat_ns, phase_ns))
    given_up = given_up_ns(detection, silent)
    return (given_up, again) if given_up < again else None


def last_sign(detection: Heartbeat, now: int, phase_ns: int) -> int:
    """The last sign of life at or before ``now`` [ns]; without a period there are signs all the time."""
    if detection.beat_ns <= 0:
        return now
    return following(now, detection.beat_ns, phase_ns) - detection.beat_ns
