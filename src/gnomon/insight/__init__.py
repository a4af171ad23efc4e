"""What a run means: metrics, fairness, calibration, comparison and explanation, from its log alone.

``history.history`` folds the log once into columns (what became of each task, each attempt, the time observed);
``metrics.metrics`` sums a run up, with ``accounting`` of useful and wasted time; ``recovery.recovery`` says what went
wrong and what came of it (``outages``: faults as stretches of time, ``rework``: work lost and done again,
``interruptions``, ``budgets``); ``usage`` has what changes over time (allocation, queue), ``waiting`` how long tasks
waited for a place; ``fairness`` who got how much and who overtook whom; ``fragmentation`` what free capacity nobody
could use; ``job_runs`` what a driver said of its jobs.

``calibrate.calibrate`` sets simulated against recorded waits, with ``agreement`` of two orders; ``compare.compare``
puts variants into one table. ``explain`` tells why something
is as it is and ``chaos`` finds the faults that break what is demanded, of any system; ``kubernetes``, ``slurm``,
``spark`` and ``mapreduce`` tell it in the words of theirs (``listing``: the form of their tables).
"""
