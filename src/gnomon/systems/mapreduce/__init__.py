"""Hadoop MapReduce 3.5: jobs of two stages with a sorted shuffle between them, on files of HDFS.

``scenario.read_job`` makes a scenario of a graph: ``read`` takes in the configuration (``settings``: the options that
are modelled), ``jobs`` cuts the graph into maps and reduces, and ``execution.Tasks`` runs their ``attempts`` on real
records, at assumed ``costs``, with Hadoop's ``counters``, as :mod:`gnomon.control.batch` asks.
"""
