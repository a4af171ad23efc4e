"""Why a task or job waits, was refused, was late, failed or ended, what happened to a node, and what would change it.

:func:`explain` goes from the question to the answer: ``subjects`` finds whom a name means; ``ground`` lays out the
fixed facts and ``situation`` folds the log up to a row (``outlook``: when there will be room; ``queues``: who is in
front); ``waits`` tells the spells of waiting, with ``room`` and ``refusals``, and ``deadlock`` the cycles; ``case``
says what is wanted; ``classes`` groups the nodes by what is against them; ``chain`` walks the causes back; ``changes``
searches the :mod:`.levers` for what helps, trying ``variations`` of the scenario until what is ``wanted`` is reached;
``summary`` says it all in a sentence, with the ``sentences`` of the rows.

What goes wrong after a start: ``troubles`` finds what is to be changed, ``ordeals`` tells it, with ``losses`` (what
ended an attempt, with the ``crowd`` on its node), ``faults`` (what was behind it) and ``delays`` (what it waits for
that is no place). ``why_not`` is
about one node and a task, ``node_story`` about a node alone.
"""

from __future__ import annotations

from gnomon.insight.explain.answer import Explanation, explain

__all__ = ["Explanation", "explain"]
