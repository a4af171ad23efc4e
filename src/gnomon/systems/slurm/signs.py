"""What tells files of Slurm, and what its commands print."""

from __future__ import annotations

from typing import Final

from gnomon.formats.signs import Signs

SIGNS: Final = Signs(
    (
        ("a batch script of Slurm", r"^#SBATCH "),
        ("slurm.conf", r"(?i)^ *(NodeName|PartitionName|ClusterName|SlurmctldHost|ControlMachine|NodeSet) *="),
        ("output of scontrol", r"\A(JobId|NodeName|PartitionName|ReservationName|LicenseName)=\S+\s"),
        ("output of scontrol", r"\A(Configuration data as of |Current Association Manager state)"),
        ("output of squeue, sinfo or sacct", r"\A *(JOBID|PARTITION|NODELIST) +[A-Z]|\A([\w%]+\|)*JobID(Raw)?\|"),
        ("output of squeue", r"\A[ A-Z_|()]*\bJOBID\b[ A-Z_|()]*\b(ST|STATE)\b"),
        ("output of sshare", r"\A *Account(\|| +)User(\|| +)(Partition(\|| +))?RawShares"),
        ("a dump of sacctmgr", r"^Cluster - '"),
        ("JSON of Slurm", r"\A\s*\{\s*\"(meta|jobs|nodes|sinfo)\"[\s\S]*\"(openapi|data_parser|Slurm)\b"),
    )
)
