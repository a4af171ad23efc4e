"""The same word count, which adds up in each map task what it can before the shuffle."""

from operator import add

from gnomon.dataflow import Dataflow

LINES = [" ".join(f"word{(line * 31 + place * place * 7) % 50}" for place in range(10)) for line in range(1_000)]

flow = Dataflow("combined")
ones = flow.source(LINES, partitions=4).flat_map(str.split).map(lambda word: (word, 1), name="ones")
ones.reduce_by_key(add, partitions=4).collect(name="counts")
