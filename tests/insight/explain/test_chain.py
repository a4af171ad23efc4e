"""How it came to be: enough rows to follow, and no more."""

import pytest

from gnomon.insight.explain.chain import CAUSES_MAX, OWN_MAX, chain
from gnomon.insight.explain.ground import Ground
from tests.insight.explain.documents import explain, run

CROWDED = """
    cluster: {nodes: [{name: n, cpu: 8, memory: 32Gi, count: 2, machine: {used: 1Gi}}]}
    work:
      - {id: grows, count: 12, cpu: 1, memory: 4Gi, duration: 2h, limits: {memory: 16Gi},
         usage: {memory: {from: 2Gi, to: 14Gi, over: 90m}}}
    policy: priority+best-fit
    operation: {enforcement: {out_of_memory: oom-score}}
    recovery: {retries: [{on: [memory], limit: 9, backoff: {first: 10s}}]}
    """


@pytest.mark.unit
def test_kills_of_others_do_not_make_a_chain_longer_than_eight_rows_back() -> None:
    done = run(CROWDED)
    ground = Ground(done.past)
    longest = 0
    for task in range(12):
        links = chain(ground, (task,))
        own = [link.row for link in links if done.log.subject[link.row] == task]
        direct = {int(done.log.cause[row]) for row in own}
        others = [link.row for link in links if link.row not in own and link.row not in direct]
        assert len(others) <= CAUSES_MAX
        assert len(links) <= 2 * OWN_MAX + CAUSES_MAX + 5
        longest = max(longest, int((done.log.subject == task).sum()))
    assert longest > OWN_MAX


@pytest.mark.unit
def test_a_peer_on_a_crashed_node_loses_the_work_up_to_the_crash_in_the_sentence_as_in_the_chain() -> None:
    text = """
        cluster: {nodes: [{name: a, cpu: 4, count: 2, labels: {rack: one}}, {name: b, cpu: 4, count: 2}]}
        work: [{job: web, count: 2, cpu: 4}]
        gang: true
        operation: {detection: {beat: 10s, check: 5s, grace: 40s}, eviction: {after: 5m}}
        faults: [{at: 1h, crash: rack/one, for: 20m}]
        until: 4h
        """
    for name in ("web-0", "web-1"):
        found = explain(name, text)
        assert "(1h of work lost)" in found.summary
        assert "1h5m45s of work lost" not in found.summary
        losses = [link.text for link in found.chain if link.event == "fail"]
        assert losses
        assert all("; 1h of its work is lost" in text for text in losses)
        assert not any("1h5m45s" in text for text in losses)  # when stands beside it
