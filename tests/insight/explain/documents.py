"""Scenarios as a user writes them, and changes made to them by hand: independent of how `explain` tries changes."""

from __future__ import annotations

import copy
import re
from textwrap import dedent
from typing import Any

import numpy as np
import yaml

from gnomon.api import Kind, Run, simulate
from gnomon.api.scenario_file import read_scenarios
from gnomon.formats.yaml import parse_yaml
from gnomon.insight.explain import Explanation
from gnomon.insight.explain import explain as explanation
from gnomon.model.recovery import INFRASTRUCTURE
from gnomon.model.scenario import Scenario

Document = dict[str, Any]


def document(text: str) -> Document:
    """A scenario file as plain values, every node and task an entry of its own."""
    value = _with_words(yaml.safe_load(dedent(text)))
    assert isinstance(value, dict)
    if isinstance(value["cluster"], dict):
        value["cluster"]["nodes"] = _one_by_one(value["cluster"]["nodes"])
    value["work"] = _one_by_one(value["work"])
    return value


def _with_words(value: Any) -> Any:
    """A key ``on`` is a word here; the YAML 1.1 of PyYAML takes it for true."""
    if isinstance(value, dict):
        return {"on" if key is True else key: _with_words(one) for key, one in value.items()}
    return [_with_words(one) for one in value] if isinstance(value, list) else value


def _one_by_one(entries: list[Document]) -> list[Document]:
    found = []
    for entry in entries:
        count = entry.get("count")
        key = next(name for name in ("name", "id", "job") if name in entry)
        alike = {name: value for name, value in entry.items() if name != "count"}
        named = {"job": "id"}.get(key, key)
        names = [entry[key]] if count is None else [f"{entry[key]}-{number}" for number in range(count)]
        found += [{**copy.deepcopy(alike), named: name} for name in names]
    return found


def scenario(what: Document | str) -> Scenario:
    """A scenario from the text of its file, or from plain values."""
    (found,) = read_scenarios(parse_yaml(dedent(what) if isinstance(what, str) else yaml.safe_dump(what))[0])
    return found


def run(what: Document | str | Scenario) -> Run:
    """Run it, with the invariants checked."""
    return simulate(what if isinstance(what, Scenario) else scenario(what), compiled=False, invariants=True)


def explain(subject: str, what: Document | str | Scenario) -> Explanation:
    """Explain what became of a subject."""
    done = run(what)
    return explanation(subject, done.scenario, done.log, simulate=lambda one: run(one).log)


def happened(done: Run, kind: Kind, *names: str) -> list[float | None]:
    """When something first happened to each of the tasks, in seconds, from the log."""
    ids = [str(id) for id in done.scenario.work.ids]
    found: list[float | None] = []
    for name in names:
        rows = np.flatnonzero((done.log.kind == kind) & (done.log.subject == ids.index(name)))
        found.append(float(done.log.t_ns[rows[0]]) / 1e9 if len(rows) else None)
    return found


def changed(before: Document, change: dict[str, Any]) -> Document:
    """The document with a change made to it, as its user would make it."""
    after = copy.deepcopy(before)
    field, value = change["field"], change["to"]
    for label in change["object"].split(", "):
        kind, _, name = label.partition("/")
        if kind in ("task", "job"):
            _change_tasks(after, name, field, value)
        elif kind in ("user", "queue"):
            tenant = next(one for one in after[f"{kind}s"] if one["name"] == name)
            part, _, resource = field.partition(".")
            (tenant[part] if resource else tenant)[resource or part] = value
        elif kind == "reservation":
            window = next(one for one in after["cluster"]["reservations"] if one["name"] == name)
            window.pop("for", None)
            window["end"] = value
        elif kind == "node" and field == "memory":
            next(one for one in after["cluster"]["nodes"] if one["name"] == name)[field] = value
        elif field == "cpu":
            after["cluster"] = value
        elif kind in ("node", "cluster"):
            _add_nodes(after, change["what"])
        elif field.startswith("operation.budgets."):
            job = field.removeprefix("operation.budgets.")
            next(one for one in after["operation"]["budgets"] if one["job"] == job)["unavailable"] = value
        else:
            _set(after, field, value)
    return after


def _set(what: Document, path: str, value: Any) -> None:
    """A field of a mapping in a mapping..., which are made where they are not there."""
    first, dot, rest = path.partition(".")
    if dot:
        _set(what.setdefault(first, {}), rest, value)
    else:
        what[first] = value


def _change_recovery(recovery: Document, what: str, value: Any) -> None:
    part, _, cause = what.partition(".")
    if part not in ("retries", "backoff"):
        _set(recovery, what, value)
        return
    retries = recovery.get("retries", [{"on": list(INFRASTRUCTURE)}])
    rules = retries if isinstance(retries, list) else [{"limit": retries}]
    rule = next((one for one in rules if cause in one.get("on", [cause])), None)
    if rule is None:
        rules.append(rule := {"on": [cause]})
    if part == "retries":
        rule["limit"] = value
    elif value == "0s":
        del rule["backoff"]
    else:
        rule["backoff"]["first"] = value
    recovery["retries"] = rules


def _change_tasks(after: Document, name: str, field: str, value: Any) -> None:
    tasks = [one for one in after["work"] if name in (one["id"], one.get("job"))]
    assert tasks, name
    for task in tasks:
        match field:
            case "submit":
                after["work"].remove(task)
            case "gpu":
                task |= {"gpus": int(value)} if value >= 1 else {"gpus": 1, "gpu_share": value}
            case "gang":
                task.pop("job")
            case "kinds":
                task["kinds"] = re.split(", | and ", value)
            case "labels":
                task["labels"] = {} if value == "none" else dict(one.split("=") for one in value.split(" and "))
            case "request":
                task |= _amounts(value)
            case _ if field.startswith("recovery."):
                _change_recovery(task.setdefault("recovery", {}), field.removeprefix("recovery."), value)
            case _:
                _set(task, field, value)


def _add_nodes(after: Document, what: str) -> None:
    """As in "add 2 nodes of kind A labelled zone=1 with 8 cpu and 1 gpu each: it starts at 1m"."""
    found = re.match(r"add (\d+) nodes?(?: of kind (\S+))?(?: labelled (\S+))? with ([^:]*?)(?: each)?:", what)
    assert found, what
    count, kind, label, capacity = found.groups()
    node = {**_amounts(capacity), "name": "more", "count": int(count)}
    node |= {"kind": kind} if kind else {}
    node |= {"labels": dict([label.split("=")])} if label else {}
    after["cluster"]["nodes"].append(node)


def _amounts(text: str) -> Document:
    found: Document = {}
    for part in re.split(", | and ", text):
        amount, resource = part.split(" ")
        found["gpus" if resource == "gpu" else resource] = yaml.safe_load(amount)
    return found


def change(found: Explanation, field: str) -> dict[str, Any]:
    """The change of a field that an explanation lists."""
    (one,) = [one for one in found.as_dict()["changes"] if one["field"] == field]
    assert one["confirmed"]
    listed: dict[str, Any] = one
    return listed


def starts_with(text: str, one: dict[str, Any], *tasks: str) -> list[float | None]:
    """When tasks start in a run with a change made by hand."""
    return happened(run(changed(document(text), one)), Kind.START, *tasks)


def ends_with(text: str, one: dict[str, Any], task: str) -> float | None:
    return happened(run(changed(document(text), one)), Kind.END, task)[0]
