"""Runs and journals that were kept, changed inside and sealed again: digests keep off damage, not what is meant ill."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow.parquet as pq

from gnomon.api import kept as keeping
from gnomon.api import kept_native
from gnomon.api.chaos_state import State
from gnomon.api.load import load_scenario
from gnomon.api.run import FILES, Run
from gnomon.api.simulating import simulate
from gnomon.engine.journal import Journal, records
from gnomon.formats.yaml import load_yaml
from gnomon.formats.yaml_write import as_yaml
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.model.work import Work
from gnomon.scheduling.live import Live, replay

BESIDE: Final = ("native.json", "metrics.json", "tables.json")
ROOT: Final = Path(__file__).resolve().parents[2]


def run(folder: Path) -> Any:
    """A kept run whose ``scenario.yaml`` and native objects are those of the folder, and whose tables were changed as
    ``tables.json`` says: ``[[table, column, row, value]]``; a row of null: the column is taken out."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        kept = Path(made) / "run"
        shutil.copytree(_base((folder / "native.json").exists()), kept)
        if (folder / "tables.json").exists():
            _change_tables(kept, folder / "tables.json")
        if (folder / "metrics.json").exists():
            shutil.copy(folder / "metrics.json", kept / "metrics.json")
        if (folder / "native.json").exists():
            (kept / kept_native.FILE).write_bytes(gzip.compress((folder / "native.json").read_bytes(), 1, mtime=0))
        document = load_yaml(folder / "scenario.yaml")[0].value
        if isinstance(document, dict):
            names = [*FILES[:-1], *([kept_native.FILE] if (kept / kept_native.FILE).exists() else [])]
            document["files"] = {name: keeping.digest(kept / name) for name in names}
        (kept / FILES[-1]).write_text(keeping.sealed(as_yaml(document)), "utf-8", "surrogatepass")
        opened = Run.open(kept)
        return opened.scenario, opened.log, opened.metrics()


def _change_tables(kept: Path, said: Path) -> None:
    try:
        changes = orjson.loads(said.read_bytes())
        for table, column, row, value in changes[:10]:
            if table not in ("log", "tasks", "nodes"):
                continue
            path = kept / f"{table}.parquet"
            rows = pq.read_table(path)
            place = rows.schema.get_field_index(column)
            if row is None:
                rows = rows.remove_column(place)
            else:
                values = rows[column].to_pylist()
                values[row % len(values)] = value
                rows = rows.set_column(place, column, _array(values, rows[column].type))
            pq.write_table(rows, path)
    except (TypeError, ValueError, KeyError, OverflowError, ZeroDivisionError, AttributeError):
        return  # no change that tables could hold


def _array(values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array(values)


@cache
def _base(native: bool) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gnomon-fuzz-"))
    if native:
        from gnomon.systems.kubernetes.scenario import read_scenario

        scenario = read_scenario([ROOT / "examples/kubernetes/pending" / name for name in ("nodes.yaml", "pods.yaml")])
    else:
        (scenario,) = load_scenario(ROOT / "examples/gang.yaml")
    simulate(scenario).save(folder / "run")
    return folder / "run"


def journal(folder: Path) -> Any:
    """Lines with the checksums that they should have, as a journal of the live world and as a state of chaos."""
    path = folder / "journal"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"".join(b"%08x %b\n" % (zlib.crc32(line), line) for line in lines if line))
    try:
        live = Live(Scenario(Cluster.of_processors(4), Work.from_tasks([])))
        return replay(live, records(path))
    except InputError:
        state = path.with_name("state")
        about = path.with_name("about")
        State(about, _small(), []).close()
        state.write_bytes(about.read_bytes() + path.read_bytes())
        about.unlink()
        State(state, _small(), []).close()
        with Journal(state):
            return None


@cache
def _small() -> Scenario:
    return Scenario(Cluster.of_processors(4), Work.from_tasks([]))
