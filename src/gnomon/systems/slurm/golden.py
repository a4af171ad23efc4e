"""Runs a recorded case of Slurm and compares: configuration, accounting and steps in, jobs and replies out.

The form, and how exact the recordings are, is that of the README beside them. Compared are the order of starts, nodes,
states, replies, reasons where both recordings saw the same (but None, Priority and Resources, which come and go), and
times within what the recordings allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.cluster import nodes
from gnomon.systems.slurm.cluster.job import BACKFILL, MAIN, OVER, Job
from gnomon.systems.slurm.cluster.lifecycle import new_id
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.config.slurm_conf import conf_of
from gnomon.systems.slurm.controller import commands
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.look_ahead import shown, test_only
from gnomon.systems.slurm.controller.slurmctld import Controller
from gnomon.systems.slurm.controller.submitting import Reply, submit
from gnomon.systems.slurm.golden_form import check_case
from gnomon.systems.slurm.machine import Machine
from gnomon.systems.slurm.recorded import job_record
from gnomon.systems.slurm.sbatch.site import site_of
from gnomon.systems.slurm.sbatch.submission import Submission, submission
from gnomon.systems.slurm.views import query

Outcome = dict[str, Any]
STARTED_S: Final = -2
"""The recordings began about so long after slurmctld did, which decides when it looks at time limits and nodes."""
WAKES_NS: Final = (950_000_000, 650_000_000)
"""When in a second the two schedulers wake: it is another time in each recording, and less than one away from any."""
LOOK_NS: Final = 50_000_000
"""A start is written to the log so long after its scheduler woke (times in the log are rounded to 0.1 s)."""
COMMAND_NS: Final = 60_000_000
"""How long a command takes (0.02 to 0.1 s by the README)."""
QUIET: Final = frozenset(("None", "Priority", "Resources"))
APART_S: Final = 1.2
"""Jobs that started closer together may have done so in either order."""
TOLERANCE_S: Final = 1.5
LATE_S: Final = 30.0
"""Time limits are looked at so often, silent nodes are noticed so late."""
SETTLES_S: Final = 120


def judge(case: Mapping[str, Any], path: object = None) -> tuple[bool | None, Sequence[str], object]:
    """Whether the model agrees with a recorded case, what differs, and the model's whole outcome.

    When in a second the schedulers wake is no input, but decides whom they find: a case is played with the usual times,
    and if that differs with those that the recorded starts tell.
    """
    outcome = play(case)
    differences = list(compare(case, outcome))
    if differences:
        again = play(case, wakes_ns=recorded_wakes_ns(case))
        others = list(compare(case, again))
        if len(others) < len(differences):
            outcome, differences = again, others
    return not differences, differences, outcome


def play(case: Mapping[str, Any], *, wakes_ns: tuple[int, int] = WAKES_NS) -> Outcome:
    """What the model does with a case, in the recorded form. Raises InputError for what cannot be read."""
    check_case(case)
    return _Player(case, wakes_ns).play()


class _Player:
    """The recorder's part: it gives the commands (``given_s``: when it really did, by step; the plan says the least),
    and looks."""

    def __init__(self, case: Mapping[str, Any], wakes_ns: tuple[int, int]) -> None:
        version = tuple(int(part) for part in str(case.get("version", "22.05")).split(".")[:2])
        conf = conf_of(
            case["slurm_conf"],
            case.get("gres_conf"),
            case.get("topology_conf"),
            version=(version[0], version[1]),
        )
        accounts = apply_commands(Accounts(), case.get("accounting") or [])
        self.site = site_of(conf)
        self.machine = Machine()
        self.state: State = books(conf, accounts, self.machine)
        self.machine.state = self.state
        self.phase_ns = STARTED_S * SECOND
        self.controller = Controller(self.state, phase_ns=self.phase_ns, wakes_ns=wakes_ns)
        self.machine.controller = self.controller
        self.steps = sorted(enumerate(case["steps"]), key=lambda one: one[1]["at_s"])
        self.jobs: list[Job] = []
        self.replies: list[Outcome] = []
        self.queries: list[Outcome] = []
        self.given_s = {reply["step"]: reply["at_s"] for reply in case["outcome"].get("replies", [])}
        self._tasks = count()
        self._until_s = _until(case)

    def play(self) -> Outcome:
        """Give all the commands in their time, and let the rest of the recording pass."""
        for number, step in self.steps:
            given_s = self.given_s.get(number, step["at_s"])
            self.machine.run(max(int(given_s * SECOND), self.state.now_ns + COMMAND_NS))
            text, code = self._do(step)
            at_s = round(self.state.now_ns / SECOND, 2)
            self.replies.append({"step": number, "at_s": at_s, "rc": code, "text": text})
        self.machine.run(max(int(self._until_s * SECOND), self.state.now_ns))
        records = [job_record(self.state, job, self.machine.waits.get(job, [])) for job in self.jobs]
        return {"jobs": sorted(records, key=_by_id), "replies": self.replies, "queries": self.queries}

    def _do(self, step: Mapping[str, Any]) -> commands.Answer:
        do, args, user = step["do"], [str(arg) for arg in step.get("args", [])], step.get("user", "root")
        if do == "sbatch":
            reply = self._submit(step, args, user)
            return reply.text, reply.rc
        answer: commands.Answer = ("", 0)
        if do == "scontrol":
            answer = commands.scontrol(self.state, args, user)
        elif do == "scancel":
            answer = commands.scancel(self.state, args, user)
        elif do == "query":
            output = query(self.state, args, shown)
            self.queries.append({"at_s": step["at_s"], "cmd": args, "output": output})
            return "", 0
        elif do == "kill-node":
            self._kill(args[0])
        elif do == "start-node":
            nodes.answer(self.state, self.state.node(args[0]))
        elif do == "sacctmgr":
            self.state.tree.change(args)
        else:
            raise InputError("not modelled: a step of a case", found=do)
        self.controller.ask()
        return answer

    def _submit(self, step: Mapping[str, Any], args: list[str], user: str) -> Reply:
        found = submission(args, step.get("script"), user=user, site=self.site)
        if not isinstance(found, Submission):
            if found.controller and "dependency" not in found.text:
                new_id(self.state)
            return Reply(found.text, found.rc)
        if any(request.test_only for request in found.requests):
            return test_only(self.state, found.requests)
        reply = submit(self.state, found.requests, self._tasks)
        self.jobs += reply.jobs
        self.controller.arrived(reply.jobs)
        return reply

    def _kill(self, name: str) -> None:
        """The node's daemon and all processes on it are gone: that is noticed later."""
        node = self.state.node(name)
        for job in self.state.running:
            if node in job.allocation.nodes:
                self.machine.lose(job)
        due = nodes.noticed_ns(self.state, self.state.now_ns, self.phase_ns)
        if due is not None:

            def noticed() -> None:
                nodes.fall(self.state, node, nodes.SILENT)
                self.controller.ask()

            self.machine.at(due, noticed)


def recorded_wakes_ns(case: Mapping[str, Any]) -> tuple[int, int]:
    """When in a second the main scheduler and backfill woke in a recording: when most of the starts were that each of
    them made."""
    jobs = case["outcome"].get("jobs", [])
    runs = [run for job in jobs for run in (job.get("runs") or [job]) if run.get("start_s") is not None]
    found = []
    for name, otherwise in zip((MAIN, BACKFILL), WAKES_NS, strict=True):
        times = [round(run["start_s"] * 1e9) % SECOND for run in runs if run.get("scheduler") == name]
        if times:
            otherwise = min(times, key=lambda time: sum(_apart(time, other) for other in times)) - LOOK_NS
        found.append(otherwise % SECOND)
    return found[0], found[1]


def _apart(a: int, b: int) -> int:
    """How far two times of a second are from each other."""
    return min((a - b) % SECOND, (b - a) % SECOND)


def _until(case: Mapping[str, Any]) -> float:
    """How long the recording was, as far as its times tell; it went on until all was over, or was cut."""
    outcome = case["outcome"]
    times = [step["at_s"] for step in case["steps"]]
    for job in outcome.get("jobs", []):
        times += [job[key] for key in ("submit_s", "start_s", "end_s") if job.get(key) is not None]
        times += [event[0] for event in job.get("events", [])]
        times += [run[key] for run in job.get("runs", []) for key in ("start_s", "end_s") if run.get(key) is not None]
    still = any(job["state"] in ("PENDING", "RUNNING", "SUSPENDED") for job in outcome.get("jobs", []))
    return max(times, default=0.0) + (TOLERANCE_S if still else SETTLES_S)


def _by_id(record: Outcome) -> tuple[int, ...]:
    return tuple(int(part) for part in record["id"].replace("+", "_").split("_"))


def compare(case: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    """What differs between a recording and the model, by the rules of the contract."""
    recorded = case["outcome"]
    mine = {job["id"]: job for job in outcome["jobs"]}
    theirs = {job["id"]: job for job in recorded["jobs"]}
    if set(mine) != set(theirs):
        yield f"jobs {', '.join(sorted(theirs))}: the model has {', '.join(sorted(mine))}"
    repeat = case.get("repeat") or recorded.get("repeat") or {}
    slack = max(TOLERANCE_S, float(repeat.get("start_jitter_s", 0)) + 1)
    late = any(step["do"] == "kill-node" for step in case["steps"]) or any(_is_late(job) for job in theirs.values())
    for name, job in theirs.items():
        if name in mine:
            yield from _differences(job, mine[name], slack=slack, late=late, reasons=repeat.get("same_reasons", False))
    yield from _order(theirs, mine)
    said = {reply["step"]: reply for reply in outcome["replies"]}
    for reply in recorded["replies"]:
        own = said.get(reply["step"], {})
        if (own.get("rc"), own.get("text")) != (reply["rc"], reply["text"]):
            yield f"step {reply['step']}: {reply['text']!r} ({reply['rc']}), the model says {own.get('text')!r}"


def _is_late(job: Outcome) -> bool:
    """Whether a job ended at a check of time limits."""
    return job["state"] in ("TIMEOUT", "PREEMPTED")


def _differences(job: Outcome, own: Outcome, *, slack: float, late: bool, reasons: bool) -> Iterator[str]:
    name = f"job {job['id']} ({job['name']})"
    for key in ("state", "nodes"):
        if own[key] != job[key]:
            yield f"{name}: {key} {job[key]}, the model says {own[key]}"
    for key, may in (("start_s", LATE_S if late else slack), ("end_s", LATE_S)):
        a, b = job[key], own[key]
        if (a is None) != (b is None) or (a is not None and b is not None and abs(a - b) > may):
            yield f"{name}: {key} {a}, the model says {b}"
    if reasons:
        a, b = ([one for one in which["reasons"] if one not in QUIET] for which in (job, own))
        if a != b:
            yield f"{name}: reasons {a}, the model says {b}"
    runs, own_runs = job.get("runs", []), own.get("runs", [])
    if [(run["state"], run["nodes"]) for run in runs] != [(run["state"], run["nodes"]) for run in own_runs]:
        yield f"{name}: {len(runs)} runs {[run['state'] for run in runs]}, the model says {own_runs}"
    for key in ("exit_code",):
        if job[key] is not None and job["state"] in OVER and own[key] != job[key]:
            yield f"{name}: {key} {job[key]}, the model says {own[key]}"


def _order(theirs: Mapping[str, Outcome], mine: Mapping[str, Outcome]) -> Iterator[str]:
    """Of jobs whose recorded starts are clearly apart, the earlier one is not the later one."""
    started = [job for name, job in theirs.items() if job["start_s"] is not None and name in mine]
    for a, b in combinations(sorted(started, key=lambda job: float(job["start_s"])), 2):
        x, y = mine[a["id"]]["start_s"], mine[b["id"]]["start_s"]
        if b["start_s"] - a["start_s"] > APART_S and x is not None and y is not None and x > y:
            yield f"job {a['id']} started before {b['id']}, the model says {x} and {y}"
