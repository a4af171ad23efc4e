"""Where Gnomon meets real systems and other processes.

``kubectl`` and ``slurm_commands`` ask a live cluster what it holds, read only; ``processes`` simulate side by side.
``local.run`` does a job of dataflow for real: a ``local_pool`` of worker processes does tasks (``local_task``), whose
records (``local_records``, ``local_text``) are grouped and sorted in bounded memory (``local_tables``, by
``local_weight``) and written in blocks (``local_blocks``) by partition (``local_shuffle``); ``local_manifest`` is what
is done already, ``local_output`` the folder of a sink.
"""
