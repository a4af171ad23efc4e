"""Gnomon's own vocabulary in YAML, run by a policy and nothing else.

``read`` has the readers of nodes, tasks, reservations and tenants, ``operation_specs`` and ``recovery_specs`` how a
cluster is run and what is done for lost attempts, ``fault_specs`` what goes wrong, ``usage_specs`` what tasks use,
``needs`` what they wait for; ``specs`` and ``amounts`` say what may stand in each.
"""
