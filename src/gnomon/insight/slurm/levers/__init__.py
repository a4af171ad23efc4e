"""What may be changed so that a job starts sooner: each change is tried on a ``bench``, by ``acts`` on the model."""
