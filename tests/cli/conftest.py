"""The command line as its tests use it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from gnomon.cli import run


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


Gnomon = Callable[..., Ended]


@pytest.fixture
def gnomon(capsys: pytest.CaptureFixture[str]) -> Gnomon:
    """Run one command in this process."""

    def invoke(*arguments: object) -> Ended:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return Ended(code, written.out, written.err)

    return invoke
