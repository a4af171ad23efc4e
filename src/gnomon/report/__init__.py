"""What a run looks like: text for the terminal, one offline page, a trace for Perfetto.

``columns`` names the metrics and how to write them; ``text`` lays out tables as kubectl does, ``explanation`` the answer
to why something is as it is; ``series`` makes arrays over time from the log, ``figures`` makes pictures of them,
``html`` puts these on a page; ``perfetto`` writes trace events. Nothing here decides anything: all of it is a function
of a scenario, its log and its metrics.
"""
