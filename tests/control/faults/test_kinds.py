"""What every kind of fault says of itself."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from gnomon.control.faults import KINDS, harmful
from gnomon.control.faults.kind import Harm
from gnomon.model.fault import Fault
from gnomon.recovery.targets import MEMBERS, NODES, TASKS

pytestmark = pytest.mark.unit

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("fault", Fault)
def test_a_kind_is_a_module_that_says_what_it_is(fault: Fault) -> None:
    module = import_module(f"gnomon.control.faults.{fault.value.replace('-', '_')}")
    assert inspect.getdoc(module)
    assert f"`{fault.value}`" in (DOCS / "scenarios.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", Fault)
def test_a_kind_strikes_those_whom_it_hits(fault: Fault) -> None:
    """Nodes one by one, tasks one by one, or all that it names; what fails by itself is a matter of plans."""
    kind = KINDS[fault]
    means = {"node": kind.on_node, "task": kind.on_task, "all": kind.on_all}
    given = [name for name, mean in means.items() if mean is not None]
    assert given == {(NODES,): ["node"], (TASKS,): ["task"], (MEMBERS,): ["all"], (NODES, MEMBERS): ["all"]}[
        kind.hits
    ] or (fault is Fault.FAIL and not given)


@pytest.mark.parametrize("fault", [fault for fault, kind in KINDS.items() if kind.amount])
def test_a_milder_one_is_allowed_and_comes_to_an_end(fault: Fault) -> None:
    amount = KINDS[fault].amount
    assert amount is not None
    now, steps = min(amount.most, 10_000), 0
    while (milder := amount.milder(now, range(1, now))) != now:
        assert amount.least <= milder <= amount.most
        now, steps = milder, steps + 1
        assert steps < 20_000


def test_harm_is_a_ladder() -> None:
    assert [harmful(least) for least in (Harm.STOP, Harm.CUT_OFF, Harm.DELAY)] == [
        ("crash", "reboot"),
        ("crash", "reboot", "partition"),
        ("crash", "reboot", "partition", "leader"),
    ]
