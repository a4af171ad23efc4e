"""Cases from public trackers and documentation, as event logs that Spark would write (minimal, numbers of the cases).

U53 (SPARK-40481, SPARK-52090), U55 (jonroosevelt.com on skew), U57 (opensearch-spark #302). U52 hangs on the sizes of
YARN's containers and U59 on quotas of Kubernetes for drivers: what the log says of them is told (U52), the rest is not
in an event log.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.insight.explain import Explanation
from gnomon.insight.spark.abort import abort_of
from gnomon.insight.spark.advice import split_hot, spread
from gnomon.insight.spark.answer import explain_log
from gnomon.insight.spark.bench import Bench, bench_of
from gnomon.insight.spark.idle import Rules, idle_executors, recorded_rules
from gnomon.model.resources import NEVER
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.read import read_event_log
from tests.systems.spark.event_logs import START, EventLog, shuffle_read, stage

pytestmark = pytest.mark.cases


def ask(subject: str, application: Application) -> Explanation:
    return explain_log(subject, application)


def whole_text(found: Explanation) -> str:
    cells = [cell for listing in found.listings for row in listing.rows for cell in row]
    return "\n".join([found.summary, *cells, *(one.what for one in found.changes), *found.notes])


# ------------------------------------------------------------------ U55: 249 tasks in seconds, one for 50 minutes


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Application:
    """250 partitions on 50 cores: 249 of 12 s, and one of 3,000 s with 70 % of the rows. The hot one starts first."""
    log = EventLog()
    log.executors([str(number) for number in range(10)], cores=5)
    info = stage(0, 250, name="reduceByKey")
    log.job(0, 1, [info])
    log.submit(info, 1)
    small = shuffle_read(10 * 2**20, 100_000)
    log.task(0, 0, (1, 3001), "0", metrics=shuffle_read(6 * 2**30, 58_100_000))
    free = [(1.0, slot) for slot in range(1, 50)]
    for index in range(1, 250):
        begun, slot = min(free)
        free.remove((begun, slot))
        log.task(0, index, (begun, begun + 12), str(slot // 5), metrics=small)
        free.append((begun + 12, slot))
    log.complete(info, 1, 3001)
    log.job_end(0, 3001)
    log.end(3001)
    return read_event_log(log.write(tmp_path_factory.mktemp("u55") / "app-1"))


def seconds(bench: Bench, **changed: object) -> float:
    return bench.span_ms(**changed) / 1000  # type: ignore[arg-type]


def test_u55_the_stage_takes_as_long_as_its_hottest_partition(skewed: Application) -> None:
    found = ask("stage/0", skewed)
    text = whole_text(found)
    assert "task 0 (50m, the median of 250 is 12s)" in text
    assert "partition 0 has 70 % of the stage's data" in text
    assert "one hot key or few" in text
    assert "AQE's skew join splits partitions of joins only" in text


def test_u55_what_does_not_help_and_what_does(skewed: Application) -> None:
    bench = bench_of(skewed)
    base = seconds(bench)
    assert base == pytest.approx(3000, abs=1)
    assert seconds(bench, executors=bench.executors * 2) == pytest.approx(3000, abs=1)
    assert seconds(bench, lengths=spread(bench, 0, 1000, kept=[0])) == pytest.approx(3000, abs=1)
    assert seconds(bench, copies={}) == pytest.approx(3000, abs=1)  # speculation: a copy has the same work
    # 20 parts of 150 s on 20 cores; the other 30 do 249 tasks of 12 s in nine turns
    assert seconds(bench, lengths=split_hot(bench, 0, 0, 20)) == pytest.approx(150, abs=1)


def test_u55_the_advice_is_to_salt_and_says_what_would_not_help(skewed: Application) -> None:
    found = ask("app", skewed)
    assert "salt the hot key of stage 0" in found.changes[0].what
    assert found.changes[0].confirmed
    useless = next(listing for listing in found.listings if listing.title == "WHAT WOULD NOT HELP")
    told = " ".join(row[0] for row in useless.rows)
    assert "1,000 partitions in stage 0 instead of 250 (one key stays in one partition)" in told
    assert "speculation (a copy of stage 0's hot partition has the same work)" in told
    assert "twice the executors (20 for 10 executors of 5 slots)" in told
    assert {row[2] for row in useless.rows} == {"0 %"}


# ------------------------------------------------------------------ U53: nodes are drained, the job is aborted


def drained(folder: Path, *, times: int, conf: dict[str, str] | None = None) -> Application:
    """200 maps on 10 executors; while the second stage runs one executor is removed every 3 minutes, and its 20 map
    outputs are computed again, which takes a minute."""
    log = EventLog(conf or {})
    log.executors([str(number) for number in range(10)], cores=4)
    first, second = stage(0, 200, name="map"), stage(1, 200, parents=[0])
    log.job(0, 0, [first, second])
    log.submit(first, 0)
    for index in range(200):
        log.task(0, index, (index // 40 * 60, index // 40 * 60 + 60), str(index % 10), kind="ShuffleMapTask")
    log.complete(first, 0, 300)
    begun = 300.0
    for attempt in range(times):
        at = 300 + 180.0 * (attempt + 1)
        lost = str(attempt)
        reads = {**stage(1, 200 - attempt, parents=[0], attempt=attempt)}
        log.submit(reads, begun)
        log.task(1, attempt, (begun, at - 1), "9", stage_attempt=attempt)
        log.remove(lost, at, "Executor decommission: spot interruption")
        address = {"Executor ID": lost, "Host": f"host-{lost}", "Port": 7337}
        reason = {"Reason": "FetchFailed", "Block Manager Address": address, "Shuffle ID": 0, "Map ID": 1,
                  "Map Index": 1, "Reduce ID": 5, "Message": "gone"}  # fmt: skip
        log.task(1, attempt + 1, (begun, at + 1), "9", stage_attempt=attempt, reason=reason)
        log.complete(reads, begun, at + 1, "FetchFailedException")
        if attempt < times - 1:
            again = stage(0, 20, name="map", attempt=attempt + 1)
            log.submit(again, at + 1.2)
            for index in range(20):
                where = str(5 + index % 5)
                log.task(0, 10 * index, (at + 1.2, at + 61), where, kind="ShuffleMapTask", stage_attempt=attempt + 1)
            log.complete(again, at + 1.2, at + 61)
            begun = at + 61.2
    log.job_end(
        0, 300 + 180.0 * times + 2, "Job aborted due to stage failure: ResultStage 1 has failed the maximum ..."
    )
    log.end(300 + 180.0 * times + 3)
    return read_event_log(log.write(folder / "app-1"))


def test_u53_four_attempts_in_a_row_abort_the_job(tmp_path: Path) -> None:
    application = drained(tmp_path, times=4)
    abort = abort_of(application)
    assert abort is not None
    assert abort.rule == "stage-attempts"
    assert abort.numbers == {"attempts": 4, "limit": 4, "recomputed": 60, "executors_lost": 4}
    found = ask("app", application)
    assert found.state == "failed"
    assert "stage 1 had 4 attempts in a row that could not fetch what they read" in found.summary
    assert "spark.stage.maxConsecutiveAttempts is 4" in found.summary
    assert "60 map tasks" in found.summary
    assert "do not count for spark.task.maxFailures" in found.summary
    lost = [one for one in found.chain if one.event == "executor-lost"]
    assert "it was decommissioned: its node is drained or reclaimed; with it the output of 20 map tasks" in lost[0].text
    told = " ".join(one.what for one in found.changes)
    assert "spark.storage.decommission.shuffleBlocks.enabled" in told
    assert "external or remote shuffle service" in told


def test_u53_attempts_below_the_limit_only_make_it_slow(tmp_path: Path) -> None:
    application = drained(tmp_path, times=2)
    abort = abort_of(application)
    assert abort is None or abort.rule != "stage-attempts"
    found = ask("stage/1", application)
    assert "2 attempts" in found.summary
    more = drained(tmp_path, times=4, conf={"spark.stage.maxConsecutiveAttempts": "8"})
    abort = abort_of(more)
    assert abort is None or abort.rule != "stage-attempts"


# ------------------------------------------------------------------ U57: idle executors that are not released

DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "30",
    "spark.dynamicAllocation.executorIdleTimeout": "60s",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "infinity",
}


@pytest.fixture
def kept(tmp_path: Path) -> Application:
    """30 executors; 26 of them hold shuffle files of the query that ended at 100 s, 4 hold none and leave at 160 s."""
    log = EventLog(DYNAMIC)
    names = [str(number) for number in range(30)]
    log.executors(names, cores=2)
    first, second = stage(0, 26, name="map"), stage(1, 30, parents=[0])
    log.job(0, 0, [first, second])
    log.submit(first, 0)
    for index in range(26):
        log.task(0, index, (0, 50), names[index], kind="ShuffleMapTask")
    log.complete(first, 0, 50)
    log.submit(second, 50)
    for index in range(30):
        log.task(1, index, (50, 100), names[index])
    log.complete(second, 50, 100)
    log.job_end(0, 100)
    for name in names[26:]:
        log.remove(name, 160, "Executor killed by driver.")
    log.job(1, 700, [])
    log.job_end(1, 700)
    return read_event_log(log.write(tmp_path / "app-1"))


def test_u57_those_without_shuffle_files_leave_the_others_stay(kept: Application) -> None:
    by_rule = idle_executors(kept)
    leaves = {one.name: one.leaves_ms for one in by_rule}
    assert {name for name, at in leaves.items() if at < NEVER} == {"26", "27", "28", "29"}
    assert {at for at in leaves.values() if at < NEVER} == {START + 160_000}
    found = ask("app", kept)
    assert "26 of 30 executors stay though they are idle for longer than" in found.summary
    assert "26 hold shuffle files that were not cleaned yet" in found.summary
    assert "shuffleTracking.timeout is infinity" in found.summary
    assert "8h40m of idle cores" in found.summary  # 26 executors of 2 cores for 10 minutes


def test_u57_with_a_shuffle_service_all_but_one_leave(kept: Application) -> None:
    said = {"spark.shuffle.service.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "false"}
    rules = recorded_rules(replace(kept, properties={**DYNAMIC, **said}))
    assert sum(one.leaves_ms < NEVER for one in idle_executors(kept, rules)) == 29
    found = ask("app", kept)
    assert any("spark.shuffle.service.enabled=true: 29 executors leave" in one.what for one in found.changes)
    assert any("shuffleTracking.timeout=60s: 29 executors leave" in one.what for one in found.changes)


def test_u57_the_executor_says_what_it_holds(kept: Application) -> None:
    found = ask("executor/3", kept)
    assert found.state == "alive"
    assert "it holds 1 map output: it is not released by itself" in found.summary
    assert ask("executor/28", kept).state == "released"


def test_u57_without_dynamic_allocation_nobody_is_to_leave(kept: Application) -> None:
    assert all(one.leaves_ms == NEVER for one in idle_executors(kept, Rules()))


# ------------------------------------------------------------------ U52: the virtual memory check


def test_u52_the_log_says_that_it_is_virtual_memory(tmp_path: Path) -> None:
    log = EventLog()
    log.executors(["1", "2"], cores=1)
    info = stage(0, 2)
    log.job(0, 0, [info])
    log.submit(info, 0)
    said = "Container killed by YARN for exceeding virtual memory limits. 7.2 GB of 4.2 GB virtual memory used. "
    said += "Consider boosting spark.executor.memoryOverhead."
    log.task(0, 0, (0, 9), "1", reason={"Reason": "ExecutorLostFailure", "Executor ID": "1",
                                        "Exit Caused By App": True, "Loss Reason": said})  # fmt: skip
    log.remove("1", 9, said)
    log.task(0, 0, (9, 18), "2", attempt=1)
    log.task(0, 1, (0, 9), "2")
    log.complete(info, 0, 18)
    log.job_end(0, 18)
    log.end(18)
    application = read_event_log(log.write(tmp_path / "app-1"))
    found = ask("executor/1", application)
    assert "YARN's check of VIRTUAL memory killed it (7.2 GB of 4.2 GB)" in found.summary
    assert "physical memory is not what is short" in found.summary
    told = " ".join(one.what for one in ask("app", application).changes)
    assert "yarn.nodemanager.vmem-check-enabled=false" in told
    assert "memoryOverhead (Python" not in told
