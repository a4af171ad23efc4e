"""What exit codes and messages of lost executors mean, and what failed tasks say."""

import pytest

from gnomon.insight.spark.meanings import of_failure, of_loss, user_error
from gnomon.systems.spark.tasks import Failure

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("reason", "rule", "change"),
    [
        ("Command exited with code 137", "killed", "spark.executor.memoryOverhead"),
        ("Command exited with code 52", "heap-oom", "spark.executor.memory"),
        ("Container exited with exit code: 137", "killed", "spark.executor.memoryOverhead"),
        ("Container marked as failed: c_1 on host: h. Exit status: 143. Diagnostics: ", "terminated", "preemption"),
        ("The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).", "killed",
         "memoryOverhead"),
        ("Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used. "
         "Consider boosting spark.executor.memoryOverhead.", "killed", "spark.executor.memoryOverhead"),
        ("Container killed by YARN for exceeding virtual memory limits. 7.2 GB of 4.2 GB virtual memory used.",
         "virtual-memory", "yarn.nodemanager.vmem-check-enabled=false"),
        ("Executor heartbeat timed out after 130023 ms", "heartbeat", "GC time"),
        ("Executor decommission: spot interruption", "decommission", "spark.storage.decommission"),
        ("Container c_1 on host: h was preempted.", "preempted", "queue"),
        ("Executor killed by driver.", "released", ""),
        ("Container from a bad node: c_1 on host: h. Exit status: 134.", "abort", "hs_err"),
        ("something else\nmore", "lost", ""),
        ("", "lost", ""),
    ],
)  # fmt: skip
def test_reasons_of_losses(reason: str, rule: str, change: str) -> None:
    found = of_loss(reason)
    assert found.rule == rule
    assert change in found.change
    assert bool(found.change) == bool(change)


@pytest.mark.parametrize(
    ("failure", "rule", "what"),
    [
        (Failure("ExceptionFailure", "java.lang.OutOfMemoryError", "Java heap space"), "heap-oom",
         "the JVM heap was full"),
        (Failure("ExceptionFailure", "org.apache.spark.memory.SparkOutOfMemoryError", "Unable to acquire 9 bytes"),
         "execution-memory", "execution memory"),
        (Failure("ExceptionFailure", "java.io.IOException", "No space left on device"), "disk", "a local disk is full"),
        (Failure("ExceptionFailure", "org.x.SparkException", "Total ... is bigger than spark.driver.maxResultSize 1g"),
         "result-size", "larger than the driver takes"),
        (Failure("ExceptionFailure", "a.B", "no\n at x"), "exception", "B: no"),
        (Failure("FetchFailed", executor="7"), "fetch-failed", "shuffle output of executor 7"),
        (Failure("FetchFailed"), "fetch-failed", "whose place is not known any more"),
        (Failure("ExecutorLostFailure", text="Command exited with code 52"), "heap-oom", "JVM heap"),
        (Failure("TaskKilled", text="another attempt succeeded"), "killed-copy", "another attempt succeeded"),
        (Failure("Resubmitted"), "resubmitted", "its shuffle output was lost"),
        (Failure("TaskCommitDenied"), "commit-denied", "another attempt had committed"),
        (Failure("TaskResultLost"), "TaskResultLost", "TaskResultLost"),
    ],
)  # fmt: skip
def test_reasons_of_failures(failure: Failure, rule: str, what: str) -> None:
    found = of_failure(failure)
    assert found.rule == rule
    assert what in found.what


def test_the_users_own_line_of_a_python_traceback() -> None:
    text = (
        "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):\n"
        '  File "worker.py", line 1, in main\n    process()\nZeroDivisionError: division by zero\n'
    )
    assert user_error(text) == "ZeroDivisionError: division by zero"
    assert user_error("") == "without a message"
