"""Scheduling: order, admit, filter, score, commit; and when nothing fits, preempt, backfill, or wait with a reason.

``policy.parse_policy`` reads the names; ``compose.compose`` makes of a scenario the world that a run begins with
(``layout``, ``columns``, ``tables``; ``verdicts.judge`` says who can never run). ``pipeline.advance`` takes the world
through one instant: ``events.take_events``, then the pass, ``pipeline.schedule``. That asks ``queueing.next_unit``
(order), ``queueing.over_limit`` (admit), ``placing.choose_node`` (filter and score, by ``scores``), and commits by
``moves.commit``, as only ``moves`` touches ledger and queues. Who does not fit: ``preempting.find_victims``,
``easy.reserve``, ``conservative.schedule_conservative``, else ``moves.note_wait``. ``custom`` asks policies written in
Python; ``live.Live`` drives the same transition by what really happens. ``pools`` and ``rampup`` are orders of task
sets, for engines that share out slots.
"""
