"""A batch script that is asked about by its path: submitted beside all else, when everything else is."""

from __future__ import annotations

import os
from dataclasses import replace

from gnomon.formats.files import read_text
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.waits import Wait
from gnomon.insight.slurm.rehearsal import Given, Rehearsal
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.sbatch.site import site_of
from gnomon.systems.slurm.sbatch.submission import Submission, submission

USER = "user"


def script_named(path: str, native: Native, played: Rehearsal) -> Given | Explanation | None:
    """The submission of a script; what sbatch itself answers instead of submitting it; None: there is no such file.
    Who submits it nobody says: where accounting knows users, it is the first who may."""
    if not os.path.isfile(path):
        return None
    text, site = read_text(path), site_of(native.conf)
    said = submission([path], text, user=USER, site=site)
    if isinstance(said, Submission):
        user = native.accounts.first_user(said.requests[0].account) or USER
        return Given(played.last_ns, tuple(replace(one, user=user) for one in said.requests))
    words = "; ".join(said.text.replace("sbatch: error: ", "").splitlines())
    name = os.path.basename(path)
    summary = f"sbatch refuses {name} before it reaches the controller: {words}"
    refused = Wait("infeasible", "refused", f"job/{name}", words, {})
    return Explanation(f"job/{name}", "rejected", summary, said.text, (refused,))
