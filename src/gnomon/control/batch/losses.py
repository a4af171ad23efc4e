"""What is lost with a node: outputs that others have still to read, and readers that cannot get them.

The rules are those of Spark's ``DAGScheduler`` (handleTaskCompletion of FetchFailed and Resubmitted,
handleExecutorLost, resubmitFailedStages). With ``eager`` rules lost outputs are made again at once, and readers wait:
so does MapReduce's application master.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.control.batch.driver import Driver, Running
from gnomon.control.batch.readers import Readers
from gnomon.control.batch.reports import Reports
from gnomon.control.batch.stages import Stage
from gnomon.engine.log import Reason

FETCH_FAILED = "FetchFailed"
"""How the message of an attempt begins that could not read what it needs."""


class Losses:
    """Follows nodes and outputs that are lost."""

    def __init__(self, driver: Driver, readers: Readers) -> None:
        self._driver, self._readers = driver, readers
        self._reports = Reports(driver, self.fail_outputs)
        self._to_submit: set[int] = set()
        self._makers: set[int] = set()
        self._stopped: set[int] = set()
        self._timer = -1

    # ------------------------------------------------------------------ before an attempt starts

    def lacks(self, stage: Stage) -> tuple[int, int] | None:
        """A parent whose output a reader that starts now will not get, with the node that has it (of the cluster; -1:
        it is known that nobody has it); None: all is there."""
        driver = self._driver
        if driver.rules.eager:
            return None  # it waits inside
        for number in stage.plan.parents:
            parent = driver.stages.of[number]
            if not parent.complete:
                return number, -1
            if not driver.rules.outputs_survive:
                node = self._down_with(parent)
                if node is not None:
                    return number, node
        return None

    def _down_with(self, parent: Stage) -> int | None:
        """The first of the nodes (of the cluster) that are down and have output of a stage. There are many outputs, and
        mostly no such node."""
        driver = self._driver
        if len(parent.output) < len(driver.node_at):
            down = {node for node in parent.output.values() if not driver.hands.is_up(driver.node_at[node])}
        else:
            down = {node for node, world in enumerate(driver.node_at) if not driver.hands.is_up(world)}
            down = down & set(parent.output.values()) if down else down
        return min(down, default=None)

    def message(self, lacks: tuple[int, int]) -> str:
        """What a reader says that lacks something."""
        number, node = lacks
        where = f"from node {node}" if node >= 0 else "its location is not known"
        return f"{FETCH_FAILED}: output of stage {number}, {where}"

    # ------------------------------------------------------------------ a node falls silent, and is lost

    def silent(self, node: int, row: int) -> None:
        """A node (of the world) stops: whoever still fetches from it will find that out. Nobody else knows yet."""
        driver, number = self._driver, self._driver.of_world[node]
        if driver.hands.is_up(node):
            return
        driver.execution.reach(number, False)
        if driver.rules.outputs_survive:
            return
        self._stopped.add(number)
        if driver.rules.eager:
            self._readers.hold(row)
            self._reports.silent(number, row)
            return
        for task, run in list(driver.running.items()):
            reads = run.start_ns + run.course.reads_ns > driver.board.now
            sources = [one for one in run.where.stage.parents if number in driver.stages.of[one].output.values()]
            if reads and sources and run.where.node != number:
                self._doom(task, run, (sources[0], number), row)

    def _doom(self, task: int, run: Running, lacks: tuple[int, int], row: int) -> None:
        """A reader tries for a while."""
        driver = self._driver

        def give_up() -> None:
            if driver.running.get(task) is run:
                run.lacks = lacks
                driver.hands.fail(task, Reason.EXIT, row, details={"message": self.message(lacks)})

        driver.timers.at(driver.board.now + driver.rules.fetch_fails_ns, give_up)

    def waits(self, task: int) -> None:
        """A reader has started, and waits inside."""
        self._reports.started(task, self._driver.running[task])

    def heard(self, node: int, row: int) -> None:
        """A node (of the world) is there again. What was on it is gone, if it had stopped: its processes are new, and
        clear their local folders."""
        if not self._driver.hands.is_up(node):
            return
        number = self._driver.of_world[node]
        was_silent = self._reports.was_silent(number) if self._driver.rules.eager else number in self._stopped
        self._stopped.discard(number)
        if was_silent:
            self._lose_outputs(number, row)
        self._driver.execution.reach(number, True)
        self._readers.go_on()

    def lost(self, node: int, row: int) -> None:
        """A node (of the world) is taken for lost, with all outputs that are on it."""
        if not self._driver.rules.outputs_survive:
            self._lose_outputs(self._driver.of_world[node], row)

    def _lose_outputs(self, node: int, row: int) -> None:
        driver = self._driver
        gone = driver.stages.lose_outputs(node)
        for stage, partition in gone:
            driver.execution.lost(stage.plan, partition)
            if stage.runs:
                driver.want_again(stage.plan.number, partition)
        if gone:
            driver.say("OutputsLost", row, node=driver.node_at[node], tasks=len(gone))
        if driver.rules.eager:
            self._make_again({stage.plan.number for stage, _ in gone}, row)

    def fail_outputs(self, places: Sequence[tuple[int, int]], row: int) -> None:
        """Too many readers could not get these outputs (stage, partition): their tasks have failed."""
        driver = self._driver
        for number, partition in places:
            stage = driver.stages.of[number]
            stage.output.pop(partition, None)
            driver.execution.lost(stage.plan, partition)
            tasks = driver.current.get(number)
            count = 1  # of those that a driver before this one had counted nothing is known
            if tasks is not None:
                count = tasks.failures[partition] = tasks.failures.get(partition, 0) + 1
            row = driver.say("OutputFailed", row, stage=number, index=partition, message="too many fetch failures")
            if count >= (stage.plan.attempts or driver.rules.max_failures):
                driver.aborts.append((number, f"task {partition}: too many fetch failures", row))
            elif stage.runs:
                driver.want_again(number, partition)
        self._make_again({number for number, _ in places}, row)

    def _make_again(self, numbers: set[int], row: int) -> None:
        """Outputs that somebody still needs are made again at once; who reads them waits."""
        driver = self._driver
        for number in sorted(numbers):
            stage = driver.stages.of[number]
            needed = any(not child.complete for child in driver.stages.children(stage))
            if needed and not stage.runs and stage.job in driver.stages.active:
                driver.submit_stages(driver.stages.submit(stage), row, 0)
        self._readers.hold(row, numbers)

    # ------------------------------------------------------------------ a reader fails

    def fetch_failed(self, run: Running, row: int) -> None:
        """A reader gave up: its stage, and the one whose output is gone, are submitted again after a while."""
        driver = self._driver
        stage = driver.stages.of[run.where.stage.number]
        if run.where.stage_attempt != stage.attempts - 1 or run.lacks is None:
            return  # an old attempt: that is known already
        number, node = run.lacks
        stage.failed_in.add(run.where.stage_attempt)
        if node >= 0:
            self._lose_outputs(node, row)
        driver.close(run.tasks)
        stage.runs = False
        most = driver.rules.max_stage_attempts
        if len(stage.failed_in) >= most:
            driver.aborts.append((stage.plan.number, f"{most} attempts in a row could not fetch what they read", row))
            return
        self._to_submit |= {stage.plan.number, number}
        self._makers.add(number)
        if not driver.timers.holds(self._timer):
            self._timer = driver.timers.at(driver.board.now + driver.rules.resubmit_ns, lambda: self._submit_again(row))

    def _submit_again(self, row: int) -> None:
        """Failed stages are submitted, those of the first job first; their parents before them."""
        driver = self._driver
        failed = [driver.stages.of[number] for number in self._to_submit]
        makers = [stage for stage in failed if stage.plan.number in self._makers]
        self._to_submit.clear()
        self._makers.clear()
        failed = [stage for stage in failed if stage.job in driver.stages.active and not stage.complete]
        for stage in makers:
            if stage in failed and not stage.plan.deterministic and not self._roll_back(stage, row):
                return
        for stage in sorted(failed, key=lambda one: (one.job, one.plan.number)):
            driver.submit_stages(driver.stages.submit(stage), row, 0)

    def _roll_back(self, stage: Stage, row: int) -> bool:
        """A stage that may give other records is made again as a whole, and what was made of it; whether it can be."""
        driver = self._driver
        gone = driver.stages.roll_back(stage)
        if gone is None:
            why = "its output is lost, would be another one, and a result of it was given away"
            driver.aborts.append((stage.plan.number, why, row))
            return False
        for other, partition in gone:
            driver.execution.lost(other.plan, partition)
        return True
