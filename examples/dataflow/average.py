"""The mean temperature of each station, once wrongly: the mean of means is not the mean.

A combiner may run no time, once or several times on any part of the values. `gnomon check` finds that `mean` gives
other results then, and that `sums` does not.
"""

from gnomon.dataflow import Dataflow

readings = [("north", 10), ("north", 20), ("south", 30), ("north", 60), ("south", 32), ("south", 31), ("north", 2)]


def mean(key, values):
    return [sum(values) / len(values)]


def sums(one, other):
    return one[0] + other[0], one[1] + other[1]


flow = Dataflow("averages")
stations = flow.source(readings, partitions=3, name="readings")
stations.group_by_key(combine=mean, name="wrong").map_values(lambda found: sum(found) / len(found)).collect(
    name="means"
)
counted = stations.map_values(lambda value: (value, 1)).reduce_by_key(sums, name="right")
counted.map_values(lambda found: found[0] / found[1]).collect(name="true means")
