"""A program with two actions, each with a shuffle of its own."""

from gnomon.dataflow import Dataflow

LINES = [" ".join(f"word{(line * 31 + place * place * 7) % 50}" for place in range(10)) for line in range(1_000)]

flow = Dataflow("twice")
words = flow.source(LINES, partitions=4).flat_map(str.split, name="words")
words.map(lambda word: (word, 1), name="by word").group_by_key(partitions=4).map_values(sum).collect(name="counts")
lengths = words.map(lambda word: (len(word), word), name="by length")
lengths.group_by_key(partitions=4).map_values(len).collect(name="lengths")
