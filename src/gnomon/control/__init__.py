"""What happens after placement, in one world: nodes that run, use and fail, and a control plane that notices, gives up
and starts again. Joins :mod:`gnomon.scheduling`, :mod:`gnomon.resources` and :mod:`gnomon.recovery`.
"""
