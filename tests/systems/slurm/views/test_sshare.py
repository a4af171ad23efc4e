"""The tables of sshare and sprio, letter by letter as Slurm 22.05.8 printed them."""

import pytest

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.billing import Billing
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.accounting.usage import Usage
from gnomon.systems.slurm.priority.classic import Classic
from gnomon.systems.slurm.priority.fair_tree import FairTree
from gnomon.systems.slurm.priority.formula import Factors, Weights
from gnomon.systems.slurm.views.sshare import PriorityRow, priority_table, share_table
from tests.systems.slurm.accounting.recorded import Job, cpus, recorded, text


def test_sshare_before_and_after_usage_is_applied() -> None:
    case = recorded("fairtree-two-accounts")
    shown = [query["output"] for query in case["queries"] if query["cmd"][0] == "sshare"]
    tree = Tree(apply_commands(Accounts(), case["accounting"]), tracked=["gres/gpu"])
    usage, fair = Usage(tree, Billing(), half_life_s=0), FairTree(tree)

    def period(now: int) -> None:
        usage.period(now)
        fair.finish(usage.raw)

    period(-10)
    alice, carol = Job("alice", "phys", limit_min=2), Job("carol", "chem", limit_min=2)
    for job, count, nodes in ((alice, 16, 2), (carol, 8, 1)):
        usage.start(job, cpus(count, nodes=nodes), start_s=0, limit_min=2)
    assert share_table(usage, fair, parsable=True) == shown[0]
    usage.end(alice, 20)
    usage.end(carol, 20)
    period(50)
    assert share_table(usage, fair, parsable=True) == shown[1]
    dave = Job("dave", "chem", limit_min=1)
    usage.start(dave, cpus(32, nodes=4), start_s=78, limit_min=1)
    assert share_table(usage, fair, parsable=True) == shown[2]


RUNNING = {
    ("engineering", "dave"): "cpu=808,mem=92168000,node=102,billing=808",
    ("chemistry", "carol"): "cpu=660,mem=660000,node=30,billing=740,gres/gpu=10",
    ("physics", "alice"): "cpu=1081,mem=1081000,node=91,billing=1241,gres/gpu=20,gres/gpu:a100=20",
    ("physics", "bob"): "cpu=237,mem=237000,node=27,billing=237,license/matlab=40",
}
USED = {
    ("engineering", "dave"): 50.5,
    ("chemistry", "carol"): 68.9,
    ("physics", "alice"): 1570.8,
    ("physics", "bob"): 796.9,
}


@pytest.mark.parametrize(("name", "parsable"), [("sshare-al.txt", False), ("sshare-alP.txt", True)])
def test_sshare_of_a_busy_cluster(name: str, parsable: bool) -> None:
    """What runs is one job a user with a limit of a minute; ranks are still those of no usage at all."""
    accounts = apply_commands(Accounts(), text("sacctmgr-commands.txt").splitlines())
    tree = Tree(accounts, tracked=["gres/gpu", "gres/gpu:a100", "license/matlab"])
    usage, fair = Usage(tree, Billing(), half_life_s=0), FairTree(tree)
    fair.finish(usage.raw)
    for (account, user), running in RUNNING.items():
        tres = {resource: int(count) for resource, count in (part.split("=") for part in running.split(","))}
        usage.start(Job(user, account, limit_min=1), tres, start_s=0, limit_min=1)
    usage.set_raw({(account, user, ""): amount for (account, user), amount in USED.items()})
    assert share_table(usage, fair, parsable=parsable) == text(name)


def test_sshare_short_and_of_some_users_and_without_fair_tree() -> None:
    accounts = apply_commands(Accounts(), ["add account a fairshare=3", "add user u,v account=a"])
    tree = Tree(accounts, fair_tree=False)
    usage, classic = Usage(tree, Billing(), half_life_s=0), Classic(tree)
    usage.set_raw({("a", "u", ""): 10.0})
    classic.begin(usage.raw)
    classic.finish(usage.raw)
    assert share_table(usage, classic, long=False, parsable=True, users=["u"]).splitlines() == [
        "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare",
        "root|||1.000000|10|1.000000|0.500000",
        " a||3|0.750000|10|1.000000|0.396850",
        "  a|u|1|0.375000|10|1.000000|0.157490",
    ]


def rows(case: str) -> list[tuple[str, str]]:
    return [
        (" ".join(query["cmd"]), query["output"]) for query in recorded(case)["queries"] if query["cmd"][0] == "sprio"
    ]


CASES = {
    "mf-combined-nice": [
        PriorityRow("2", "lo", "alice", Factors(jobsize=100.0, partition=30.0)),
        PriorityRow("3", "hi", "alice", Factors(jobsize=75.0, partition=300.0)),
        PriorityRow("4", "lo", "bob", Factors(jobsize=75.0, partition=30.0, qos=1000.0)),
        PriorityRow("5", "hi", "carol", Factors(jobsize=150.0, partition=300.0, qos=1000.0, nice=500)),
        PriorityRow("6", "lo", "alice", Factors(jobsize=150.0, partition=30.0)),
    ],
    "mf-jobsize-big-first": [
        PriorityRow(str(number), "batch", "alice", Factors(jobsize=size * 1000))
        for number, size in ((2, 0.15625), (3, 0.375), (4, 0.25), (5, 0.625), (6, 0.1875))
    ],
    "mf-qos": [
        PriorityRow("2", "batch", "alice", Factors()),
        PriorityRow("3", "batch", "alice", Factors(qos=100.0)),
        PriorityRow("4", "batch", "alice", Factors(qos=1000.0)),
        PriorityRow("5", "batch", "bob", Factors(qos=1000.0)),
    ],
    "fairtree-two-accounts": [
        PriorityRow("4", "batch", "alice", Factors(fairshare=6000.0)),
        PriorityRow("5", "batch", "carol", Factors(fairshare=2000.0)),
        PriorityRow("6", "batch", "bob", Factors(fairshare=8000.0)),
        PriorityRow("7", "batch", "dave", Factors(fairshare=4000.0)),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_sprio_l(case: str) -> None:
    ((_, output),) = rows(case)
    assert priority_table(CASES[case]) == output


def test_sprio_n() -> None:
    output = next(text for command, text in rows("mf-age-before-recalc") if command == "sprio -n -l")
    jobs = [
        PriorityRow(number, "batch", "alice", Factors(jobsize=size))
        for number, size in (("2", 62.5), ("3", 100.0), ("4", 62.5))
    ]
    assert priority_table(jobs, weights=Weights(age=1000, jobsize=100), normal=True) == output


def test_what_is_wider_than_its_column_is_cut() -> None:
    line = text("sprio-l.txt").splitlines()[-1]
    tres = {"cpu": 500 * 4 / 48, "mem": 250 * 204800 / 768000, "gres/gpu": 3000 * 1 / 10}
    factors = Factors(fairshare=10000.0, jobsize=18.6, partition=1000.0, tres=tres)
    assert priority_table([PriorityRow("102", "gpu", "alice", factors)]).splitlines()[1] == line
