"""What a run means: metrics, fairness, calibration, comparison and explanation, from its log alone.

``history.history`` folds the log once into columns (what became of each task, each attempt, the time observed);
``metrics.metrics`` sums a run up, with ``accounting`` of useful and wasted time; ``recovery.recovery`` says what went
wrong and what came of it (``outages``: faults as stretches of time, ``rework``: work lost and done again,
``budgets``); ``usage`` has what changes over time (allocation, queue); ``fairness`` who got how much and who overtook
whom; ``fragmentation`` what free capacity nobody could use; ``calibrate.calibrate`` sets simulated against recorded
waits, with ``agreement`` of two orders; ``compare.compare`` puts variants into one table.
"""
