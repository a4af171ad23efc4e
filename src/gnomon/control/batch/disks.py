"""What stages leave on the disks of nodes for others to read, and attempts that find no room for it.

An attempt's files count from when it begins to write them: then there is room on its node's disk, or it fails. What a
done attempt leaves stays until its node is lost or starts anew, and where the rules say so until its job ends. This is
Gnomon's own simple model; what is written before the end of an attempt counts at once. (Files of Spark's shuffles stay
until nobody in the program refers to them, at most as long as the application; those of MapReduce's maps as long as
their job.)
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.control.batch.driver import Driver, Running
from gnomon.engine.log import Kind, Reason
from gnomon.model.cluster import Node
from gnomon.model.resources import NEVER


class Disks:
    """The disks of the cluster's nodes, by number. ``held``: bytes by stage and partition."""

    def __init__(self, driver: Driver, nodes: Sequence[Node]) -> None:
        self._driver = driver
        self.size = [node.machine.disk_bytes or NEVER for node in nodes]
        self._filled: dict[int, dict[int, int]] = {}
        self.held: list[dict[tuple[int, int], int]] = [{} for _ in nodes]
        self._writing: dict[tuple[int, int], int] = {}

    def launched(self, task: int, run: Running) -> None:
        """An attempt starts: it will write at the end, the last ``writes_ns``."""
        course, driver = run.course, self._driver
        if course.writes and not course.fails and course.length_ns < NEVER:
            begins = driver.board.now + max(course.length_ns - course.writes_ns, 0)
            driver.timers.at(begins, lambda: self._write(task, run))

    def _write(self, task: int, run: Running) -> None:
        """An attempt begins to write, if it still runs: what does not fit fails it."""
        driver, node = self._driver, run.where.node
        if driver.running.get(task) is not run or not driver.hands.is_up(driver.node_at[node]):
            return
        used, whole = self.used(node), self.whole(node)
        if used + run.course.writes <= whole:
            self._writing[task, node] = run.course.writes
            return
        facts: dict[str, int | str] = {"message": driver.rules.disk_full, "capacity": whole, "used": used}
        facts["task_used"] = run.course.writes
        driver.hands.fail(task, Reason.DISK, int(driver.board.w.start_row[task]), details=facts)

    def used(self, node: int) -> int:
        """Bytes of a disk that are taken."""
        return sum(self.held[node].values()) + sum(size for (_, at), size in self._writing.items() if at == node)

    def whole(self, node: int) -> int:
        """Bytes that there are: fewer while something else fills the disk."""
        return min(self.size[node], *self._filled.get(node, {}).values(), NEVER)

    def stopped(self, task: int, node: int) -> None:
        """An attempt is over: what it was writing is removed."""
        self._writing.pop((task, node), None)

    def done(self, task: int, run: Running) -> None:
        """An attempt counts: its files stay."""
        where = run.where
        self.stopped(task, where.node)
        if where.stage.writes and run.course.keeps:
            self.held[where.node][where.stage.number, where.partition] = run.course.keeps

    def cleared(self, node: int) -> None:
        """A node starts anew: its local folders are empty."""
        self.held[node].clear()

    def job_ended(self, job: int) -> None:
        """A job is over: with rules that say so, what only it needed is removed."""
        driver = self._driver
        if not driver.rules.frees_disks:
            return
        plan = driver.batch.plan
        needed = {stage for number in driver.unfinished for stage in plan.ancestors(plan.jobs[number].result)}
        for held in self.held:
            for place in [one for one in held if one[0] not in needed]:
                del held[place]

    def fault(self, kind: Kind, node: int, fault: int, facts: dict[str, int | str]) -> None:
        """Something else fills a disk but for so many bytes, or does no longer."""
        if kind == Kind.HEAL:
            self._filled.get(node, {}).pop(fault, None)
        elif facts.get("kind") == "disk-full":
            self._filled.setdefault(node, {})[fault] = int(facts.get("amount", 0))
