"""Bounded dataflow jobs in the shared world: stages, task sets, attempts, offers, lost outputs, speculative copies.

The records of a job mean what :mod:`gnomon.dataflow` says; here is only when and where its tasks run. What an attempt
does, and how long that takes, is asked of a port (:class:`gnomon.control.batch.plan.Execution`).
"""
