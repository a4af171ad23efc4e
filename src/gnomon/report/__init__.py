"""What a run looks like: text for the terminal, one offline page, a trace for Perfetto.

``columns`` names the metrics and how to write them, ``recovered`` puts what went wrong into words; ``text`` lays out
tables as kubectl does, ``explanation`` the answer to why something is as it is. ``series`` says what pictures need of a
run, ``figures`` and ``gantt`` draw them, ``html`` puts them on a page; ``perfetto`` writes trace events. Nothing here
decides anything: all of it is a function of a scenario, its log and its metrics.
"""
