"""Why a task or job waits, was refused, was late or ended, and what would change it.

:func:`explain` goes from the question to the answer: ``subjects`` finds whom a name means; ``ground`` lays out the
fixed facts and ``situation`` folds the log up to a row (``outlook``: when there will be room; ``queues``: who is in
front); ``waits`` tells the spells of waiting, with ``room`` and ``refusals``, and ``deadlock`` the cycles; ``case``
says what is wanted; ``classes`` groups the nodes by what is against them; ``chain`` walks the causes back; ``changes``
searches the ``levers`` for what helps, trying ``variations`` of the scenario until what is ``wanted`` is reached;
``summary`` says it all in a sentence.
"""

from __future__ import annotations

from gnomon.insight.explain.answer import Explanation, explain

__all__ = ["Explanation", "explain"]
