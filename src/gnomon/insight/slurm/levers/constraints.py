"""What a job insists on, given up or changed: dependencies, an array's throttle, features, named nodes, a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from gnomon.insight.explain.changes import CONSTRAINT
from gnomon.insight.slurm.levers import acts
from gnomon.insight.slurm.levers.bench import Lever
from gnomon.insight.slurm.levers.own import single
from gnomon.insight.slurm.moment import Moment
from gnomon.insight.slurm.rehearsal import Act
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.schedulers.eligible import Condition


def constraint_levers(moment: Moment) -> Iterator[Lever]:
    """What it insists on: dependencies, features, named nodes, a place."""
    yield from _dependencies(moment)
    yield from _throttle(moment)
    yield from _features(moment)
    yield from _dropped(moment)
    yield from _elsewhere(moment)


def _dependencies(moment: Moment) -> Iterator[Lever]:
    job = moment.job
    open_ones = [one for one in job.dependencies if not one.met]
    if not open_ones:
        return
    for one in open_ones:
        what = one.what
        name = f"{what.kind}:{what.job}" if what.kind != "singleton" else "singleton"
        rest = [other for other in job.dependencies if other is not one]
        words = f"drop the dependency {name}"
        yield single(moment, CONSTRAINT, "--dependency", name, None, 1.0, words, _with_conditions(job, rest))
        if what.kind in ("afterok", "aftercorr"):
            after = Condition(replace(what, kind="afterany"))
            act = _with_conditions(job, [*rest, after])
            phrase = f"afterany:{what.job} instead of {name}"
            yield single(moment, CONSTRAINT, "--dependency", name, f"afterany:{what.job}", 0.5, phrase, act)


def _with_conditions(job: Job, conditions: Sequence[Condition]) -> Act:
    whats = [one.what for one in conditions]
    return acts.to_job(job.task, lambda _, one: setattr(one, "dependencies", [Condition(what) for what in whats]))


def _throttle(moment: Moment) -> Iterator[Lever]:
    array = moment.job.array
    if array is None or array.limit is None or array.running < array.limit:
        return
    before, most = array.limit, len(array.tasks)
    values = sorted({*range(before + 1, min(most, before + 16) + 1), most})
    yield Lever(
        kind=CONSTRAINT,
        object=f"job/{array.id}",
        field="--array",
        before=f"%{before}",
        values=tuple(f"%{value}" for value in values),
        sizes=tuple((value - before) / before for value in values),
        phrases=tuple(
            f"let {value} of its tasks run at once (scontrol update ArrayTaskThrottle={value})" for value in values
        ),
        acts=tuple(_throttled(moment.job.task, value) for value in values),
    )


def _throttled(task: int, value: int) -> Act:
    def change(_: Any, job: Job) -> None:
        if job.array is not None:
            job.array.limit = value

    return acts.to_job(task, change)


def _features(moment: Moment) -> Iterator[Lever]:
    job, wanted = moment.job, moment.job.request.features
    if not wanted:
        return
    known = sorted({name for node in moment.state.conf.nodes for name in node.features})
    near = [name for name in get_close_matches(wanted, known, n=2) if name != wanted] or [
        n for n in known if n != wanted
    ][:4]
    for name in near:
        yield single(
            moment,
            CONSTRAINT,
            "--constraint",
            wanted,
            name,
            0.3,
            f"--constraint={name} instead of {wanted}",
            acts.asking(job.task, features=name),
        )
    yield single(
        moment,
        CONSTRAINT,
        "--constraint",
        wanted,
        None,
        1.0,
        f"drop --constraint={wanted}",
        acts.asking(job.task, features=""),
    )


def _dropped(moment: Moment) -> Iterator[Lever]:
    """Each thing it insists on, given up."""
    job, request = moment.job, moment.job.request
    if job.begin_ns > moment.now_ns:
        yield single(
            moment,
            CONSTRAINT,
            "--begin",
            moment.at(job.begin_ns),
            None,
            0.5,
            "let it begin at once",
            acts.setting(job.task, begin_ns=0),
        )
    several: tuple[tuple[str, str, Any, bool], ...] = (
        ("--nodelist", "node_list", (), bool(request.node_list)),
        ("--exclude", "exclude", (), bool(request.exclude)),
        ("--exclusive", "exclusive", "", bool(request.exclusive)),
        ("--contiguous", "contiguous", False, request.contiguous),
        ("--switches", "switches", None, request.switches is not None),
        ("--reservation", "reservation", "", bool(request.reservation)),
        ("--licenses", "licenses", (), bool(request.licenses)),
        ("--tmp", "tmp_mb", 0, bool(request.tmp_mb)),
    )
    for option, field, nothing, said in several:
        if said:
            yield single(
                moment,
                CONSTRAINT,
                option,
                _shown(getattr(request, field)),
                None,
                1.0,
                f"drop {option}",
                acts.asking(job.task, **{field: nothing}),
            )
    if moment.partition.conf.oversubscribe == "YES" and not request.oversubscribe:
        yield single(
            moment,
            CONSTRAINT,
            "--oversubscribe",
            None,
            "yes",
            0.5,
            "let it share CPUs (--oversubscribe)",
            acts.asking(job.task, oversubscribe=True),
        )


def _shown(value: Any) -> str:
    return (
        ",".join(str(one[0]) if isinstance(one, tuple) else str(one) for one in value)
        if isinstance(value, tuple)
        else str(value)
    )


def _elsewhere(moment: Moment) -> Iterator[Lever]:
    """Another partition, QOS, account."""
    state, job = moment.state, moment.job
    for name, partition in state.partitions.items():
        if name not in job.partitions and partition.up and not partition.conf.root_only:
            yield single(
                moment,
                CONSTRAINT,
                "--partition",
                job.partition,
                name,
                0.4,
                f"in partition {name} (-p {name})",
                acts.in_partition(job.task, name),
            )
    entry = state.tree.entry(job)
    for name in sorted(entry.qos - {job.qos}) if entry is not None else ():
        yield single(
            moment,
            CONSTRAINT,
            "--qos",
            job.qos,
            name,
            0.4,
            f"with QOS {name} (-q {name})",
            acts.setting(job.task, qos=name),
        )
    accounts = dict.fromkeys(one.account for one in state.tree.entries if one.user == job.user.lower())
    for name in accounts:
        if name != job.account:
            yield single(
                moment,
                CONSTRAINT,
                "--account",
                job.account,
                name,
                0.4,
                f"in account {name} (-A {name})",
                _in_account(job.task, name),
            )
    for name, one in state.reservations.items():
        if name != job.request.reservation and one.admits(job) and one.start_ns <= moment.now_ns < one.end_ns:
            yield single(
                moment,
                CONSTRAINT,
                "--reservation",
                None,
                name,
                0.4,
                f"in reservation {name}",
                acts.asking(job.task, reservation=name),
            )


def _in_account(task: int, name: str) -> Act:
    def change(played: Any, job: Job) -> None:
        job.account = name
        if not job.fixed and played.state.priorities.period_ns:
            job.priority = played.state.priorities.first(job)

    return acts.to_job(task, change)
