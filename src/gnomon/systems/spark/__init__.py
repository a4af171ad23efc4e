"""Apache Spark: event logs, its rules of scheduling and its options."""
