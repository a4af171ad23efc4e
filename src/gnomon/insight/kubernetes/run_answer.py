"""The explanation of a pod of a run: by its turn, or by what happened to it after that."""

from __future__ import annotations

from dataclasses import replace

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.answer import explain as explain_generally
from gnomon.insight.explain.chain import chain
from gnomon.insight.explain.changes import Simulate
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.situation import rows_of
from gnomon.insight.explain.subjects import Subject as GeneralSubject
from gnomon.insight.explain.summary import summary as general_summary
from gnomon.insight.history import history
from gnomon.insight.kubernetes.evictions import against_evictions, most_evicted, native_text, sentences, story
from gnomon.insight.kubernetes.layouts import last_event, layout_of
from gnomon.insight.kubernetes.probing import against_probe
from gnomon.insight.kubernetes.replay import Turn, moment_at, spokesman, turn_of
from gnomon.insight.kubernetes.reruns import against_eviction, rerun
from gnomon.insight.kubernetes.resizing import against_loss, against_waiting
from gnomon.insight.kubernetes.rollouts import stuck
from gnomon.insight.kubernetes.subjects import KINDS, POD_WORDS, Subject, find_subject, node_named
from gnomon.insight.kubernetes.turn_answer import PodExplanation, of_moment
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.leaving import COLLECTED
from gnomon.systems.kubernetes.quantity import format_quantity
from gnomon.systems.kubernetes.scenario import Native


def of_run(
    subject: str, scenario: Scenario, log: Log, *, simulate: Simulate | None, why_not: str | None
) -> Explanation:
    """What became of a pod in a run: why it waited the last time, what went wrong, or how it came where it is."""
    native = scenario.native
    assert isinstance(native, Native)
    ground = Ground(history(scenario, log))
    if node_named(subject, native.objects) is not None:
        return explain_generally(subject, scenario, log, simulate=lambda one: log)
    who = find_subject(subject, native.objects, native.pods)
    number = {pod.key: task for task, pod in enumerate(native.pods)}
    tasks = tuple(number[pod.key] for pod in who.pods)
    task = most_evicted(log, tasks)
    task = spokesman(ground, tasks) if task < 0 else task
    state = State(int(ground.past.outcome.state[task])).label
    links = tuple(chain(ground, tasks))
    moved = story(ground, task)
    if moved is not None and (len(tasks) == 1 or moved.back is not None):
        found = tuple(against_evictions(ground, task, moved, simulate)) if simulate is not None else ()
        said = native_text(log, moved)
        return Explanation(who.name, state, sentences(ground, task, moved), said, chain=links, changes=found)
    layout = layout_of(scenario, log, tasks, who.name, simulate) if len(tasks) > 1 else None
    if layout is not None and layout.breaks:
        text, said = f"{who.name}: {layout.text}", last_event(log, _about(who))
        return Explanation(who.name, state, text, said or text, chain=links, changes=layout.changes)
    turn = turn_of(ground, task)
    if turn is None or _went_wrong(ground, task, turn):
        again = rerun(scenario, log, simulate or (lambda one: log))
        general = explain_generally(f"task/{native.pods[task].key}", scenario, log, simulate=again)
        said = evicted(ground, task)
        changes = [*general.changes]
        if said and not changes:
            changes = against_eviction(ground, task, again)
        if simulate is not None and not _is_back(ground, task):
            changes += against_loss(ground, task, simulate)
            changes += against_probe(ground, task, simulate)
        notes = () if changes and not general.changes else general.notes
        changes.sort(key=lambda one: one.cost)
        general = replace(general, changes=tuple(changes), notes=notes)
        return replace(general, subject=who.name, native=said or general.native, chain=links)
    told = of_moment(who, moment_at(scenario, log, task, turn), why_not=why_not, native=turn.message)
    if not turn.message:
        text = general_summary(ground, GeneralSubject("task", native.pods[task].key, (task,)), task, [])
        marked, said = _marked(ground, task, turn)
        said += f" Its layout: {layout.text}" if layout is not None else ""
        hangs, event = stuck(ground, tasks, _about(who))
        native_words = marked or event or told.native
        return replace(
            told, state=state, summary=text + said + hangs, native=native_words, chain=links, changes=(), notes=()
        )
    if simulate is not None:
        changes = [*told.changes, *against_waiting(ground, task, turn.row, simulate)]
        changes.sort(key=lambda one: one.cost)
        told = replace(told, changes=tuple(changes), notes=told.notes if told.changes or not changes else ())
    return _timed(ground, replace(told, state=state, chain=links), task, turn)


def _is_back(ground: Ground, task: int) -> bool:
    """Whether a pod runs at the end, or has done its work."""
    return State(int(ground.past.outcome.state[task])) in (State.RUNNING, State.DONE)


def _about(who: Subject) -> str:
    """A workload as events name it."""
    kind, _, name = who.name.partition("/")
    return f"{KINDS.get(kind, kind)} {name}"


def of_kept(subject: str, scenario: Scenario, log: Log | None, *, why_not: str | None) -> Explanation:
    """What the log alone tells of a run that was kept without the objects that it was of: nothing can be tried."""
    if log is None:
        raise InputError("the objects of Kubernetes are not part of this scenario", allowed="their files, with -f")
    kind, slash, rest = subject.strip().partition("/")
    name = rest if slash and kind.lower() in POD_WORDS else subject.strip()
    ids = [scenario.work.id(task) for task in range(len(scenario.work))]
    found = [one for one in ids if name in (one, one.rpartition("/")[2])]
    meant = f"task/{found[0]}" if len(found) == 1 else name
    told = explain_generally(meant, scenario, log, simulate=lambda one: log, why_not=why_not)
    rows = [row for row in sorted(log.details) if log.details[row].get("message")]
    names = {told.subject.partition("/")[2]}
    said = [row for row in rows if log.subject[row] >= 0 and scenario.work.id(int(log.subject[row])) in names]
    native = str(log.details[said[-1]]["message"]) if said else told.native
    note = "this run was kept without the objects, so no changes were tried: give the files with -f"
    shown = told.subject.replace("task/", "pod/", 1)
    return replace(told, subject=shown, native=native, changes=(), notes=(note,))


def _marked(ground: Ground, task: int, turn: Turn) -> tuple[str, str]:
    """What was said of a pod whose node is lost and that is marked for deletion, and what has to happen for another to
    take its place (sheet on Kubernetes, section 9); empty texts if it is not."""
    log, native = ground.past.log, ground.scenario.native
    assert isinstance(native, Native)
    rows = [row for row in rows_of(log, (task,), Kind.EVENT).tolist() if row > turn.row]
    said = log.details.get(rows[-1], {}) if rows else {}
    if said.get("reason") != "TaintManagerEviction":
        return "", ""
    text = f" It is marked for deletion since {span(int(log.t_ns[rows[-1]]))}"
    owner = native.pods[task].owner
    if owner is not None and owner.kind == "StatefulSet":
        text += (
            f", and the StatefulSet {owner.name} makes no other pod of that name, for this one may still run on "
            f"{turn.went_to}: until its kubelet says that it is gone, the Node or the pod is deleted by force, or "
            "the node has the taint node.kubernetes.io/out-of-service"
        )
    return f"{said['reason']}: {said.get('message', '')}", f"{text}."


def _went_wrong(ground: Ground, task: int, turn: Turn) -> bool:
    """Whether something ended an attempt of it after its turn, or for good."""
    fails = rows_of(ground.past.log, (task,), Kind.FAIL)
    return bool(len(fails)) and (not turn.message or int(fails[-1]) > turn.row)


def evicted(ground: Ground, task: int) -> str:
    """What the kubelet says of a pod that it sent away (sheet on Kubernetes, section 8); empty if it did not.

    Source: ``pkg/kubelet/eviction/helpers.go``, nodeLowMessageFmt, nodeConditionMessageFmt and containerMessageFmt.
    """
    log = ground.past.log
    for row in reversed(rows_of(log, (task,), Kind.FAIL).tolist()):
        if Reason(int(log.reason[row])) is Reason.EVICTED:
            said, native = log.details.get(row, {}), ground.scenario.native
            assert isinstance(native, Native)
            container = native.pods[task].spec.containers[0].name
            least, left = (format_quantity(int(said.get(key, 0))) for key in ("below", "available"))
            used, asked = (format_quantity(int(said.get(key, 0))) for key in ("used", "request"))
            return (
                f"The node was low on resource: memory. Threshold quantity: {least}, available: {left}. "
                f"Container {container} was using {used}, request is {asked}, has larger consumption of memory. "
            )
    return ""


def _timed(ground: Ground, told: PodExplanation, task: int, turn: Turn) -> PodExplanation:
    """With the times of its wait: since when, and until when if it is over."""
    log = ground.past.log
    begin = int(log.t_ns[turn.row])
    starts = [row for row in rows_of(log, (task,), Kind.START).tolist() if row > turn.row]
    end = int(log.t_ns[starts[0]]) if starts else ground.horizon_ns
    spells = tuple(replace(one, begin_ns=begin, end_ns=end) for one in told.waiting)
    over = f"; it waited from {span(begin)} to {span(end)}, when it started on " if starts else ""
    over += ground.node_name(int(log.node[starts[0]])) if starts else ""
    for row in rows_of(log, (task,), Kind.EVENT).tolist():
        if row > turn.row and log.details.get(row, {}).get("reason") == COLLECTED:
            over = f"; the pod garbage collector deleted it at {span(int(log.t_ns[row]))}{over}"
    return replace(told, waiting=spells, summary=f"{told.summary}{over}")
