"""What happens after placement, in one world: nodes that run, use and fail, and a control plane that notices, gives up
and starts again. Joins :mod:`gnomon.scheduling`, :mod:`gnomon.resources` and :mod:`gnomon.recovery`.

``control.controlled`` builds the parts of a run, ``Control.events`` is what the loop calls: it reads what was logged,
lets due ``timers`` act, and says when to be called next. What really goes on is in ``machines``, ``attempt`` by
``attempt``, what is known of it in ``plane``. A fault begins in ``faults.strike``, which is made of ``strikes``; use
that goes too far in ``using.Using.incident``; either ends attempts by ``redistribution.Redistribution.fail``, which
answers by the task's recovery: tried again (``plans``), taken over by a copy (``copies``), or over. ``results`` holds
back who reads what is not there, ``drains`` empties nodes. All change the world by ``board`` alone, and ``invariants``
hold it to its rules; ``matters`` and ``progress`` say what need not be looked at, and who gets nowhere. A system with a
cycle of its own places by ``placer.Placer``; ``batch`` is one.
"""
