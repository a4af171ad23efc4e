"""A recorded case that is not as it is recorded: the field is named, and nothing is played."""

import json
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.golden import play
from gnomon.systems.slurm.golden_form import check_case

CASE = json.dumps(
    {
        "name": "one",
        "system": "slurm",
        "version": "22.05.8",
        "slurm_conf": "ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n",
        "gres_conf": None,
        "topology_conf": None,
        "accounting": ["add account phys"],
        "steps": [{"at_s": 0, "do": "sbatch", "user": "ann", "args": ["-n1"], "script": "#!/bin/sh\nsleep 1\n"}],
        "outcome": {
            "jobs": [
                {
                    "id": "1",
                    "name": "sbatch",
                    "state": "COMPLETED",
                    "nodes": "n1",
                    "submit_s": 0,
                    "start_s": 0.5,
                    "end_s": 1.5,
                    "exit_code": "0:0",
                    "reasons": [],
                    "events": [[0.4, "PENDING", "None"]],
                    "runs": [{"state": "COMPLETED", "nodes": "n1", "start_s": 0.5, "end_s": None}],
                }
            ],
            "replies": [{"step": 0, "at_s": 0, "rc": 0, "text": ""}],
        },
    }
)


def test_a_whole_case_is_taken() -> None:
    check_case(json.loads(CASE))


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (["slurm_conf"], 3, "slurm_conf"),
        (["gres_conf"], [], "gres_conf"),
        (["version"], "x", "version"),
        (["accounting"], "add", "accounting"),
        (["accounting", 0], 3, r"accounting\[0\]"),
        (["steps"], {}, "steps"),
        (["steps", 0], None, r"steps\[0\]"),
        (["steps", 0, "at_s"], float("nan"), r"steps\[0\].at_s"),
        (["steps", 0, "at_s"], 10**30, r"steps\[0\].at_s"),
        (["steps", 0, "do"], ["sbatch"], r"steps\[0\].do"),
        (["steps", 0, "do"], "kill-node", None),
        (["steps", 0, "args"], "-n1", r"steps\[0\].args"),
        (["steps", 0, "script"], 1, r"steps\[0\].script"),
        (["outcome"], [], "outcome"),
        (["outcome", "jobs"], "", "outcome.jobs"),
        (["outcome", "jobs", 0, "start_s"], "soon", r"outcome.jobs\[0\].start_s"),
        (["outcome", "jobs", 0, "id"], "five", r"outcome.jobs\[0\].id"),
        (["outcome", "jobs", 0, "events", 0], [], r"outcome.jobs\[0\].events\[0\]"),
        (["outcome", "jobs", 0, "runs", 0], 1, r"outcome.jobs\[0\].runs\[0\]"),
        (["outcome", "replies", 0, "step"], None, r"outcome.replies\[0\].step"),
    ],
)
def test_what_is_of_another_kind_is_named(path: list[Any], value: object, field: str | None) -> None:
    case = json.loads(CASE)
    inner = case
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    if field is None:
        inner["args"] = []
        field = r"steps\[0\].args"
    with pytest.raises(InputError, match=field):
        play(case)


@pytest.mark.parametrize(
    "path", [["steps", 0, "at_s"], ["outcome", "jobs", 0, "nodes"], ["outcome", "replies", 0, "rc"]]
)
def test_what_is_missing_is_named(path: list[Any]) -> None:
    case = json.loads(CASE)
    inner = case
    for part in path[:-1]:
        inner = inner[part]
    del inner[path[-1]]
    with pytest.raises(InputError, match=f"'{path[-1]}' is missing"):
        play(case)
