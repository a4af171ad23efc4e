"""What happens after placement, in one world: nodes that run, use and fail, and a control plane that notices, gives up
and starts again. Joins :mod:`gnomon.scheduling`, :mod:`gnomon.resources` and :mod:`gnomon.recovery`.

``control.controlled`` builds the parts of a run, ``Control.events`` is what the loop calls: it reads what was logged,
lets due ``timers`` act, and says when to be called next. What really goes on is in ``machines``, what is known of it in
``plane``. A fault begins in ``faults.strike``, use that goes too far in ``using.Using.incident``; either ends
attempts by ``redistribution.Redistribution.fail``, which answers by the task's recovery: tried again (``plans``), taken
over by a copy (``copies``), or over. ``results`` holds back who reads what is not there, ``drains`` empties nodes. All
change the world by ``board`` alone. A system with a cycle of its own places by ``placer.Placer``; ``batch`` is one.
"""
