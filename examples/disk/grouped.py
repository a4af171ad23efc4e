"""A word count that gathers the ones of each word in a list, and then adds them up."""

from gnomon.dataflow import Dataflow

LINES = [" ".join(f"word{(line * 31 + place * place * 7) % 50}" for place in range(10)) for line in range(1_000)]

flow = Dataflow("grouped")
ones = flow.source(LINES, partitions=4).flat_map(str.split).map(lambda word: (word, 1), name="ones")
ones.group_by_key(partitions=4).map_values(sum).collect(name="counts")
