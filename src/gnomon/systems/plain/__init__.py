"""Gnomon's own vocabulary in YAML: ``nodes``, ``tasks``, ``reservations`` and tenants (:mod:`.read`)."""
