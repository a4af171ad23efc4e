"""What may be changed so that a pod of a snapshot is placed, or created: each change is tried on a ``bench``."""
