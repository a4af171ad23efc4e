"""A run: what a scenario did, as its log, and all that can be told from it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.api import kept, kept_native, tables
from gnomon.engine.log import Log, Reason
from gnomon.engine.outcome import Outcome
from gnomon.formats import whole
from gnomon.insight.history import History, history
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note

if TYPE_CHECKING:
    import pyarrow as pa

    from gnomon.insight.listing import Summary
    from gnomon.report.html import Exhibit
    from gnomon.report.series import Series

FILES = ("log.parquet", "tasks.parquet", "nodes.parquet", "metrics.json", "scenario.yaml")
"""What a kept run consists of; one of a system with objects of its own has these as well (:mod:`kept_native`)."""

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What a scenario did. The log is the truth; everything else is a function of it, made when it is asked for.

    - ``scenario``, ``log``: what was run, and what happened.
    - ``timings``: CPU seconds, by part; ``stopped``: the limit that ended it early (NONE: nothing was left to happen).
    - ``notes``: what the readers of its files ignored, guessed or defaulted.
    - ``native_state``: what the system's own scheduler held at the end (None: it has none, the run was kept, or it was
      done the fastest way).
    """

    scenario: Scenario
    log: Log
    timings: Mapping[str, float] = field(default_factory=dict)
    stopped: Reason = Reason.NONE
    notes: tuple[Note, ...] = ()
    native_state: object = None

    @cached_property
    def past(self) -> History:
        """The log, folded once: outcomes of tasks, attempts, the time observed."""
        return history(self.scenario, self.log)

    @property
    def outcome(self) -> Outcome:
        """What became of every task."""
        return self.past.outcome

    @cached_property
    def series(self) -> Series:
        """What changes over time: allocation of each resource, and queue."""
        from gnomon.insight.outages import outages
        from gnomon.insight.usage import allocated, queue_length
        from gnomon.report.series import Series

        past = self.past
        held = {name: allocated(past, name) for name in past.capacity}
        return Series(past, held, queue_length(past), outages(past))

    def view(self, command: str) -> str:
        """What a command of the system that only looks would print at the end of the run, as in ``squeue -l``.

        Raises InputError for one that is not modelled, and for a system without such commands.
        """
        from gnomon.api.systems import SYSTEMS

        system = SYSTEMS[self.scenario.system]
        if (tables := system.make_tables()) is not None:
            from gnomon.report.text import table

            shown = tables(self.scenario, self.log, command)
            return f"{table(shown.headers, shown.rows, right=shown.right).plain}\n"
        look = system.make_viewer()
        state = self._native_state if look is not None else None
        if look is None or state is None:
            allowed = ", ".join(name for name, one in SYSTEMS.items() if one.viewer or one.tables)
            problem = "only runs of a system with commands have views"
            raise InputError(problem, found=command, allowed=allowed)
        until = self.scenario.limits.until_ns
        last = int(self.log.t_ns[-1]) if len(self.log) else 0
        return look(state, command, until if until < NEVER else last)

    @cached_property
    def _native_state(self) -> object:
        """What the system's own scheduler holds at the end; a run that was done the fastest way is done again."""
        from gnomon.api.simulating import simulate

        if self.native_state is not None or self.scenario.native is None:
            return self.native_state
        return simulate(self.scenario, native_state=True).native_state

    def metrics(self) -> dict[str, Any]:
        """The metrics, in the form of ``metrics.json``; see :class:`gnomon.insight.metrics.Metrics`."""
        return self._metrics

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        from gnomon.insight.metrics import of_history

        return of_history(self.past).as_dict()

    @cached_property
    def summary(self) -> Summary | None:
        """What the system tells of the run in its own words; None where it tells nothing."""
        from gnomon.api.systems import SYSTEMS

        summarise = SYSTEMS[self.scenario.system].make_summariser() if self.scenario.native is not None else None
        return summarise(self.scenario, self.log) if summarise else None

    def tasks(self) -> pa.Table:
        """One row a task, in input order: the columns of the tasks file, exact times, and what each asked for.

        ``start`` and ``end`` are those of the last attempt, ``first_start_ns`` is that of the first.
        """
        return tables.whole(tables.task_table(self.past), len(self.scenario.work))

    def nodes(self) -> pa.Table:
        """One row a node."""
        return tables.node_table(self.scenario.cluster)

    def log_table(self) -> pa.Table:
        """One row an event, as in the log, with ``kind`` and ``reason`` as texts."""
        return tables.whole(tables.log_table(self.log), len(self.log))

    def exhibit(self, name: str, *, best: Collection[str] = ()) -> Exhibit:
        """What a report shows of this run under this name; ``best``: the metrics that no other variant beats."""
        from gnomon.report.html import Exhibit

        return Exhibit(name, self.series, self.metrics(), best, self.notes, self.stopped)

    def write_tasks(self, path: AnyPath) -> None:
        """Write the tasks file, whole or not at all: ``.csv`` or ``.parquet``, one row a task, in input order.

        CSV has the columns of the contract; times are the shortest exact decimals of a second ("0", "1.5"), empty if
        they never came. In Parquet these are float64, null if they never came, and stand beside exact ``*_ns`` columns.
        """
        suffix = tasks_suffix(path)
        count, make = len(self.scenario.work), tables.task_table(self.past)

        def write(beside: Path) -> None:
            if suffix == ".csv":
                tables.write_csv(beside, self.past)
            else:
                tables.write_parquet(beside, lambda rows: tables.exported(make(rows)), count)

        whole.write_file(Path(path), write)

    def save(self, path: AnyPath) -> None:
        """Keep the run as a directory of its tables, metrics and scenario.

        It is written beside its place and put there when it is whole: a kill at any moment leaves what was there before
        or the complete new run. What is there is replaced if it is a kept run, or an empty directory; anything else is
        an InputError. On Linux old and new are exchanged in one step; other systems: :mod:`gnomon.formats.whole`.
        """
        whole.write_directory(Path(path), self._fill, files=FILES, more=(kept_native.FILE,))

    def _fill(self, folder: Path) -> None:
        import orjson

        from gnomon.formats.yaml_write import as_yaml

        tables.write_parquet(folder / "log.parquet", tables.log_table(self.log), len(self.log))
        tables.write_parquet(folder / "tasks.parquet", tables.task_table(self.past), len(self.scenario.work))
        nodes = self.nodes()
        tables.write_parquet(folder / "nodes.parquet", lambda rows: nodes[rows], nodes.num_rows)
        metrics = orjson.dumps(self.metrics(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        (folder / "metrics.json").write_bytes(metrics)
        document = {
            "gnomon_run": kept.FORM,
            "stopped": self.stopped.name.lower(),
            "timings": dict(self.timings),
            "notes": [{"what": n.what, "field": n.field, "text": n.text, "count": n.count} for n in self.notes],
            "scenario": kept.scenario_document(self.scenario),
            "files": {name: kept.digest(folder / name) for name in (*FILES[:-1], *self._keep_native(folder))},
        }
        (folder / FILES[-1]).write_text(kept.sealed(as_yaml(document)), encoding="utf-8")

    def _keep_native(self, folder: Path) -> tuple[str, ...]:
        """Keep the objects of a system that has its own; the name of their file, if there is one."""
        if self.scenario.native is None:
            return ()
        try:
            kept_native.write(folder / kept_native.FILE, self.scenario.native)
        except kept_native.NotPlainError:  # it is explained by its log alone
            return ()
        return (kept_native.FILE,)

    @classmethod
    def open(cls, path: AnyPath) -> Run:
        """Read back a run that was kept. Raises InputError for what is none, or is not as it was kept."""
        import orjson

        folder = Path(path)
        whole.recover(folder)
        document = _document(folder / FILES[-1])
        try:
            kept.check_files(folder, document["files"])
            nodes = kept.read_table(folder / "nodes.parquet")
            tasks = kept.read_table(folder / "tasks.parquet", columns=kept.TASK_COLUMNS)
            scenario = kept.scenario_of(document["scenario"], tasks, nodes)
            if kept_native.FILE in document["files"]:
                scenario = replace(scenario, native=kept_native.read(folder / kept_native.FILE))
            run = cls(
                scenario=scenario,
                log=kept.log_of(kept.read_table(folder / "log.parquet")),
                timings=document["timings"],
                stopped=Reason[document["stopped"].upper()],
                notes=tuple(Note(**note) for note in document["notes"]),
            )
            run.__dict__["_metrics"] = orjson.loads((folder / "metrics.json").read_bytes())
        except (LookupError, TypeError, ValueError, AttributeError, OSError, ArithmeticError, RuntimeError) as error:
            problem = f"is not a kept run as this version writes them: {type(error).__name__}: {error}"
            raise InputError(problem.splitlines()[0], file=str(folder)) from error
        return run

    def __repr__(self) -> str:
        return f"Run({self.scenario.policy.text}: {len(self.scenario.work):,} tasks, {len(self.log):,} events)"

    def _repr_html_(self) -> str:
        from gnomon.report.html import snippet

        return snippet(self.exhibit(self.scenario.name or self.scenario.policy.text))


def tasks_suffix(path: AnyPath) -> str:
    """The ending of a tasks file, which tells its form: ``.csv`` or ``.parquet``. Raises InputError for another."""
    suffix = Path(path).suffix
    if suffix not in (".csv", ".parquet"):
        raise InputError("the tasks file has an unknown form", file=str(path), allowed="a name in .csv or .parquet")
    return suffix


def _document(path: Path) -> dict[str, Any]:
    """What ``scenario.yaml`` of a kept run says."""
    from gnomon.formats.files import near_file
    from gnomon.formats.yaml import load_yaml

    if not path.exists():
        hint = "" if path.parent.is_dir() else near_file(str(path.parent))
        raise InputError(f"is not a kept run: it has no {path.name}{hint}", file=str(path.parent))
    document = load_yaml(path)[0].value
    if not isinstance(document, dict) or document.get("gnomon_run") != kept.FORM:
        allowed = f"a directory that was kept with --run, of form {kept.FORM}"
        raise InputError("is not a kept run", file=str(path), allowed=allowed)
    kept.check_seal(path)
    return document
