"""The words of kube-scheduler about a pod that fits nowhere (sheet §4.4; ``framework/types.go``, ``FitError``)."""

from __future__ import annotations

from collections.abc import Mapping

NO_NODES = "no nodes available to schedule pods"
NO_CLAIMS = "no new claims to deallocate"
NOT_FOUND = "not found"
NOTE_LIMIT = 1024
"""Characters of an event's note."""


def fit_error(nodes: int, histogram: Mapping[str, int], *, after: str = "", before: str = "") -> str:
    """The message. ``before``: what a PreFilter plugin said, in place of the histogram; ``after``: what the PostFilter
    plugins said. Entries are sorted as strings, their numbers included.

    >>> fit_error(12, {"Insufficient cpu": 2, "Too many pods": 10})
    '0/12 nodes are available: 10 Too many pods, 2 Insufficient cpu.'
    >>> fit_error(4, {}, before="pod affinity terms conflict", after="not found")
    '0/4 nodes are available: pod affinity terms conflict. not found'
    """
    reasons = before or ", ".join(sorted(f"{count} {reason}" for reason, count in histogram.items()))
    text = f"0/{nodes} nodes are available:"
    if reasons:
        text += f" {reasons}."
    return f"{text} {after}" if after else text


def event_note(message: str) -> str:
    """A message as an event carries it: cut to 1,024 characters.

    >>> len(event_note("x" * 2000)), event_note("x" * 2000)[-5:]
    (1024, 'x ...')
    """
    if len(message) <= NOTE_LIMIT:
        return message
    return message[: NOTE_LIMIT - len(" ...")] + " ..."
