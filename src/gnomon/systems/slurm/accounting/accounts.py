"""Accounting: the tree of associations, QOS and their limits, as ``sacctmgr`` keeps them.

Trackable resources are named as Slurm names them (cpu, mem in MiB, node, billing, energy, gres/gpu, gres/gpu:a100,
license/matlab, …). A limit that is None, or a resource that a mapping does not name, is not limited. Minutes and
seconds as the names say. Source: sacctmgr(1), resource_limits.html, ``slurmdb.h`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.model.work import Note

Tres = Mapping[str, int]
PARENT = -1
"""The shares of a user that takes those of its account (Fairshare=parent)."""


@dataclass(frozen=True)
class Limits:
    """Limits of an association or a QOS. ``grp_…``: of all jobs together; ``max_…``: of a job, a user, an account."""

    grp_jobs: int | None = None
    grp_submit: int | None = None
    grp_wall_min: int | None = None
    grp_tres: Tres = field(default_factory=dict)
    grp_tres_mins: Tres = field(default_factory=dict)
    grp_tres_run_mins: Tres = field(default_factory=dict)
    max_jobs: int | None = None
    max_submit: int | None = None
    max_wall_min: int | None = None
    max_tres_per_job: Tres = field(default_factory=dict)
    max_tres_per_node: Tres = field(default_factory=dict)
    max_tres_mins_per_job: Tres = field(default_factory=dict)
    # of a QOS alone
    max_jobs_per_user: int | None = None
    max_jobs_per_account: int | None = None
    max_submit_per_user: int | None = None
    max_submit_per_account: int | None = None
    max_tres_per_user: Tres = field(default_factory=dict)
    max_tres_per_account: Tres = field(default_factory=dict)
    max_tres_run_mins_per_user: Tres = field(default_factory=dict)
    max_tres_run_mins_per_account: Tres = field(default_factory=dict)
    min_tres_per_job: Tres = field(default_factory=dict)


@dataclass(frozen=True)
class Qos:
    """A quality of service. ``preempt``: the QOS whose jobs it may send away; ``preempt_mode``: "" as the cluster has
    it; ``usage_factor`` counts usage so many times; ``limit_factor`` stretches TRES limits."""

    name: str
    priority: int = 0
    preempt: frozenset[str] = frozenset()
    preempt_mode: str = ""
    exempt_s: int | None = None
    grace_s: int = 0
    flags: frozenset[str] = frozenset()
    usage_factor: float = 1.0
    usage_threshold: float | None = None
    limit_factor: float | None = None
    min_prio_threshold: int | None = None
    limits: Limits = Limits()


@dataclass(frozen=True)
class Association:
    """A node of the tree: an account (``user`` "") or a user in an account, perhaps for one partition.

    ``parent``: the account above ("" for root). ``shares``: raw, or PARENT. ``qos``: those that may be used (empty: as
    the parent has it, in the end ``normal``), and ``qos_delta``: what is added to that or taken away, as ``+high`` or
    ``-low``; ``default_qos`` "": the parent's. ``min_prio_threshold``: a job of lower priority gets no reservation.
    """

    account: str
    user: str = ""
    partition: str = ""
    parent: str = "root"
    shares: int = 1
    priority: int | None = None
    qos: frozenset[str] = frozenset()
    default_qos: str = ""
    limits: Limits = Limits()
    qos_delta: tuple[str, ...] = ()
    min_prio_threshold: int | None = None


@dataclass(frozen=True)
class User:
    """A user; ``admin`` is the AdminLevel: None, Operator or Administrator."""

    name: str
    default_account: str = ""
    default_wckey: str = ""
    admin: str = "None"
    coordinator_of: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Accounts:
    """What slurmdbd knows. ``associations``: in the order in which they were made (root first), which decides ties.

    ``usage``: raw usage (billing seconds, decayed) of associations by (account, user, partition), if it is known.
    ``tres``: the resources that are tracked, in Slurm's order (empty: those that always are). ``notes``: what was left
    out, guessed or taken by default.
    """

    qos: tuple[Qos, ...] = (Qos("normal"),)
    users: tuple[User, ...] = ()
    associations: tuple[Association, ...] = ()
    usage: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    tres: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def first_user(self, account: str) -> str:
        """Who may submit for an account ("": any): its first user, else the first of all, but root; "": nobody.

        >>> Accounts().first_user("phys")
        ''
        """
        users = [one for one in self.associations if one.user not in ("", "root")]
        return next((one.user for one in users if account in ("", one.account)), users[0].user if users else "")
