"""From the question to the answer: of a snapshot without a run, of what happens by itself with one."""

from __future__ import annotations

from dataclasses import replace

from gnomon.engine.log import Log
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.changes import Simulate
from gnomon.insight.kubernetes.moment import Moment, happens, pods_now, snapshot_moment
from gnomon.insight.kubernetes.nodes import explain_node
from gnomon.insight.kubernetes.others import explain_other
from gnomon.insight.kubernetes.subjects import Subject, find_subject, node_named
from gnomon.insight.kubernetes.threats import protections, sentence_of, threat_to, wait_of
from gnomon.insight.kubernetes.turn_answer import of_moment
from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.fleets.native import Native


def explain(
    subject: str,
    scenario: Scenario,
    *,
    log: Log | None = None,
    simulate: Simulate | None = None,
    why_not: str | None = None,
) -> Explanation:
    """Explain a pod, the pods of a workload, or a node: of a run by its log, of a snapshot without simulating it.

    ``subject``: see :func:`~gnomon.insight.kubernetes.subjects.find_subject`; ``why_not``: a node, to be told why the
    pod is not there; ``simulate``: runs a scenario in which something happens by itself, so that it has a log. Raises
    InputError for a subject that is unknown or ambiguous, or an unknown node.
    """
    native = scenario.native
    if not isinstance(native, Native):
        from gnomon.insight.kubernetes.runs.answer import of_kept

        return of_kept(subject, scenario, log, why_not=why_not)
    objects = native.objects
    other = explain_other(subject, native)
    if other is not None:
        return other
    node = node_named(subject, objects)
    ended = tuple(pod for pod in objects.pods if pod.is_terminal)
    who = None if node is not None else find_subject(subject, objects, (*native.pods, *ended))
    if who is not None and who.pods[0].is_terminal:
        return _of_ended(who, who.pods[0])
    if log is None and simulate is not None and happens(scenario) and not _is_pending(scenario, who):
        log = simulate(scenario)
    if log is not None:
        from gnomon.insight.kubernetes.runs.answer import of_run  # what a run needs costs those nothing who have none

        return of_run(subject, scenario, log, simulate=simulate, why_not=why_not)
    if who is None:
        return explain_node(native, str(node))
    native = replace(native, pods=tuple(pods_now(native, scenario.work.submit_ns)))
    keys = {pod.key for pod in native.pods}
    who = replace(who, pods=tuple(pod for pod in who.pods if pod.key in keys) or who.pods[:1])
    moment = _moment_of(native, who)
    found = of_moment(who, moment, why_not=why_not)
    threat = threat_to(native, moment.pod) if moment.is_placed and why_not is None else None
    if threat is None:
        return found
    pod = moment.pod
    return replace(
        found,
        summary=sentence_of(threat, pod),
        native=f"Preempted by pod {threat.moment.pod.uid or threat.moment.pod.key} on node {threat.node}",
        waiting=(wait_of(threat, pod),),
        changes=tuple(protections(native, threat, pod)),
    )


def _is_pending(scenario: Scenario, who: Subject | None) -> bool:
    """Whether a pod of the subject is there and has no node, whatever will happen later."""
    return not scenario.faults and who is not None and who.pods[0].is_there and not who.pods[0].node_name


def _moment_of(native: Native, who: Subject) -> Moment:
    """The turn of the pod that stands for the subject: of several without a node the first that gets none."""
    waiting = [pod for pod in who.pods if not pod.node_name]
    if len(waiting) < 2:
        return snapshot_moment(native.objects, native.pods, who.pods[0])
    last = snapshot_moment(native.objects, native.pods, waiting[-1])
    if last.refused:
        first = next(pod for pod in waiting if pod.key in last.refusals)
        return snapshot_moment(native.objects, native.pods, first)
    keys = {pod.key for pod in waiting}
    refused = next((pod for pod, node in last.before if pod.key in keys and not node), None)
    return last if refused is None else snapshot_moment(native.objects, native.pods, refused)


def _of_ended(who: Subject, pod: Pod) -> Explanation:
    text = f"{pod.key} has ended ({pod.phase})" + (f" on {pod.node_name}" if pod.node_name else "")
    said = [f"{one.reason}: {one.message}" for one in pod.conditions if one.message]
    return Explanation(who.name, "done" if pod.phase == "Succeeded" else "failed", text, "; ".join(said) or text)
