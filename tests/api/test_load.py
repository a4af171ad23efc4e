"""Scenarios, clusters and work: what a file means, how its format is found, and what is refused with its place."""

from __future__ import annotations

import gzip
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api.load import load_scenario
from gnomon.api.parts import load_cluster, load_work
from gnomon.api.recognise import is_scenario
from gnomon.model.cluster import Cluster, Node, Reservation
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Scenario, Tenant
from gnomon.model.work import Note
from gnomon.scheduling.policy import parse_policy
from tests.api.files import SWF, put
from tests.shared import EXAMPLES

S = 10**9
PARTS = "cluster: 4\nwork: [{id: a, cpu: 1, duration: 60}]\n"


def load(folder: Path, text: str) -> Scenario:
    (scenario,) = load_scenario(put(folder, text))
    return scenario


class TestScenario:
    """A scenario file in YAML."""

    def test_says_everything_or_little(self, tmp_path: Path) -> None:
        """What is not said is the default of the model."""
        scenario = load(tmp_path, PARTS)
        expected = Scenario(
            Cluster.of_processors(4),
            scenario.work,
            policy=parse_policy("fcfs"),
            name="scenario",
            source=str(tmp_path / "scenario.yaml"),
        )
        assert scenario == expected
        assert list(scenario.work.ids) == ["a"]

    def test_every_field_has_its_place_in_the_model(self, tmp_path: Path) -> None:
        scenario = load(
            tmp_path,
            "name: night\nsystem: plain\ncluster: {nodes: [{name: n, cpu: 4}]}\n"
            "work: [{id: a, cpu: 1, duration: 60}]\npolicy: sjf+easy:extra=no\nuntil: 1d\nseed: 7\n"
            "limits: {events: 1000, repeats: 10}\nkill_at_limit: no\ngang: no\npreempt: yes\n"
            "queues: [{name: q, share: 2, limit: {cpu: 3}}]\nreservations: [{name: m, node: n, start: 1h}]\n",
        )
        window = Reservation("m", 3600 * S, NEVER, "n")
        assert replace(scenario, source="") == Scenario(
            Cluster((Node("n", Resources(4000)),), reservations=(window,), source=scenario.source),
            scenario.work,
            policy=parse_policy("sjf+easy:extra=no"),
            seed=7,
            limits=Limits(events=1000, until_ns=86_400 * S, repeats=10),
            kill_at_limit=False,
            gang=False,
            preempt=True,
            tenants_by="queue",
            tenants=(Tenant("q", 2.0, Resources(3000)),),
            name="night",
        )

    @pytest.mark.parametrize(
        ("written", "policies"),
        [
            ("easy", ["easy"]),
            ("{order: sjf, backfill: easy, placement: best-fit}", ["sjf+easy+best-fit"]),
            (
                "{backfill: easy, options: {easy: {extra: false, reservation: keep}}}",
                ["easy:extra=no,reservation=keep"],
            ),
            (
                "{order: 'priority:aging=2', options: {priority: {head: committed}}}",
                ["priority:aging=2,head=committed"],
            ),
            ("[fcfs, {order: sjf}, sjf+easy]", ["fcfs", "sjf", "sjf+easy"]),
        ],
    )
    def test_a_policy_is_text_or_parts_and_a_list_is_variants(
        self, tmp_path: Path, written: str, policies: list[str]
    ) -> None:
        scenarios = load_scenario(put(tmp_path, f"{PARTS}policy: {written}"))
        assert [scenario.policy for scenario in scenarios] == [parse_policy(text) for text in policies]

    @pytest.mark.parametrize(
        ("written", "by"),
        [
            ("users: [{name: u}]", "user"),
            ("queues: [{name: u}]", "queue"),
            ("tenants: [{name: u}]", "user"),
            ("tenants_by: queue\ntenants: [{name: u}]", "queue"),
            ("tenants_by: queue\nqueues: [{name: u}]", "queue"),
        ],
    )
    def test_shares_and_limits_are_of_users_or_of_queues(self, tmp_path: Path, written: str, by: str) -> None:
        scenario = load(tmp_path, PARTS + written)
        assert (scenario.tenants_by, scenario.tenants) == (by, (Tenant("u"),))

    def test_paths_are_relative_to_the_scenario(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        put(tmp_path, gzip.compress(SWF.encode()), "log.swf.gz")
        put(tmp_path / "deep", "nodes: [{name: n, cpu: 4}]", "nodes.yaml")
        path = put(tmp_path / "deep", "work: ../log.swf.gz\ncluster: nodes.yaml\n")
        (scenario,) = load_scenario(path)
        assert [node.name for node in scenario.cluster.nodes] == ["n"]
        assert len(scenario.work) == 1

    def test_several_leaders_are_noted_as_not_modelled(self, tmp_path: Path) -> None:
        scenario = load(tmp_path, f"{PARTS}operation: {{control: {{members: 2, quorum: false}}}}")
        assert [(note.what, note.field) for note in scenario.work.notes] == [
            ("not modelled", "operation.control.quorum")
        ]

    def test_a_trace_knows_its_machine(self, tmp_path: Path) -> None:
        put(tmp_path, SWF, "log.swf")
        scenario = load(tmp_path, "work: log.swf")
        assert scenario.cluster == Cluster.of_processors(4)
        assert Note("default", "cluster", "4 processors, as the trace says of its machine (MaxProcs)") in (
            scenario.work.notes
        )

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("work: [{id: a, cpu: 1}]\n", "line 1: cluster is missing; allowed: a path, a number of processors"),
            ("cluster: 4\n", "line 1, work: this is missing"),
            ("cluster: 4\nwork: 5\n", "line 2, work: no work; allowed: a path, a list of paths, or a list of tasks"),
            ("cluster: [4]\nwork: [{id: a, cpu: 1}]\n", "line 1, cluster: no cluster, found [4]; allowed: a path"),
            (
                "cluster: 0\nwork: [{id: a, cpu: 1}]\n",
                "line 1, cluster: not a number of processors, found '0'; allowed: 1",
            ),
            ("cluster: -3\nwork: [{id: a, cpu: 1}]\n", "line 1, cluster: not a number of processors, found '-3'"),
            ("cluster:\n  nodes:\n  - cpu: 1\nwork: []\n", "line 3, cluster.nodes[0].name: this is missing"),
            ("cluster: 4\nwork:\n- id: a\n  cpu: x\n", "line 4, work[0].cpu: not a number of CPUs"),
            (
                f"{PARTS}polcy: easy\n",
                "line 3, polcy: unknown field (did you mean 'policy'?); allowed: changes, cluster, conf, faults",
            ),
            (f"{PARTS}policy: esay\n", "line 3, policy: unknown policy (did you mean 'easy'?), found 'esay'; allowed:"),
            (f"{PARTS}policy: [fcfs, sjf+ljf]\n", "line 3, policy[1]: a policy has one order, this has sjf and ljf"),
            (f"{PARTS}policy: []\n", "line 3, policy: a list without a policy"),
            (f"{PARTS}policy: {{}}\n", "line 3, policy: a policy without a part"),
            (f"{PARTS}policy: 7\n", "line 3, policy: a policy is text, or a mapping of order"),
            (f"{PARTS}policy: {{score: x}}\n", "line 3, policy.score: unknown field"),
            (f"{PARTS}policy: {{order: easy}}\n", "line 3, policy.order: unknown order, found 'easy'; allowed: drf,"),
            (
                f"{PARTS}policy: {{order: sjf, options: {{easy: {{extra: no}}}}}}\n",
                "options of a part that this policy",
            ),
            (f"{PARTS}policy: {{backfill: easy, options: {{easy: {{extra: maybe}}}}}}\n", "not a value of this option"),
            (f"{PARTS}policy: {{order: sjf, placement: best-fit+easy}}\n", "placement"),
            (
                f"{PARTS}policy: {{order: sjf, placement: 'best-fit:over=cpu+easy'}}\n",
                "line 3, policy.placement: one part is wanted",
            ),
            (
                f"{PARTS}policy: {{order: fcfs, options: {{fcfs: {{head: free+easy}}}}}}\n",
                "line 3, policy.options.fcfs.head: not a value of this option, found 'free+easy'",
            ),
            (
                f"{PARTS}system: ray\n",
                "line 3, system: this system is not modelled yet, found 'ray'; allowed: plain",
            ),
            (f"{PARTS}system: plane\n", "line 3, system: unknown system (did you mean 'plain'?), found 'plane'"),
            (f"{PARTS}until: soon\n", "line 3, until: not a duration"),
            (f"{PARTS}seed: -1\n", "line 3, seed: a whole number from 0 to 9223372036854775807 is wanted, found -1"),
            (f"{PARTS}gang: maybe\n", "line 3, gang: true or false is wanted, found 'maybe'"),
            (f"{PARTS}limits: {{events: 0}}\n", "line 3, limits.events: a whole number from 1"),
            (
                f"{PARTS}tenants_by: group\n",
                "line 3, tenants_by: unknown kind of tenant, found 'group'; allowed: queue, user",
            ),
            (f"{PARTS}users: []\nqueues: []\n", "users and queues say the same; give one"),
            (f"{PARTS}users: []\ntenants_by: queue\n", "tenants_by is queue, but these are users"),
            (f"{PARTS}reservations: [{{name: m, node: n}}]\n", "line 3, reservations[0].node: unknown node"),
            (f"{PARTS}---\na: 1\n", "line 4: a second document; only one is read"),
            ("- cluster: 4\n", "line 1: a mapping is wanted, found a list"),
            ("cluster: 4\nwork: [{id: a, cpu: 1}, {id: a, cpu: 1}]\n", "work[1].id: this id is there twice"),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str, problem: str) -> None:
        path = put(tmp_path, text)
        with pytest.raises(InputError) as caught:
            load_scenario(path)
        assert str(caught.value).startswith(f"{path}, line ")
        assert problem in str(caught.value)

    def test_a_file_that_it_names_and_that_is_not_there(self, tmp_path: Path) -> None:
        path = put(tmp_path, "cluster: 4\nwork: [absent.swf]\n")
        with pytest.raises(InputError) as caught:
            load_scenario(path)
        assert str(caught.value) == f"{tmp_path / 'absent.swf'}: no such file"


class TestPythonScenario:
    """A scenario file in Python."""

    HEAD = (
        "from gnomon.model.cluster import Cluster\nfrom gnomon.model.scenario import Scenario\n"
        "from gnomon.model.work import Task, Work\n"
        "one = Scenario(Cluster.of_processors(4), Work.from_tasks([Task('a', duration_ns=5)]), name='one')\n"
    )

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("scenario = one\n", 1),
            ("scenario = [one, one]\n", 2),
            ("def scenario():\n    return one\n", 1),
            ("def scenario():\n    return [one, one, one]\n", 3),
        ],
    )
    def test_defines_scenario(self, tmp_path: Path, text: str, number: int) -> None:
        scenarios = load_scenario(put(tmp_path, self.HEAD + text, "s.py"))
        assert [scenario.name for scenario in scenarios] == ["one"] * number

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("scenario = 1 / 0\n", ", line 5: ZeroDivisionError: division by zero"),
            ("def scenario():\n    raise KeyError('x')\n", ", line 6: KeyError: 'x'"),
            ("scenario = (\n", ", line 5: SyntaxError: '(' was never closed"),
            ("exit(3)\n", ", line 5: SystemExit: 3"),
            ("raise ValueError('one\\ntwo')\n", ", line 5: ValueError: one"),
            ("scenari = one\n", ": scenario is no Scenario but NoneType; allowed: scenario = Scenario(...), or def"),
            ("scenario = []\n", ": scenario is no Scenario but list"),
            ("scenario = [one, 2]\n", ": scenario is no Scenario but list"),
        ],
    )
    def test_refuses(self, tmp_path: Path, text: str, problem: str) -> None:
        path = put(tmp_path, self.HEAD + text, "s.py")
        with pytest.raises(InputError) as caught:
            load_scenario(path)
        assert str(caught.value).startswith(f"{path}{problem}")
        assert "\n" not in str(caught.value)

    def test_one_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such file"):
            load_scenario(tmp_path / "absent.py")

    def test_can_import_what_stands_beside_it(self, tmp_path: Path) -> None:
        put(tmp_path, "SIZE = 8\n", "sizes_beside.py")
        text = (
            "import sizes_beside\nscenario = Scenario(Cluster.of_processors(sizes_beside.SIZE), Work.from_tasks([]))\n"
        )
        (scenario,) = load_scenario(put(tmp_path, self.HEAD + text, "s.py"))
        assert scenario.cluster == Cluster.of_processors(8)


class TestParts:
    """Clusters and work by themselves."""

    def test_a_cluster_is_a_number_or_a_file(self, tmp_path: Path) -> None:
        path = put(tmp_path, "nodes: [{name: n, cpu: 4}]\ntasks: [{id: a, cpu: 1}]\n")
        assert load_cluster("100") == load_cluster(100) == Cluster.of_processors(100)
        assert load_cluster(path) == load_cluster(path, format="plain")
        assert load_cluster(path).nodes == (Node("n", Resources(4000)),)
        assert list(load_work(path).ids) == ["a"]

    @pytest.mark.parametrize(
        "number", ["0", "-5", "1000000001", "9" * 400, "1e9", "4.0", "nan", "1_000", "٣", "４", "1e400"]
    )
    def test_a_number_has_bounds(self, number: str) -> None:
        with pytest.raises(
            InputError, match=r"cluster: not a number of processors, found '.*; allowed: 1 to 1000000000"
        ):
            load_cluster(number)

    def test_a_file_may_be_called_like_a_number(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        put(tmp_path, "nodes: [{name: n, cpu: 4}]", "1e3")
        assert load_cluster("1e3").nodes[0].name == "n"

    def test_work_is_one_file_or_several_in_their_order(self, tmp_path: Path) -> None:
        log = put(tmp_path, SWF, "log.swf")
        plain = put(tmp_path, "tasks: [{id: a, cpu: 2, duration: 1, queue: q, job: j}]", "tasks.yaml")
        work = load_work([log, plain])
        assert [work.id(0), work.id(1)] == ["1", "a"]
        assert [work.job_name(0), work.job_name(1)] == ["1", "j"]
        assert work.source == f"{log}, {plain}"
        assert (work.processors, len(load_work(log))) == (None, 1)

    def test_a_list_of_tasks_is_work(self, tmp_path: Path) -> None:
        tasks = put(tmp_path, "- {id: a, cpu: 1}\n- {job: b, cpu: 1, count: 2}\n", "tasks.yaml")
        assert list(load_work(tasks).ids) == ["a", "b-0", "b-1"]
        with pytest.raises(InputError, match="not of a format that is known"):
            load_work(put(tmp_path, "- {id: a, cpu: 1}\n- {name: b}\n", "others.yaml"))

    def test_what_is_one_thing_is_not_the_other(self, tmp_path: Path) -> None:
        scenario = put(tmp_path, PARTS)
        nodes = put(tmp_path, "nodes: [{name: n, cpu: 4}]\n", "nodes.yaml")
        tasks = put(tmp_path, "tasks: [{id: a, cpu: 1}]\n", "tasks.yaml")
        assert [is_scenario(path) for path in (scenario, nodes, tasks)] == [True, False, False]
        for load, path, problem in (
            (load_cluster, scenario, "this is a scenario, not a cluster"),
            (load_work, scenario, "this is a scenario, not work"),
            (load_cluster, tasks, "nodes are missing"),
            (load_work, nodes, "tasks are missing"),
        ):
            with pytest.raises(InputError, match=problem):
                load(path)
        with pytest.raises(InputError, match="no work is given"):
            load_work([])


BOMB = "a0: &a0 [1]\n" + "".join(f"a{n + 1}: &a{n + 1} [{','.join([f'*a{n}'] * 9)}]\n" for n in range(9))

JUNK: dict[str, tuple[bytes, str]] = {
    "an empty file": (b"", "the file is empty"),
    "binary junk": (b"\x00\x01\x02\xff", "a NUL byte: this is not a text file"),
    "a bomb": (BOMB.encode(), "more than 1000000 values, aliases counted each time"),
    "a word": (b"hello\n", "not of a format that is known; allowed: a scenario"),
    "another mapping": (b"hello: world\n", "not of a format that is known; allowed: a scenario"),
    "a web page": (b"<!doctype html>\n<html><body>404: not found</body></html>\n", ""),
}


@pytest.mark.parametrize("case", JUNK)
def test_what_is_nothing_known_is_one_clear_line(case: str, tmp_path: Path) -> None:
    content, problem = JUNK[case]
    path = put(tmp_path, content, "file")
    for use in (load_cluster, load_work, is_scenario, load_scenario):
        with pytest.raises(InputError) as caught:
            use(path)
        assert str(caught.value).startswith(str(path))
        if use is not load_scenario:
            assert problem in str(caught.value)


@pytest.mark.property
@given(st.binary(max_size=300) | st.text("{}[]:-,#&* \nabc01nodestaskwrlu").map(str.encode))
def test_whatever_bytes_come_are_loaded_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = put(tmp_path_factory.getbasetemp(), content, "file")
    for use in (load_cluster, load_work, is_scenario, load_scenario):
        with suppress(InputError):
            use(path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_examples_are_scenarios(path: Path) -> None:
    assert is_scenario(path)
    assert all(len(scenario.work) and scenario.name == path.stem for scenario in load_scenario(path))
