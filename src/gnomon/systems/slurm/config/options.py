"""The keys of slurm.conf: how each is written, what holds where it is absent, and whether Gnomon looks at it.

Source: ``slurm_conf_options`` and ``_validate_and_set_defaults`` of ``src/common/read_config.c``, and
``src/common/read_config.h``, of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Version = tuple[int, int]
OLDEST: Final[Version] = (22, 5)
NEWEST: Final[Version] = (25, 5)


@dataclass(frozen=True, slots=True)
class Key:
    """One key. ``kind``: text, boolean, number, seconds, minutes (plain numbers of that unit), limit (as a time limit,
    kept in whole minutes), precise (as a time limit, in seconds), idle (seconds, NONE or -1: never).

    ``bits``: of a number; ``default``: as it would be written, "" where nothing holds; ``looked_at``: whether Gnomon
    does something with it.
    """

    name: str
    kind: str = "text"
    bits: int = 16
    default: str = ""
    looked_at: bool = True


_LOOKED_AT: Final = """
    AccountingStorageEnforce text none
    AccountingStorageTRES text
    AccountingStorageType text accounting_storage/none
    BatchStartTimeout seconds 10
    ClusterName text
    CompleteWait seconds 0
    DefCPUPerGPU number64
    DefMemPerCPU number64
    DefMemPerGPU number64
    DefMemPerNode number64
    DependencyParameters text
    DisableRootJobs boolean NO
    EnforcePartLimits text NO
    FairShareDampeningFactor number 1
    FirstJobId number32 1
    GresTypes text
    InactiveLimit seconds 0
    JobRequeue number 1
    KillWait seconds 30
    Licenses text
    MaxArraySize number32 1001
    MaxBatchRequeue number32 5
    MaxJobCount number32 10000
    MaxJobId number32 67043328
    MaxMemPerCPU number64
    MaxMemPerNode number64
    MaxStepCount number32 40000
    MaxTasksPerNode number 512
    MessageTimeout seconds 10
    MinJobAge seconds32 300
    OverTimeLimit minutes 0
    PreemptExemptTime precise 0:0
    PreemptMode text OFF
    PreemptParameters text
    PreemptType text preempt/none
    PriorityCalcPeriod limit 5
    PriorityDecayHalfLife limit 7-0
    PriorityFavorSmall boolean NO
    PriorityFlags text
    PriorityMaxAge limit 7-0
    PriorityType text
    PriorityUsageResetPeriod text NONE
    PriorityWeightAge number32 0
    PriorityWeightAssoc number32 0
    PriorityWeightFairshare number32 0
    PriorityWeightJobSize number32 0
    PriorityWeightPartition number32 0
    PriorityWeightQOS number32 0
    PriorityWeightTRES text
    RequeueExit text
    RequeueExitHold text
    ResumeProgram text
    ResumeRate number 300
    ResumeTimeout seconds 60
    ResvOverRun minutes 0
    ReturnToService number 0
    SchedulerParameters text
    SchedulerTimeSlice seconds 30
    SchedulerType text sched/backfill
    SelectType text
    SelectTypeParameters text
    SlurmdTimeout seconds 300
    SuspendExcNodes text
    SuspendExcParts text
    SuspendExcStates text
    SuspendProgram text
    SuspendRate number 60
    SuspendTime idle NONE
    SuspendTimeout seconds 30
    TopologyParam text
    TopologyPlugin text
    TreeWidth number
    UnkillableStepTimeout seconds 60
"""

_PASSED_OVER: Final = """
    text AccountingStorageBackupHost AccountingStorageExternalHost AccountingStorageHost AccountingStorageLoc
      AccountingStorageParameters AccountingStoragePass AccountingStorageUser AccountingStoreFlags AcctGatherEnergyType
      AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherProfileType
      AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BcastExclude BcastParameters
      BurstBufferParameters BurstBufferType CertgenParameters CertgenType CertmgrParameters CertmgrType
      CliFilterParameters CliFilterPlugins CommunicationParameters ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef
      CpuFreqGovernors CredType CryptoType DataParserParameters DebugFlags Epilog EpilogSlurmctld ExtSensorsType
      FederationParameters GpuFreqDef HashPlugin HealthCheckNodeState HealthCheckProgram HttpParserType
      InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc
      JobCompParams JobCompPass JobCompPassScript JobCompType JobCompUser JobContainerType JobCredentialPrivateKey
      JobCredentialPublicCertificate JobSubmitPlugins LaunchParameters LaunchType LogTimeFormat MailDomain MailProg
      MCSParameters MCSPlugin MetricsType MpiDefault MpiParams NodeFeaturesPlugins PlugStackConfig PluginDir
      PowerParameters PowerPlugin PrEpParameters PrEpPlugins PriorityParameters PrioritySiteFactorParameters
      PrioritySiteFactorPlugin PrivateData ProctrackType Prolog PrologFlags PrologSlurmctld PropagateResourceLimits
      PropagateResourceLimitsExcept RebootProgram ReconfigFlags ResumeFailProgram ResvEpilog ResvProlog RoutePlugin
      SallocDefaultCommand SbcastParameters SchedulerAuth ScronParameters SlurmUser SlurmctldAddr SlurmctldDebug
      SlurmctldHost SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
      SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmdDebug SlurmdLogFile SlurmdParameters
      SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug SlurmdUser SlurmSchedLogFile SrunEpilog SrunPortRange SrunProlog
      StateSaveLocation SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TLSParameters
      TLSType TmpFS UnkillableStepProgram UrlParserType X11Parameters
    boolean AccountingStoreJobComment AllowSpecResourcesUsage TrackWCKey UsePAM
    number AccountingStoragePort AcctGatherNodeFreq EioTimeout EpilogTimeout ExtSensorsFreq FastSchedule GetEnvTimeout
      GroupUpdateForce GroupUpdateTime HealthCheckInterval JobFileAppend KillOnBadExit PrologEpilogTimeout
      PrologTimeout PropagatePrioProcess SlurmctldTimeout SlurmSchedLogLevel TCPTimeout VSizeFactor WaitTime
    number32 EpilogMsgTime JobCompPort KeepAliveTime MaxDBDMsgs MaxNodeCount SlurmdPort
"""

LINES: Final = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")
"""Keys that begin a line with keys of its own."""

REPEATED: Final = frozenset({"slurmctldhost", "prolog", "epilog", "prologslurmctld", "epilogslurmctld"})
"""Keys that may stand more than once."""

_SINCE: Final[Mapping[str, tuple[tuple[Version, str], ...]]] = {
    "selecttype": (((22, 5), "select/linear"), ((23, 11), "select/cons_tres")),
    "prioritytype": (((22, 5), "priority/basic"), ((23, 11), "priority/multifactor")),
    "treewidth": (((22, 5), "50"), ((23, 11), "16")),
    "topologyplugin": (((22, 5), "topology/none"), ((23, 11), "topology/default"), ((24, 11), "topology/flat")),
}


def _table() -> Mapping[str, Key]:
    keys: list[Key] = []
    for line in _LOOKED_AT.split("\n"):
        if words := line.split():
            kind, bits = _kind(words[1])
            keys.append(Key(words[0], kind, bits, words[2] if len(words) > 2 else ""))
    kind, bits = "text", 16
    for word in _PASSED_OVER.split():
        if word.islower():
            kind, bits = _kind(word)
        else:
            keys.append(Key(word, kind, bits, looked_at=False))
    return {key.name.lower(): key for key in keys}


def _kind(word: str) -> tuple[str, int]:
    kind = word.rstrip("0123456789")
    return kind, int(word[len(kind) :] or 16)


KEYS: Final[Mapping[str, Key]] = _table()
"""Every key that stands alone on its line, by its name in lower case."""


def default_of(key: str, version: Version, options: Mapping[str, str]) -> str:
    """What holds for a key (in lower case) that is absent, given the others; "" where nothing does.

    >>> default_of("selecttype", (22, 5), {}), default_of("selecttype", (25, 5), {})
    ('select/linear', 'select/cons_tres')
    """
    if key in _SINCE:
        return [value for since, value in _SINCE[key] if version >= since][-1]
    if key == "selecttypeparameters":
        chosen = options.get("selecttype") or default_of("selecttype", version, options)
        return "CR_Core_Memory" if "cons_tres" in chosen.lower() and version >= (23, 11) else ""
    if key == "unkillablesteptimeout" and version > OLDEST:
        timeout = options.get("messagetimeout", KEYS["messagetimeout"].default)
        return str(max(60, 5 * int(timeout))) if timeout.isdecimal() else "60"
    return KEYS[key].default
