"""How often each word occurs. Both records of `everyone` meet in one reducer."""

from operator import add

from gnomon.dataflow import Dataflow

flow = Dataflow("wordcount")
lines = flow.text("input/*.txt")
pairs = lines.flat_map(str.split).map(lambda word: (word, 1), name="pairs")
pairs.reduce_by_key(add, partitions=2, name="counts").sink("out")
