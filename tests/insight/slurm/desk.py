"""Small clusters and sessions, written where they are used."""

from __future__ import annotations

from pathlib import Path

from gnomon.api import explain
from gnomon.insight.explain import Explanation
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.scenario import read_scenario

CONF = """
ClusterName=test
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
NodeName=n[1-4] CPUs=8 RealMemory=16000 Feature=intel
PartitionName=main Nodes=n[1-4] Default=YES State=UP MaxTime=1-0
"""
LIMITS = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits,qos\n"
DUMP = """Cluster - 'test':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'phys':Fairshare=1:QOS='normal,low'{account}
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=1{user}
User - 'bob':DefaultAccount='phys':Fairshare=1
"""


class Desk:
    """Writes files into a folder, and explains."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def scenario(self, session: str, conf: str = CONF, **files: str) -> Scenario:
        texts = {"slurm.conf": conf, "jobs.session": session, **files}
        paths = []
        for name, text in texts.items():
            path = self._folder / name
            path.write_text(text.lstrip("\n"), encoding="utf-8")
            paths.append(str(path))
        return read_scenario(paths)

    def explain(self, subject: str, session: str, conf: str = CONF, **files: str) -> Explanation:
        return explain(subject, self.scenario(session, conf, **files))


def first_change(found: Explanation) -> tuple[str, object, object]:
    one = found.changes[0]
    assert one.confirmed
    return one.field, one.before, one.after


def fields(found: Explanation) -> list[str]:
    return [one.field for one in found.changes]
