"""What a run looks like: text for the terminal, one offline page, a trace for Perfetto.

``columns`` names the metrics and how to write them, ``recovered`` puts what went wrong into words, ``differences`` in
what scenarios differ; ``text`` lays out tables as kubectl does (``fitting``: within a line), ``explanation`` the answer
to why something is as it is, ``jobs`` what a job of dataflow consists of (``jobs_spark``, ``jobs_mapreduce``,
``six_fields``). ``series`` says what pictures need of a run, ``figures`` and ``gantt`` draw them (``findings``: what
they show, ``chart_tables``: the same as tables), ``html`` puts them on a ``page``, as ``explanation_page`` and
``jobs_page`` do with theirs; ``perfetto`` writes trace events. Nothing here decides anything: all of it is a function
of a scenario, its log and its metrics.
"""
