"""kube-scheduler: its queue and turns, the scheduling cycle with its plugins, preemption, gangs, and its cache."""
