"""Why a limit holds a job back, in Slurm's words: ``AssocGrpCpuLimit``, ``QOSMaxGRESPerUser``, ``MaxMemoryPerAccount``.

The older limits end in "Limit", those that came with trackable resources do not. Source: ``_get_tres_state_reason`` in
``src/slurmctld/acct_policy.c``, ``src/common/job_state_reason.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    "cpu": "Cpu",
    "mem": "Memory",
    "energy": "Energy",
    "node": "Node",
    "billing": "Billing",
    "gres": "GRES",
    "license": "License",
    "bb": "BB",
}
_FAMILIES: Final = {
    "grp_tres": "{scope}Grp{word}",
    "grp_tres_mins": "{scope}Grp{word}Minutes",
    "grp_tres_run_mins": "{scope}Grp{word}RunMinutes",
    "max_tres_per_job": "{scope}Max{word}PerJob",
    "max_tres_per_node": "{scope}Max{word}PerNode",
    "max_tres_mins_per_job": "{scope}Max{word}MinutesPerJob",
    "max_tres_per_user": "QOSMax{word}PerUser",
    "max_tres_per_account": "Max{word}PerAccount",
    "max_tres_run_mins_per_user": "Max{word}RunMinsPerUser",
    "max_tres_run_mins_per_account": "Max{word}RunMinsPerAccount",
    "min_tres_per_job": "QOSMin{word}",
}
_OLD: Final = {
    ("grp_tres", "cpu"): "{scope}GrpCpuLimit",
    ("grp_tres", "mem"): "{scope}GrpMemLimit",
    ("grp_tres", "node"): "{scope}GrpNodeLimit",
    ("grp_tres_mins", "cpu"): "{scope}GrpCPUMinutesLimit",
    ("grp_tres_run_mins", "cpu"): "{scope}GrpCPURunMinutesLimit",
    ("max_tres_per_job", "cpu"): "{scope}MaxCpuPerJobLimit",
    ("max_tres_per_job", "node"): "{scope}MaxNodePerJobLimit",
    ("max_tres_mins_per_job", "cpu"): "{scope}MaxCpuMinutesPerJobLimit",
    ("max_tres_per_user", "cpu"): "QOSMaxCpuPerUserLimit",
    ("max_tres_per_user", "node"): "QOSMaxNodePerUserLimit",
    ("min_tres_per_job", "cpu"): "QOSMinCpuNotSatisfied",
    ("max_tres_per_node", "node"): "{scope}MaxUnknownPerNode",
    ("max_tres_per_node", "license"): "{scope}MaxUnknownPerNode",
}

ASSOC, QOS = "Assoc", "QOS"


def tres_reason(scope: str, family: str, resource: str) -> str:
    """The reason for a limit on a resource. ``scope``: :data:`ASSOC` or :data:`QOS`; ``family``: the field of Limits.

    >>> tres_reason(QOS, "max_tres_per_user", "gres/gpu"), tres_reason(ASSOC, "grp_tres_mins", "mem")
    ('QOSMaxGRESPerUser', 'AssocGrpMemMinutes')
    """
    kind = resource.partition("/")[0]
    word = _WORDS.get(kind, "Unknown")
    if scope == ASSOC and word == "Memory":
        word = "Mem"
    return _OLD.get((family, kind), _FAMILIES[family]).format(scope=scope, word=word)


PLAIN: Final = {
    (ASSOC, "grp_jobs"): "AssocGrpJobsLimit",
    (ASSOC, "grp_submit"): "AssocGrpSubmitJobsLimit",
    (ASSOC, "grp_wall_min"): "AssocGrpWallLimit",
    (ASSOC, "max_jobs"): "AssocMaxJobsLimit",
    (ASSOC, "max_submit"): "AssocMaxSubmitJobLimit",
    (ASSOC, "max_wall_min"): "AssocMaxWallDurationPerJobLimit",
    (QOS, "grp_jobs"): "QOSGrpJobsLimit",
    (QOS, "grp_submit"): "QOSGrpSubmitJobsLimit",
    (QOS, "grp_wall_min"): "QOSGrpWallLimit",
    (QOS, "max_jobs_per_user"): "QOSMaxJobsPerUserLimit",
    (QOS, "max_jobs_per_account"): "MaxJobsPerAccount",
    (QOS, "max_submit_per_user"): "QOSMaxSubmitJobPerUserLimit",
    (QOS, "max_submit_per_account"): "MaxSubmitJobsPerAccount",
    (QOS, "max_wall_min"): "QOSMaxWallDurationPerJobLimit",
    (QOS, "usage_threshold"): "QOSUsageThreshold",
}
"""The reasons for limits that are not on a resource, by scope and field."""

OPTION_NAMES: Final = {
    "grp_jobs": "GrpJobs",
    "grp_submit": "GrpSubmitJobs",
    "grp_wall_min": "GrpWall",
    "grp_tres": "GrpTRES",
    "grp_tres_mins": "GrpTRESMins",
    "grp_tres_run_mins": "GrpTRESRunMins",
    "max_jobs": "MaxJobs",
    "max_submit": "MaxSubmitJobs",
    "max_wall_min": "MaxWall",
    "max_tres_per_job": "MaxTRES",
    "max_tres_per_node": "MaxTRESPerNode",
    "max_tres_mins_per_job": "MaxTRESMins",
    "max_jobs_per_user": "MaxJobsPerUser",
    "max_jobs_per_account": "MaxJobsPerAccount",
    "max_submit_per_user": "MaxSubmitJobsPerUser",
    "max_submit_per_account": "MaxSubmitJobsPerAccount",
    "max_tres_per_user": "MaxTRESPerUser",
    "max_tres_per_account": "MaxTRESPerAccount",
    "max_tres_run_mins_per_user": "MaxTRESRunMinsPerUser",
    "max_tres_run_mins_per_account": "MaxTRESRunMinsPerAccount",
    "min_tres_per_job": "MinTRES",
    "usage_threshold": "UsageThreshold",
}
"""The limits as sacctmgr names them."""
