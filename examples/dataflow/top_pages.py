"""Five stages: visits are counted by page, joined with the pages' owners, summed by owner, and sorted."""

from operator import add

from gnomon.dataflow import Dataflow

visits = [f"/page/{number * number % 61}" for number in range(3_000)]
owners = [(f"/page/{number}", f"owner-{number % 7}") for number in range(61)]

flow = Dataflow("owners by visits")
hits = flow.source(visits, partitions=6, name="visits").map(lambda page: (page, 1))
counts = hits.reduce_by_key(add, partitions=4, name="hits")
owned = counts.join(flow.source(owners, partitions=2, name="owners"), partitions=4, name="with owner")
sums = owned.map(lambda found: (found[1][1], found[1][0])).reduce_by_key(add, partitions=3, name="by owner").cache()
sums.sort_by(lambda pair: pair[1], ascending=False, partitions=2, name="ranking").sink("ranking")
