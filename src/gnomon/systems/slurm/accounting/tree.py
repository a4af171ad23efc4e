"""The tree of associations while the controller runs: who may use what, and what is in use at each of them.

A limit that stands at an account holds for those below it: the limits of a job (``max_…``), the priority, the QOS and
the default QOS are handed down where nothing else is said; the limits of a group (``grp_…``) stay where they are and
are checked on the way up. Source: ``src/common/assoc_mgr.c``, ``_adjust_limit_usage`` in
``src/slurmctld/acct_policy.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from gnomon.systems.slurm.accounting.accounts import PARENT, Accounts, Association, Limits
from gnomon.systems.slurm.accounting.entries import Entry, LimitedJob, QosEntry, Used
from gnomon.systems.slurm.notation.tres import FIXED, order_of

NODE = FIXED.index("node")
OVER_PARTITION = "OverPartQOS"
HANDED_DOWN = tuple(one.name for one in fields(Limits) if one.name.startswith("max_"))

INVALID_ACCOUNT = "Invalid account or account/partition combination specified"
INVALID_QOS = "Invalid qos specification"


@dataclass(slots=True)
class _Held:
    places: tuple[Used, ...]
    counts: tuple[tuple[int, int], ...]
    nodes: tuple[int, ...]


class Tree:
    """The associations and QOS, and what is in use.

    ``tracked``: AccountingStorageTRES; ``partition_qos``: the QOS= of each partition that has one.

    >>> from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
    >>> tree = Tree(apply_commands(Accounts(), ["add account phys", "add user alice account=phys fairshare=2"]))
    >>> tree.resolve("alice", "", "batch", "")
    ('phys', 'normal')
    """

    def __init__(
        self,
        accounts: Accounts,
        *,
        tracked: Iterable[str] = (),
        partition_qos: Mapping[str, str] | None = None,
        fair_tree: bool = True,
    ) -> None:
        named = {name for limits in _all_limits(accounts) for counts in _tres_maps(limits) for name in counts}
        self.tres = accounts.tres or order_of(named, tracked)
        self.tres = tuple(dict.fromkeys([*self.tres, *sorted(named - set(self.tres))]))
        self.tres_number = {name: number for number, name in enumerate(self.tres)}
        self.counts_nodes = any("node" in counts for limits in _all_limits(accounts) for counts in _tres_maps(limits))
        self.users = {user.name: user for user in accounts.users}
        self.qos: dict[str, QosEntry] = {}
        for number, qos in enumerate(accounts.qos):
            self.qos[qos.name] = QosEntry(number, qos, self._nothing())
        self._partition_qos = {part: self.qos.get(name.lower()) for part, name in (partition_qos or {}).items()}
        self.entries: list[Entry] = []
        self._by_key: dict[tuple[str, str, str], Entry] = {}
        self._build(accounts.associations)
        self._share_out(fair_tree)
        self._rank_priorities()
        self._submitted: dict[LimitedJob, tuple[tuple[Used, ...], tuple[QosEntry, ...], int]] = {}
        self._held: dict[LimitedJob, _Held] = {}
        self._places: dict[tuple[str, str, str, str], tuple[Used, ...]] = {}

    def _nothing(self) -> Used:
        return Used(tres=[0] * len(self.tres))

    # -------------------------------------------------------------- making it

    def _build(self, records: Sequence[Association]) -> None:
        waiting = list(records)
        while waiting:
            left = [one for one in waiting if not self._place(one)]
            if len(left) == len(waiting):  # what is above them is not there: below root
                left = [replace(one, parent="root" if self.entries else "") for one in left]
            waiting = left

    def _place(self, record: Association) -> bool:
        above = record.account if record.user else record.parent
        parent = self._by_key.get((above, "", "")) if above else None
        if above and parent is None:
            return False
        limits = _handed_down(record.limits, parent.limits) if parent else record.limits
        entry = Entry(
            len(self.entries),
            record,
            parent,
            limits,
            _allowed(record, parent.qos if parent else frozenset({"normal"})),
            record.default_qos or (parent.default_qos if parent else ""),
            record.priority if record.priority is not None else (parent.priority if parent else 0),
            record.min_prio_threshold
            if record.min_prio_threshold is not None
            else (parent.min_prio_threshold if parent else None),
            self._nothing(),
            shares=record.shares,
        )
        entry.chain = (entry, *(parent.chain if parent else ()))
        self.entries.append(entry)
        self._by_key[record.account, record.user, record.partition] = entry
        return True

    def _share_out(self, fair_tree: bool) -> None:
        for entry in self.entries:
            entry.fair_parent = next((above for above in entry.chain[1:] if above.shares != PARENT), None)
            if entry.fair_parent is None and entry.parent is not None:
                entry.fair_parent = entry.chain[-1]
            if entry.fair_parent is not None:
                entry.fair_parent.children.append(entry)
        for entry in self.entries:
            level = sum(child.shares for child in entry.children if child.shares != PARENT)
            for child in entry.children:
                child.level_shares = level
        for entry in self.entries:
            of = entry.fair_parent if entry.shares == PARENT and entry.fair_parent else entry
            entry.shares_norm = _level_share(of) if fair_tree else _whole_share(of)

    def _rank_priorities(self) -> None:
        most = max((entry.priority for entry in self.entries), default=0)
        for entry in self.entries:
            entry.priority_norm = entry.priority / most if most else 0.0
        best = max((qos.record.priority for qos in self.qos.values()), default=0)
        for qos in self.qos.values():
            qos.priority_norm = qos.record.priority / best if best else 0.0

    # -------------------------------------------------------------- looking up

    @property
    def user_count(self) -> int:
        """How many associations are of users, root's among them."""
        return sum(1 for entry in self.entries if entry.user)

    def find(self, user: str, account: str, partition: str = "") -> Entry | None:
        """The association of a user in an account: that for the partition if there is one, else the general one."""
        key = (account.lower(), user.lower())
        return self._by_key.get((*key, partition)) or self._by_key.get((*key, ""))

    def entry(self, job: LimitedJob) -> Entry | None:
        """The association of a job."""
        return self.find(job.user, job.account, job.partition)

    def default_account(self, user: str) -> str:
        """The account that a user has who names none, "": none."""
        known = self.users.get(user.lower())
        return known.default_account if known else ""

    def resolve(
        self, user: str, account: str, partition: str, qos: str, *, associations: bool = True, qos_too: bool = True
    ) -> tuple[str, str] | str:
        """The account and the QOS that a job gets, or sbatch's words for the refusal.

        ``associations``, ``qos_too``: what AccountingStorageEnforce holds.

        >>> from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
        >>> Tree(apply_commands(Accounts(), [])).resolve("alice", "phys", "batch", "")
        'Invalid account or account/partition combination specified'
        """
        account = (account or self.default_account(user)).lower()
        entry = self.find(user, account, partition)
        if entry is None and associations:
            return INVALID_ACCOUNT
        name = qos.lower() or self.default_qos(entry)
        if name not in self.qos:
            return INVALID_QOS if qos or self.entries else (account, "")
        if entry is not None and qos_too and name not in entry.qos:
            return INVALID_QOS
        return account, name

    def default_qos(self, entry: Entry | None) -> str:
        """The QOS of a job that names none: the default of its association, the only one, root's default, ``normal``.

        Source: ``assoc_mgr_get_default_qos_info`` in ``src/common/assoc_mgr.c``.
        """
        if entry is not None:
            if entry.default_qos in entry.qos:
                return entry.default_qos
            if len(entry.qos) == 1:
                return next(iter(entry.qos))
        root = self._by_key.get(("root", "", ""))
        return (root.default_qos if root else "") or "normal"

    def qos_order(self, job: LimitedJob) -> tuple[QosEntry, ...]:
        """The QOS whose limits hold for a job, the one that overrides first: that of the partition, unless the job's
        has OverPartQOS."""
        return self.qos_in(job.qos, job.partition)

    def qos_in(self, qos: str, partition: str) -> tuple[QosEntry, ...]:
        """The same of a QOS in a partition."""
        own, part = self.qos.get(qos), self._partition_qos.get(partition)
        if own is None or part is None or own is part:
            one = own or part
            return (one,) if one is not None else ()
        return (own, part) if OVER_PARTITION in own.record.flags else (part, own)

    def priority_threshold(self, job: LimitedJob) -> int:
        """Below which priority a job keeps no nodes free for itself (MinPrioThres), 0: it always does."""
        for qos in self.qos_order(job):
            if qos.record.min_prio_threshold:
                return qos.record.min_prio_threshold
        entry = self.entry(job)
        return next((one.min_prio_threshold for one in (entry.chain if entry else ()) if one.min_prio_threshold), 0)

    def in_print_order(self) -> list[tuple[int, Entry]]:
        """The entries with their depth as sshare lists them: users before accounts, each by name."""
        below: dict[Entry | None, list[Entry]] = {}
        for entry in self.entries:
            below.setdefault(entry.parent, []).append(entry)
        listed: list[tuple[int, Entry]] = []

        def visit(entry: Entry) -> None:
            listed.append((len(entry.chain) - 1, entry))
            for child in sorted(below.get(entry, []), key=lambda one: (not one.user, one.user or one.account)):
                visit(child)

        for entry in below.get(None, []):
            visit(entry)
        return listed

    def limits_any(self, part: str) -> bool:
        """Whether anywhere is a limit on resources in whose field's name this part stands."""
        names = [one.name for one in fields(Limits) if part in one.name]
        places = [*(one.limits for one in self.entries), *(one.limits for one in self.qos.values())]
        return any(getattr(limits, name) for limits in places for name in names)

    # -------------------------------------------------------------- jobs come and go

    def qos_used(self, qos: QosEntry, job: LimitedJob) -> tuple[Used, Used, Used]:
        """What is in use in a QOS: in all, by the job's user, by its account."""
        by_user, by_account = qos.by_user.get(job.user), qos.by_account.get(job.account)
        if by_user is None:
            by_user = qos.by_user[job.user] = self._nothing()
        if by_account is None:
            by_account = qos.by_account[job.account] = self._nothing()
        return qos.used, by_user, by_account

    def places(self, job: LimitedJob) -> tuple[Used, ...]:
        """All places where what a job holds counts: its association and those above it, its QOS in all three ways."""
        key = (job.user, job.account, job.qos, job.partition)
        found = self._places.get(key)
        if found is None:
            entry = self.entry(job)
            above = tuple(one.used for one in entry.chain) if entry else ()
            found = (*above, *(used for one in self.qos_order(job) for used in self.qos_used(one, job)))
            self._places[key] = found
        return found

    def submit(self, job: LimitedJob, count: int = 1) -> None:
        """A job (``count``: of so many tasks) is in the queue from now on."""
        entry = self.entry(job)
        above = tuple(one.used for one in entry.chain) if entry else ()
        found = [self.qos.get(job.qos), *(self._partition_qos.get(part) for part in job.partitions or (job.partition,))]
        qos = tuple(dict.fromkeys(one for one in found if one is not None))
        for used in (*above, *(used for one in qos for used in self.qos_used(one, job))):
            used.submitted += count
        self._submitted[job] = (above, qos, count)

    def leave(self, job: LimitedJob) -> None:
        """A job is over, or gone from the queue: it no longer counts as submitted."""
        above, qos, count = self._submitted.pop(job, ((), (), 0))
        for used in (*above, *(used for one in qos for used in self.qos_used(one, job))):
            used.submitted -= count

    def start(self, job: LimitedJob, tres: Mapping[str, int], nodes: Sequence[int] = ()) -> None:
        """A job starts: in its partition it has these resources (with node and billing) on these nodes."""
        order = self.qos_order(job)
        above, submitted, count = self._submitted.get(job, ((), (), 0))
        for other in submitted:  # those of the partitions in which it does not run
            if other not in order:
                for used in self.qos_used(other, job):
                    used.submitted -= count
        if submitted:
            self._submitted[job] = (above, tuple(one for one in submitted if one in order), count)
        places = self.places(job)
        numbers = self.tres_number
        counts = tuple((numbers[name], count) for name, count in tres.items() if name in numbers)
        held = _Held(places, counts, tuple(nodes) if self.counts_nodes else ())
        self._count(held, +1)
        self._held[job] = held

    def end(self, job: LimitedJob) -> None:
        """A job has given its resources back; it may still be submitted (requeued)."""
        held = self._held.pop(job, None)
        if held is not None:
            self._count(held, -1)

    def _count(self, held: _Held, sign: int) -> None:
        for used in held.places:
            used.jobs += sign
            tres = used.tres
            for number, count in held.counts:
                tres[number] += sign * count
            if held.nodes:
                jobs_at = used.nodes
                for node in held.nodes:
                    left = jobs_at.get(node, 0) + sign
                    if left:
                        jobs_at[node] = left
                    else:
                        del jobs_at[node]
                tres[NODE] = len(jobs_at)


def _allowed(record: Association, parent: frozenset[str]) -> frozenset[str]:
    allowed = set(record.qos or parent)
    for change in record.qos_delta:
        (allowed.add if change[0] == "+" else allowed.discard)(change[1:])
    return frozenset(allowed)


def _handed_down(own: Limits, above: Limits) -> Limits:
    changed: dict[str, object] = {}
    for name in HANDED_DOWN:
        mine, theirs = getattr(own, name), getattr(above, name)
        if isinstance(theirs, Mapping):
            if theirs:
                changed[name] = {**theirs, **mine}
        elif mine is None and theirs is not None:
            changed[name] = theirs
    return replace(own, **changed) if changed else own  # type: ignore[arg-type]


def _level_share(entry: Entry) -> float:
    return entry.shares / entry.level_shares if entry.level_shares else 0.0


def _whole_share(entry: Entry) -> float:
    share = 1.0
    for one in entry.chain:
        if one.parent is not None and one.shares != PARENT:
            share = share * (one.shares / one.level_shares) if one.level_shares else 0.0
    return share


def _all_limits(accounts: Accounts) -> list[Limits]:
    return [*(one.limits for one in accounts.associations), *(one.limits for one in accounts.qos)]


def _tres_maps(limits: Limits) -> list[Mapping[str, int]]:
    return [value for one in fields(limits) if isinstance(value := getattr(limits, one.name), Mapping)]
