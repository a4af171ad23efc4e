"""Rows of a log in the words that Kubernetes has for them, each text once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.chain import Link
from gnomon.model.resources import NEVER
from gnomon.model.work import Work

_EVENTS: Final = {
    Kind.COPY: "Terminating",
    Kind.COPY_END: "Terminated",
    Kind.PREEMPT: "Preempted",
    Kind.CANCEL: "Deleted",
    Kind.QUEUE: "Pending",
    Kind.RETRY: "BackOff",
    Kind.NOTICE: "NodeNotReady",
}
_LOSSES: Final = {
    Reason.EVICTED: "Evicted",
    Reason.DRAINED: "Evicted",
    Reason.MEMORY: "OOMKilled",
    Reason.NODE_MEMORY: "OOMKilled",
    Reason.PREEMPTED: "Preempted",
    Reason.DELETED: "Deleted",
}
_PODS: Final = (
    (re.compile(r", ([^,;:]+) and 1 pods\b"), r" and \1"),
    (re.compile(r" and 1 pods\b"), ""),
    (re.compile(r"starts with 1 pods\b"), "starts"),
    (re.compile(r"asks for 1 pods\b"), "asks for no resources"),
)
"""That each pod counts as one of the pods that a node may have goes without saying."""
_WORK: Final = re.compile(r"; [\w.]+ of its work is lost")


def in_words(found: Explanation, log: Log, work: Work) -> Explanation:
    """An explanation whose rows and waits are told as Kubernetes calls them, and no text of which is told twice."""
    waits = tuple(replace(one, object=one.object.replace("task/", "pod/", 1)) for one in found.waiting)
    return replace(found, chain=tuple(_links(found.chain, log, work, found.native)), waiting=waits)


def _links(links: Iterable[Link], log: Log, work: Work, native: str) -> Iterable[Link]:
    for one in links:
        kind, who = Kind(int(log.kind[one.row])), int(log.subject[one.row])
        event = _EVENTS.get(kind, one.event)
        if kind is Kind.FAIL:
            event = _LOSSES.get(Reason(int(log.reason[one.row])), event)
            event = "Evicted" if "plugin" in log.details.get(one.row, {}) else event  # by the descheduler
        text = one.text.replace(native, "as above") if len(native) > len("as above") else one.text
        for pattern, better in _PODS:
            text = pattern.sub(better, text)
        if kind is Kind.FAIL and work.duration_ns[who] >= NEVER:
            text = _WORK.sub("", text)  # of what serves without an end there is no work that could be lost
        yield replace(one, event=event, text=text)
