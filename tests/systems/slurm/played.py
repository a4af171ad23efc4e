"""Small sessions on small clusters, simulated: who started when, and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gnomon.api import simulate
from gnomon.engine.log import Kind
from gnomon.systems.slurm.scenario import read_scenario

HEAD = """ClusterName=t
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
"""


def conf(*lines: str, nodes: int = 4, cpus: int = 8) -> str:
    """A slurm.conf of equal nodes with one partition, and these lines besides."""
    node = f"NodeName=n[1-{nodes}] CPUs={cpus} CoresPerSocket={cpus} Sockets=1 RealMemory=16000"
    return HEAD + "\n".join((*lines, node, "PartitionName=batch Nodes=ALL Default=YES MaxTime=UNLIMITED")) + "\n"


def starts(folder: Path, text: str, session: Sequence[str]) -> dict[int, tuple[float, str]]:
    """When (s) and on which node first each job of a session started, by its number in it, from 0."""
    (folder / "slurm.conf").write_text(text)
    (folder / "day.txt").write_text("\n".join(session) + "\n")
    run = simulate(read_scenario([str(folder / "slurm.conf"), str(folder / "day.txt")]))
    names = [node.name for node in run.scenario.cluster.nodes]
    return {
        int(run.log.subject[row]): (int(run.log.t_ns[row]) / 1e9, names[int(run.log.node[row])])
        for row in range(len(run.log.kind))
        if run.log.kind[row] == Kind.START
    }
