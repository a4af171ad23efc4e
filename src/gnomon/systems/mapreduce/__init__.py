"""Hadoop MapReduce 3.5: jobs of two stages with a sorted shuffle between them, on files of HDFS."""
