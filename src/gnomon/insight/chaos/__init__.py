"""Chaos: fault schedules that break what a run is demanded to keep, found from a seed and made small.

- :mod:`.properties` reads what is demanded; :mod:`.rules` and :mod:`.bounds` judge it by :mod:`.facts` of a log.
- :mod:`.generate` draws :mod:`.schedules` of faults, :mod:`.coverage` tells what a run hit, :mod:`.explore` tries
  schedules, generation by generation, and :mod:`.shrink` makes one that breaks something as small as it gets.

Sources of the ideas: K. Claessen, J. Hughes, "QuickCheck", ICFP 2000 (random inputs against properties); M. Zalewski,
American Fuzzy Lop, technical whitepaper (inputs that hit something new are changed further); A. Zeller, R. Hildebrandt,
"Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002 (ddmin).
"""
