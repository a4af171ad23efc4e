"""What ``scontrol show node``, ``partition``, ``topology`` and ``config`` printed, as mappings."""

import re
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "slurm" / "conf"

_FIELD = re.compile(r"(\S+?)=(.*?)(?=\s+[A-Za-z]\w*=|\s*$)")


def shown(name: str, file: str, kind: str) -> Iterator[dict[str, str]]:
    """The records of a recorded file, each from ``kind=`` on, whether printed on one line or on several."""
    record: list[str] = []
    for line in [*(DATA / name / file).read_text().splitlines(), f"{kind}=end"]:
        if line.startswith(f"{kind}="):
            if record:
                yield dict(_FIELD.findall(" ".join(record)))
            record = []
        if record or line.startswith(f"{kind}="):
            record.append(line.strip())


def shown_config(name: str) -> dict[str, str]:
    """``scontrol show config``: the keys in lower case, values without their unit."""
    pairs = re.findall(r"^(\w+) *= (.*?)$", (DATA / name / "show-config.txt").read_text(), re.M)
    return {key.lower(): re.sub(r" (sec|min|nodes/min|usec|percent)$", "", value.strip()) for key, value in pairs}
