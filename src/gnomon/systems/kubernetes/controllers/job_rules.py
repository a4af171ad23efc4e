"""The rules of Jobs: when the next pod comes after failures, what a failure does, when the Job has succeeded.

Source: ``pkg/controller/job`` (sheet on Kubernetes, section 9): backoff 10 s doubled up to 600 s, counted over the Job
or over the index; ``podFailurePolicy`` and ``successPolicy`` as in the API's reference.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.recovery.retry import doubling_ns
from gnomon.systems.kubernetes.api.workloads import Job, PodFailureRule, SuccessRule

FIRST_NS: Final = 10 * 10**9
MOST_NS: Final = 600 * 10**9
DEFAULT_LIMIT: Final = 6

BACKOFF_EXCEEDED: Final = "BackoffLimitExceeded"
DEADLINE_EXCEEDED: Final = "DeadlineExceeded"
FAILED_INDEXES: Final = "FailedIndexes"
TOO_MANY_INDEXES: Final = "MaxFailedIndexesExceeded"
BY_POLICY: Final = "PodFailurePolicy"
MESSAGES: Final = {
    BACKOFF_EXCEEDED: "Job has reached the specified backoff limit",
    DEADLINE_EXCEEDED: "Job was active longer than specified deadline",
    FAILED_INDEXES: "Job has failed indexes",
    TOO_MANY_INDEXES: "Job has exceeded the specified maximal number of failed indexes",
    BY_POLICY: "A pod's failure matched a FailJob rule",
}


def delay_ns(failures: int) -> int:
    """How long after the last of so many failures, since the last success, the next pod is made.

    >>> [delay_ns(n) // 10**9 for n in (0, 1, 2, 6, 7, 40)]
    [0, 10, 20, 320, 600, 600]
    """
    return doubling_ns(failures, FIRST_NS, MOST_NS)


def backoff_limit(job: Job) -> int:
    """How many failed pods a Job bears: 6; any number with a limit per index.

    >>> backoff_limit(Job("j")), backoff_limit(Job("j", backoff_limit=0))
    (6, 0)
    """
    if job.backoff_limit is not None:
        return job.backoff_limit
    return 2**31 - 1 if job.backoff_limit_per_index is not None else DEFAULT_LIMIT


def action(rules: Sequence[PodFailureRule], exit_code: int | None, conditions: Collection[str], container: str) -> str:
    """What a podFailurePolicy says of a pod: the action of the first rule that matches; Count if none does.

    ``conditions``: the types of its conditions that are True; ``exit_code`` None: no container of it failed.

    >>> disrupted = PodFailureRule("Ignore", conditions=(("DisruptionTarget", "True"),))
    >>> rules = [PodFailureRule("FailJob", "In", (42,)), disrupted]
    >>> action(rules, 42, (), "c"), action(rules, 1, (), "c"), action(rules, None, ("DisruptionTarget",), "c")
    ('FailJob', 'Count', 'Ignore')
    """
    for rule in rules:
        if rule.exit_operator:
            if exit_code in (None, 0) or (rule.container and rule.container != container):
                continue
            if (exit_code in rule.exit_codes) == (rule.exit_operator == "In"):
                return rule.action
        elif any(kind in conditions and status == "True" for kind, status in rule.conditions):
            return rule.action
    return "Count"


def indexes(text: str) -> frozenset[int]:
    """Indexes as they are written.

    >>> sorted(indexes("0,2-4,7"))
    [0, 2, 3, 4, 7]
    """
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def criteria_met(rules: Sequence[SuccessRule], succeeded: Collection[int]) -> bool:
    """Whether a successPolicy is met: by any rule, of which the count (or all) of the named indexes have succeeded.

    >>> criteria_met([SuccessRule("0-3", 2)], {1, 3}), criteria_met([SuccessRule("0,1")], {1})
    (True, False)
    """
    for rule in rules:
        named = indexes(rule.indexes) if rule.indexes else None
        good = len(set(succeeded) if named is None else named & set(succeeded))
        wanted = rule.count if rule.count is not None else len(named or ())
        if wanted and good >= wanted:
            return True
    return False


@dataclass
class Tally:
    """Where a Job stands. ``since_success``: failures since a pod last succeeded; ``last_ns``: when the last was."""

    failed: int = 0
    restarts: int = 0
    since_success: int = 0
    last_ns: int = 0


def settled(job: Job) -> tuple[set[int], set[int]]:
    """The places whose work is done, and those that were given up, by the status of a Job. Without indexes any place
    is as good as another: the last ones are done, for the first are those of the pods that run.

    >>> settled(Job("j", completions=5, succeeded=2))
    ({3, 4}, set())
    >>> settled(Job("j", completions=5, completion_mode="Indexed", done_indexes="0,2-3", failed_indexes="4"))
    ({0, 2, 3}, {4})
    """
    number = job.places
    if job.completion_mode == "Indexed":
        done, given_up = indexes(job.done_indexes), indexes(job.failed_indexes)
        return {one for one in done if one < number}, {one for one in given_up if one < number}
    return set(range(max(number - job.succeeded, 0), number)), set()


def wanted_active(job: Job, succeeded: int, active: int) -> int:
    """How many pods of a Job are to be active: of a work queue (no completions), none more once one has succeeded.

    >>> wanted_active(Job("j", completions=5, parallelism=3), 3, 0)
    2
    """
    if job.completions is None:
        return active if succeeded else job.parallelism
    return max(0, min(job.parallelism, job.completions - succeeded))
