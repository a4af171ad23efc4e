"""Bounded dataflow jobs in the shared world: stages, task sets, attempts, offers, lost outputs, speculative copies.

The records of a job mean what :mod:`gnomon.dataflow` says; here is only when and where its tasks run. A system gives a
``plan.Batch``: jobs and stages, ``rules.Rules``, and ``plan.Execution``, which says what an attempt does and how long
that takes. ``placer.BatchPlacer`` is told what happens in the world and passes it on: ``driver.Driver`` holds the jobs
(``stages``, ``task_sets``), ``offers.Offers.round`` gives free slots to them (``locality``, ``exclusion``),
``losses`` follows what is lost with a node (``readers``, ``reports``), ``second_copies``, ``allocation`` and ``disks``
what their names say. ``play.play`` is one such run; ``spans.span_ns`` says its length where slots are all that counts.
"""
