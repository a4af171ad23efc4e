"""What the commands of Slurm 22.05.8 printed while some sixty jobs were pending, running and over."""

from functools import cache
from pathlib import Path

from gnomon.formats.files import read_text

DATA = Path(__file__).resolve().parents[3] / "data" / "slurm" / "printed"
CONF = DATA.parent / "conf" / "live" / "slurm.conf"


def path(name: str) -> Path:
    """A recorded file, compressed or not."""
    return next(one for one in (DATA / name, DATA / f"{name}.gz") if one.exists())


@cache
def text(name: str) -> str:
    """Its text."""
    return read_text(path(name))
