"""Apache Spark 2.4 to 4.x: event logs and jobs in Python, run by its rules of scheduling.

``scenario`` makes both into scenarios. ``read.read_event_log`` (``read_lines``, ``read_fields``, ``read_stages``) gives
an ``application`` with its ``tasks``; ``facts`` are what it settles, ``delays`` what the driver adds, ``replay`` its
jobs as work to run again. A job in Python runs by ``execution``, with ``blocks`` in memory. ``conf``, ``allocations``,
``memory`` and ``adaptive`` are its options, ``profile`` the composition of :mod:`gnomon.control.batch` that follows
from them. ``golden`` judges recorded cases.
"""
