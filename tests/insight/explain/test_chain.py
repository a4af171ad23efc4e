"""How it came to be: enough rows to follow, and no more."""

import pytest

from gnomon.insight.explain.chain import CAUSES_MAX, OWN_MAX, chain
from gnomon.insight.explain.ground import Ground
from tests.insight.explain.documents import run

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
