"""The commit of a job's output: what is visible when, and what a failure in the middle leaves.

Two algorithms. By the first a task's files move into a folder of the task when it commits, and into the output when the
job does; by the second they move into the output when the task commits. Neither is atomic: ``_SUCCESS`` is the only
sign of completion. Source: ``FileOutputCommitter`` of Hadoop 3.5.0, whose default is the second; who may commit:
``TaskImpl``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Files = Mapping[str, Any]
"""What each file of an attempt holds."""

SUCCESS: Final = "_SUCCESS"


class CommitError(Exception):
    """A commit that the protocol does not allow: says why."""


@dataclass(slots=True)
class Output:
    """A folder that the attempts of a job's tasks write to, by algorithm 1 or 2.

    >>> output = Output(algorithm=1)
    >>> output.write(0, 0, {"part-r-00000": ["a"]})
    >>> output.may_commit(0, 0), output.may_commit(0, 1)
    (True, False)
    >>> output.commit_task(0, 0)
    >>> output.visible
    {}
    >>> output.commit_job()
    >>> sorted(output.visible)
    ['_SUCCESS', 'part-r-00000']
    """

    algorithm: int = 2
    run: int = 1
    """Which start of the job's master writes; what an earlier one left is in folders of its own."""
    visible: dict[str, Any] = field(default_factory=dict)
    renames: int = 0
    """How many times a file or folder was moved."""
    _attempts: dict[tuple[int, int, int], Files] = field(default_factory=dict)
    _tasks: dict[tuple[int, int], Files] = field(default_factory=dict)
    _asked: dict[int, int] = field(default_factory=dict)
    _committed: set[int] = field(default_factory=set)
    _begun: bool = False

    def write(self, task: int, attempt: int, files: Files) -> None:
        """An attempt has written its files, each for itself."""
        self._attempts[self.run, task, attempt] = dict(files)

    def may_commit(self, task: int, attempt: int) -> bool:
        """Whether an attempt may commit: the first one that asks, until it has failed."""
        return self._asked.setdefault(task, attempt) == attempt and task not in self._committed

    def commit_task(self, task: int, attempt: int, *, moved: int | None = None) -> None:
        """Commit an attempt. ``moved``: it dies after so many files, by the first algorithm before the one rename."""
        if self._asked.get(task) != attempt or task in self._committed:
            raise CommitError(f"attempt {attempt} of task {task} was not let commit")
        files = self._attempts.pop((self.run, task, attempt), {})
        if self.algorithm == 1:
            if moved is not None:
                self.fail(task, attempt)
                return
            self._tasks[self.run, task] = files
            self.renames += 1
        else:
            for name in list(files)[:moved]:
                self.visible[name] = files[name]
                self.renames += 1
            if moved is not None and moved < len(files):
                self.fail(task, attempt)
                return
        self._committed.add(task)

    def fail(self, task: int, attempt: int) -> None:
        """An attempt has failed, or is not wanted: its files are gone, and if it was to commit another one may."""
        self._attempts.pop((self.run, task, attempt), None)
        if self._asked.get(task) == attempt and task not in self._committed:
            del self._asked[task]

    def restart(self) -> bool:
        """The job's master starts anew; whether the job can go on.

        Tasks that have committed are taken over, others start again. A job commit that had begun can be repeated by the
        second algorithm only: by the first some folders may have moved already, and the job fails.
        """
        if self._begun and SUCCESS not in self.visible and self.algorithm == 1:
            return False
        before, self.run = self.run, self.run + 1
        for task in sorted(self._committed):
            if self.algorithm == 1:
                self._tasks[self.run, task] = self._tasks.pop((before, task))
                self.renames += 1
        self._asked = {task: attempt for task, attempt in self._asked.items() if task in self._committed}
        return True

    def commit_job(self, *, moved: int | None = None) -> None:
        """Commit the job. ``moved``: its master dies after so many task folders (by the second algorithm there are
        none left to move, and it dies before ``_SUCCESS``)."""
        self._begun = True
        if self.algorithm == 1:
            for task in sorted(self._committed)[:moved]:
                files = self._tasks.pop((self.run, task), {})
                self.visible.update(files)
                self.renames += len(files)
        if moved is None:
            self._attempts.clear()
            self.visible[SUCCESS] = None

    @property
    def is_complete(self) -> bool:
        """Whether the job has committed."""
        return SUCCESS in self.visible
