"""Clusters and work, as the command line or a scenario names them, from files of any known format.

The format is found from the content (:mod:`gnomon.api.recognise`). Whatever is wrong is an :class:`InputError` with
file, line and field.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gnomon import traces
from gnomon.api.joining import joined
from gnomon.api.recognise import PLAIN, SCENARIO, recognise
from gnomon.formats.files import Path, several
from gnomon.formats.yaml import Located, load_yaml
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.recovery import Recovery
from gnomon.model.work import Work

PROCESSORS_MAX: Final = 10**9
"""The largest pool that a number may stand for."""

_NOTHING_SAID: Final = Recovery()
_WHOLE: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


def load_cluster(spec: Path | int, *, format: str | None = None) -> Cluster:
    """A cluster: a number of identical processors in one pool, or a file of nodes.

    ``format``: ``plain`` or a trace format; found from the content if it is not said.

    >>> load_cluster("100").nodes[0].capacity.cpu_milli
    100000
    """
    text = str(spec) if isinstance(spec, int) else os.fspath(spec)
    if format is None and is_number(text):
        return _pool(text.strip())
    kind = format or recognise(text)
    if kind == SCENARIO:
        allowed = "a number of processors, or a file of nodes (as YAML: with nodes: at the top, not cluster:)"
        raise InputError("this is a scenario, not a cluster", file=text, allowed=allowed)
    if kind != PLAIN:
        return traces.read_cluster(text, format=kind)

    from gnomon.systems.plain.read import read_cluster  # whose models take a while to be made

    return read_cluster(only_document(text))


def is_number(text: str) -> bool:
    """Whether a text stands for a number of processors, and not for a file: also what is a number and cannot be one.

    >>> [is_number(text) for text in ("100", "-1", "1e99", "nan", "nodes.yaml")]
    [True, True, True, True, False]
    """
    if _WHOLE.fullmatch(text.strip()):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return not os.path.exists(text)


def load_work(specs: Path | Sequence[Path], *, format: str | None = None, recovery: Recovery = _NOTHING_SAID) -> Work:
    """The work of one file or several, one after the other; no id may be there twice.

    ``format``: of all of them, ``plain`` or a trace format. ``recovery``: of tasks that say nothing of it.
    """
    paths = several(specs)
    if not paths:
        raise InputError("no work is given", allowed="files of tasks or traces")
    return joined([_work(path, format, recovery) for path in paths])


def _pool(text: str) -> Cluster:
    count = int(text) if _WHOLE.fullmatch(text) and len(text) < 20 else 0
    if not 1 <= count <= PROCESSORS_MAX:
        allowed = f"1 to {PROCESSORS_MAX}, or a file of nodes"
        raise InputError("not a number of processors", field="cluster", found=text, allowed=allowed)
    return Cluster.of_processors(count)


def _work(path: str, format: str | None, recovery: Recovery) -> Work:
    kind = format or recognise(path)
    if kind == SCENARIO:
        allowed = "a trace, or a file of tasks (as YAML: a list, or tasks: at the top)"
        raise InputError("this is a scenario, not work", file=path, allowed=allowed)
    if kind != PLAIN:
        work = traces.read_work(path, format=kind)
        return replace(work, recoveries=tuple(recovery if one == _NOTHING_SAID else one for one in work.recoveries))

    from gnomon.systems.plain.read import read_work

    return read_work(only_document(path), recovery=recovery)


def only_document(path: str) -> Located:
    """The document of a YAML file that holds one. Raises InputError at the second."""
    documents = load_yaml(path)
    if len(documents) > 1:
        raise documents[1].error("a second document; only one is read")
    return documents[0]
