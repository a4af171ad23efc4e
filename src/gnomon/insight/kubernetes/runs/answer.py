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
from gnomon.insight.explain.waits import Wait
from gnomon.insight.history import history
from gnomon.insight.kubernetes.pod_waits import PodWait
from gnomon.insight.kubernetes.runs.crashes import SETTINGS, against_mishap, last_words, repeated, too_large, unlike
from gnomon.insight.kubernetes.runs.evictions import against_evictions, most_evicted, native_text, sentences, story
from gnomon.insight.kubernetes.runs.layouts import Layout, last_event, layout_of
from gnomon.insight.kubernetes.runs.readiness import ready_spans
from gnomon.insight.kubernetes.runs.replay import Turn, moment_at, spokesman, turn_of
from gnomon.insight.kubernetes.runs.reruns import rerun
from gnomon.insight.kubernetes.runs.resizing import against_waiting
from gnomon.insight.kubernetes.runs.rollouts import stuck
from gnomon.insight.kubernetes.runs.story import WorkloadStory, story_of, worst_of
from gnomon.insight.kubernetes.subjects import KINDS, POD_WORDS, Subject, find_subject, kind_word, node_named
from gnomon.insight.kubernetes.turn_answer import PodExplanation, of_moment
from gnomon.insight.kubernetes.wording import in_words
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.controllers.leaving import COLLECTED
from gnomon.systems.kubernetes.fleets.native import native_of

MARKED = "TaintManagerEviction"
"""The reason of the event by which a pod on a lost node is marked for deletion."""


def of_run(
    subject: str, scenario: Scenario, log: Log, *, simulate: Simulate | None, why_not: str | None
) -> Explanation:
    """What became of a pod in a run: why it waited the last time, what went wrong, or how it came where it is; of a
    workload how many of its pods were ready, and the same of the one that had most trouble."""
    native = native_of(scenario)
    ground = Ground(history(scenario, log))
    node = node_named(subject, native.objects)
    if node is not None:
        told = explain_generally(f"node/{node}", scenario, log, simulate=lambda one: log)
        return in_words(told, log, scenario.work)
    who = find_subject(subject, native.objects, native.pods)
    number = {pod.key: task for task, pod in enumerate(native.pods)}
    tasks = tuple(number[pod.key] for pod in who.pods)
    layout = layout_of(scenario, log, tasks, who.name, simulate) if len(tasks) > 1 else None
    found = _by_descheduler(ground, who, tasks, simulate) or _broken_layout(ground, who, tasks, layout)
    if found is None:
        found = _of_one(ground, who, tasks, simulate, why_not, layout)
    return in_words(found, log, scenario.work)


def _by_descheduler(
    ground: Ground, who: Subject, tasks: tuple[int, ...], simulate: Simulate | None
) -> Explanation | None:
    """Of pods that the descheduler moves."""
    task = most_evicted(ground.past.log, tasks)
    moved = story(ground, task) if task >= 0 else None
    if moved is None or (len(tasks) > 1 and moved.back is None):
        return None
    found = tuple(against_evictions(ground, task, moved, simulate)) if simulate is not None else ()
    links = tuple(chain(ground, tasks))
    said = native_text(ground.past.log, moved)
    return Explanation(who.name, _state(ground, task), sentences(ground, task, moved), said, chain=links, changes=found)


def _broken_layout(ground: Ground, who: Subject, tasks: tuple[int, ...], layout: Layout | None) -> Explanation | None:
    """Of pods that are not spread as they are to be."""
    if layout is None or not layout.breaks:
        return None
    whole = story_of(ground, tasks, who.name, ready_spans(ground.scenario, ground.past.log))
    text = f"{who.name}: {layout.text}" if whole is None else f"{whole.text}. Its layout: {layout.text}"
    said = last_event(ground.past.log, _about(who))
    links = tuple(chain(ground, tasks))
    state = _state(ground, spokesman(ground, tasks))
    return Explanation(who.name, state, text, said or text, chain=links, changes=layout.changes)


def _of_one(
    ground: Ground,
    who: Subject,
    tasks: tuple[int, ...],
    simulate: Simulate | None,
    why_not: str | None,
    layout: Layout | None,
) -> Explanation:
    """Of the pod that is asked about, or that had most trouble."""
    spans = ready_spans(ground.scenario, ground.past.log)
    task = worst_of(ground, tasks, spans) if len(tasks) > 1 else tasks[0]
    whole = story_of(ground, tasks, who.name, spans)
    turn, more = turn_of(ground, task), ""
    if turn is None or _went_wrong(ground, task, turn):
        found: Explanation = _of_mishap(ground, who, task, simulate)
    else:
        found = _of_turn(ground, who, task, turn, simulate, why_not)
        if not turn.message:
            hangs, event = stuck(ground, tasks, _about(who))
            more = (f" Its layout: {layout.text}" if layout is not None else "") + hangs
            found = replace(found, native=event or found.native)
    found = replace(found, state=_state(ground, task), chain=tuple(chain(ground, (task,))))
    if whole is not None:
        found = _of_whole(ground, found, whole, task)
    return replace(found, summary=found.summary + more)


def _of_whole(ground: Ground, found: Explanation, whole: WorkloadStory, task: int) -> Explanation:
    """The answer about a workload: its own story first, then what befell the pod that had most trouble."""
    marked = found.native.startswith(MARKED)
    failed = len(rows_of(ground.past.log, (task,), Kind.FAIL)) > 0
    troubled = failed or marked or found.state not in ("running", "done", "deleted")
    text = found.summary
    if found.waiting and isinstance(found.waiting[0], PodWait):
        spell = found.waiting[0]
        until = "on" if found.state in ("waiting", "rejected") else f"to {span(spell.end_ns)}"
        name = ground.work.id(task)
        verb = "was not created" if spell.rule in ("quota", "admission") else "had no node"
        text = f"{name} {verb} from {span(spell.begin_ns)} {until}: {spell.text}."
    elif not troubled:
        text = ""
    told = [f"{whole.text}.", *([text] if text else []), *([whole.budgets] if whole.budgets else [])]
    native = found.native if found.native != found.summary else " ".join(told)
    return replace(found, summary=" ".join(told), native=native)


def _of_mishap(ground: Ground, who: Subject, task: int, simulate: Simulate | None) -> Explanation:
    """Of a pod that was lost, killed or sent away."""
    scenario, log = ground.scenario, ground.past.log
    key = ground.work.id(task)
    again = rerun(scenario, log, simulate or (lambda one: log))
    text = repeated(ground, task)
    tried = again if not text else lambda one: log  # what helps a crash loop is known, and need not be searched for
    general = explain_generally(f"task/{key}", scenario, log, simulate=tried)
    said = evicted(ground, task)
    changes = [one for one in general.changes if one.field in SETTINGS]
    if simulate is not None:
        changes += against_mishap(ground, task, simulate, again, back=_is_back(ground, task))
    changes = unlike(changes)
    notes = () if changes else general.notes
    if not changes and (large := too_large(ground, task)):
        notes = (large,)
    text = text or general.summary
    said = said or last_words(ground, task) or text
    return replace(general, subject=who.name, summary=text, native=said, changes=tuple(changes), notes=notes)


def _of_turn(
    ground: Ground, who: Subject, task: int, turn: Turn, simulate: Simulate | None, why_not: str | None
) -> Explanation:
    """Of a pod whose last refusal, or placement, is what there is to tell."""
    scenario, log = ground.scenario, ground.past.log
    told = of_moment(who, moment_at(scenario, log, task, turn), why_not=why_not, native=turn.message)
    if not turn.message:
        subject = GeneralSubject("task", ground.work.id(task), (task,))
        marked, said = _marked(ground, task, turn)
        text = general_summary(ground, subject, task, []) + said
        return replace(told, summary=text, native=marked or told.native, changes=(), notes=())
    if simulate is not None:
        changes = unlike([*against_waiting(ground, task, turn.row, simulate), *told.changes])
        told = replace(told, changes=tuple(changes), notes=told.notes if told.changes or not changes else ())
    return _timed(ground, told, task, turn)


def _state(ground: Ground, task: int) -> str:
    state = State(int(ground.past.outcome.state[task]))
    cancelled = state is State.KILLED and len(rows_of(ground.past.log, (task,), Kind.CANCEL))
    return "deleted" if cancelled else state.label


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
    name = rest if slash and kind_word(kind) in POD_WORDS else subject.strip()
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
    log, native = ground.past.log, native_of(ground.scenario)
    rows = [row for row in rows_of(log, (task,), Kind.EVENT).tolist() if row > turn.row]
    said = log.details.get(rows[-1], {}) if rows else {}
    if said.get("reason") != MARKED:
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
            said, native = log.details.get(row, {}), native_of(ground.scenario)
            container = native.pods[task].spec.containers[0].name
            least, left = (format_quantity(int(said.get(key, 0))) for key in ("below", "available"))
            used, asked = (format_quantity(int(said.get(key, 0))) for key in ("used", "request"))
            return (
                f"The node was low on resource: memory. Threshold quantity: {least}, available: {left}. "
                f"Container {container} was using {used}, request is {asked}, has larger consumption of memory. "
            )
    return ""


def _since(ground: Ground, task: int, row: int) -> int:
    """The row from which on a pod has been without a node: its last loss before a refusal, or its arrival."""
    log = ground.past.log
    came = [*rows_of(log, (task,), Kind.ARRIVE).tolist(), *rows_of(log, (task,), Kind.FAIL).tolist()]
    return max((one for one in came if one < row), default=row)


def _at(one: Wait, begin_ns: int, end_ns: int) -> Wait:
    one = replace(one, begin_ns=begin_ns, end_ns=end_ns)
    return replace(one, timed=True) if isinstance(one, PodWait) else one


def _timed(ground: Ground, told: PodExplanation, task: int, turn: Turn) -> PodExplanation:
    """With the times of its wait: since when, and until when if it is over."""
    log = ground.past.log
    begin = int(log.t_ns[_since(ground, task, turn.row)])
    starts = [row for row in rows_of(log, (task,), Kind.START).tolist() if row > turn.row]
    end = int(log.t_ns[starts[0]]) if starts else ground.horizon_ns
    spells = tuple(_at(one, begin, end) for one in told.waiting)
    over = f"; it waited from {span(begin)} to {span(end)}, when it started on " if starts else ""
    over += ground.node_name(int(log.node[starts[0]])) if starts else ""
    for row in rows_of(log, (task,), Kind.EVENT).tolist():
        if row > turn.row and log.details.get(row, {}).get("reason") == COLLECTED:
            over = f"; the pod garbage collector deleted it at {span(int(log.t_ns[row]))}{over}"
    return replace(told, waiting=spells, summary=f"{told.summary}{over}")
