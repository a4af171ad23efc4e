"""What the reasons for lost executors and failed tasks really say, and what to change, in Spark's words.

Exit codes: those of Spark (``SparkExitCode`` 50 to 52, ``ExecutorExitCode`` 53 to 58); above 128 the number of a signal
that ended the process, as a shell tells it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.systems.spark.tasks import Failure


@dataclass(frozen=True, slots=True)
class Meaning:
    """``rule``: a short name; ``what``: what happened, as a clause; ``change``: what to change, empty for nothing."""

    rule: str
    what: str
    change: str = ""


_OVERHEAD: Final = (
    "raise spark.executor.memoryOverhead (Python workers, direct buffers and native libraries live there; the heap, "
    "spark.executor.memory, is not what is short), or run fewer tasks at a time in an executor (spark.executor.cores)"
)
_HEAP: Final = (
    "raise spark.executor.memory, or give each task less: more partitions, fewer spark.executor.cores; a task that "
    "collects a whole group or partition into memory needs another algorithm"
)

_NOTICED: Final = (
    "an executor that falls silent is given up after spark.network.timeout (120s by default): a shorter one runs its "
    "tasks again sooner, and takes long pauses for losses"
)

EXIT_CODES: Final[Mapping[int, Meaning]] = {
    0: Meaning("exit", "the executor ended by itself, as when somebody stops it"),
    1: Meaning("exit", "the executor's process ended with an error before or beside Spark", "look into its stderr"),
    50: Meaning("uncaught", "an exception that nobody caught ended the executor", "look into its stderr"),
    51: Meaning("uncaught", "an exception that nobody caught ended the executor", "look into its stderr"),
    52: Meaning("heap-oom", "the JVM heap was full: java.lang.OutOfMemoryError", _HEAP),
    53: Meaning("disk", "no local directory could be made", "free or replace the disks of spark.local.dir"),
    56: Meaning("heartbeat", "its heartbeats to the driver failed too often", "look for GC pauses and the network"),
    57: Meaning("reaper", "a task that was killed did not stop, and spark.task.reaper ended the executor"),
    58: Meaning("block-manager", "its block manager could not register again with the driver"),
    134: Meaning("abort", "the process aborted itself (SIGABRT)", "look for hs_err files and native libraries"),
    137: Meaning(
        "killed",
        "the process was killed from outside (SIGKILL, 128 + 9): nearly always because it outgrew the memory of its "
        "container or of the machine",
        _OVERHEAD,
    ),
    139: Meaning("segfault", "the process crashed (SIGSEGV)", "look for hs_err files and native libraries"),
    143: Meaning(
        "terminated",
        "the process was asked to end (SIGTERM, 128 + 15): preemption, a drained or reclaimed node",
        "see who ended it: queue preemption, spot reclaims, autoscaler; spark.decommission.enabled moves its blocks",
    ),
}
"""By exit code."""

_CODE: Final = re.compile(r"(?:[Ee]xit(?:ed with)?(?: code| status)?|exitCode)[ :=]*(?:is )?(\d{1,3})\b")
_VIRTUAL: Final = re.compile(r"([\d.]+ ?[KMGT]?B) of ([\d.]+ ?[KMGT]?B) virtual memory used")
_PHYSICAL: Final = re.compile(r"([\d.]+ ?[KMGT]?B) of ([\d.]+ ?[KMGT]?B) physical memory used")

_WORDS: Final[Sequence[tuple[str, Meaning]]] = (
    (
        "heartbeat timed out",
        Meaning(
            "heartbeat",
            "no heartbeat came for spark.network.timeout: a long GC pause, a process that swaps, or a lost machine",
            "give it more memory or fewer cores when its GC time is high; raising spark.network.timeout only hides it",
        ),
    ),
    (
        "decommission",
        Meaning(
            "decommission",
            "it was decommissioned: its node is drained or reclaimed",
            "let shuffle blocks be moved in time (spark.storage.decommission.shuffleBlocks.enabled), or do not evict "
            "executors; with spark.stage.ignoreDecommissionFetchFailure=true (from 3.4 on) they do not abort a job",
        ),
    ),
    (
        "killed by driver",
        Meaning("released", "the driver let it go: dynamic allocation, or the end of the application"),
    ),
    ("preempt", Meaning("preempted", "the resource manager took it for somebody else", "more share for the queue")),
    ("lost node", Meaning("node-lost", "its node is gone", _NOTICED)),
    ("Worker shutting down", Meaning("node-lost", "its worker shut down")),
    ("worker lost", Meaning("node-lost", "its worker is gone")),
    ("OOMKilled", EXIT_CODES[137]),
    (
        "Remote RPC client disassociated",
        Meaning(
            "disconnected",
            "its connection broke; Spark does not know why (most often the process was killed for its memory)",
            "look for its exit code in the resource manager: 137 is memory of the container, 52 the heap",
        ),
    ),
)


def of_loss(reason: str) -> Meaning:
    """What the reason for a lost executor says.

    >>> of_loss("Command exited with code 52").what
    'the JVM heap was full: java.lang.OutOfMemoryError'
    >>> of_loss("7.2 GB of 4.2 GB virtual memory used. Consider boosting memoryOverhead.").rule
    'virtual-memory'
    """
    if match := _VIRTUAL.search(reason):
        what = (
            f"YARN's check of VIRTUAL memory killed it ({match[1]} of {match[2]}); physical memory is not what is short"
        )
        change = "yarn.nodemanager.vmem-check-enabled=false, or a larger yarn.nodemanager.vmem-pmem-ratio"
        return Meaning("virtual-memory", what, change)
    if match := _PHYSICAL.search(reason):
        return Meaning(
            "killed", f"its container used {match[1]} of {match[2]} physical memory, and was killed", _OVERHEAD
        )
    for word, meaning in _WORDS:
        if word.lower() in reason.lower():
            return meaning
    if (match := _CODE.search(reason)) and int(match[1]) in EXIT_CODES:
        return EXIT_CODES[int(match[1])]
    return Meaning("lost", reason.partition("\n")[0] or "it is not said why")


_EXCEPTIONS: Final[Sequence[tuple[str, str, Meaning]]] = (
    ("java.lang.OutOfMemoryError", "", Meaning("heap-oom", "the JVM heap was full", _HEAP)),
    (
        "org.apache.spark.memory.SparkOutOfMemoryError",
        "",
        Meaning("execution-memory", "a task could not get execution memory, and had nothing left to spill", _HEAP),
    ),
    (
        "",
        "spark.driver.maxResultSize",
        Meaning(
            "result-size",
            "the results are larger than the driver takes",
            "write the result instead of collecting it, or raise spark.driver.maxResultSize",
        ),
    ),
    (
        "",
        "No space left on device",
        Meaning(
            "disk",
            "a local disk is full: shuffle files and spills go to spark.local.dir",
            "larger or more disks in spark.local.dir, fewer spills",
        ),
    ),
    (
        "",
        "spark.kryoserializer.buffer",
        Meaning("kryo", "a record is larger than the serialiser's buffer", "raise spark.kryoserializer.buffer.max"),
    ),
)


def of_failure(failure: Failure) -> Meaning:
    """What the failure of an attempt of a task says."""
    if failure.reason == "ExecutorLostFailure":
        return of_loss(failure.text)
    if failure.reason == "FetchFailed":
        whom = f"of executor {failure.executor}" if failure.executor else "whose place is not known any more"
        return Meaning(
            "fetch-failed",
            f"shuffle output {whom} could not be read: the executor is gone or too busy to answer",
            "keep executors until their shuffle output is read (external or remote shuffle service, decommissioning "
            "with migration), and find out why that one was lost",
        )
    if failure.reason == "TaskKilled":
        return Meaning("killed-copy", f"it was killed: {failure.text or 'not wanted any more'}")
    if failure.reason == "Resubmitted":
        return Meaning("resubmitted", "it was done, and its shuffle output was lost with its executor")
    if failure.reason == "TaskCommitDenied":
        return Meaning("commit-denied", "another attempt had committed its output")
    if failure.reason == "ExceptionFailure":
        for class_name, word, meaning in _EXCEPTIONS:
            if (class_name and class_name == failure.class_name) or (word and word in failure.text):
                return meaning
        name = failure.class_name.rpartition(".")[2] or "an exception"
        return Meaning("exception", f"{name}: {user_error(failure.text)}", "the program, or the data that it met")
    return Meaning(failure.reason, failure.text.partition("\n")[0] or failure.reason)


def user_error(text: str) -> str:
    """The line of an exception that says what went wrong: of a Python traceback the last one.

    >>> user_error("An exception was thrown: Traceback (most recent call last):\\n  File ...\\nValueError: bad\\n")
    'ValueError: bad'
    >>> user_error("Java heap space\\n at X")
    'Java heap space'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "without a message"
    if "Traceback (most recent call last)" not in text:
        return lines[0].strip()
    own = [line for line in lines[1:] if not line.startswith((" ", "\t"))]
    return (own[-1] if own else lines[-1]).strip()
