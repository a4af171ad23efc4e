"""How much time checkpoints and failures cost, by the interval between checkpoints: simulated and by formula.

    python examples/checkpoints/interval.py examples/checkpoints/train.yaml --svg curve.svg

FILE is a scenario of one task that saves its state and is killed at a rate. Each interval meets the same failures
(common random numbers; failures do not depend on what the task does). Waste is the part of the time that is no work;
the formula is Daly's run factor, M/t e^(R/M) (e^((t+d)/M) - 1).
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gnomon.api import Checkpoint, FailureProcess, Kind, Scenario, simulate
from gnomon.recovery.checkpoint import daly_ns, expected_factor, young_ns

MINUTE = 60 * 10**9
TIMES_DALY = (0.5, 0.7, 0.85, 1.0, 1.15, 1.4, 2.0)


@dataclass(frozen=True)
class Point:
    """One interval: failures that struck, and the waste that was simulated and that is expected."""

    every_ns: int
    failures: int
    simulated: float
    expected: float


@dataclass(frozen=True)
class Case:
    """What the scenario says: the task's checkpoints and the mean time between failures."""

    scenario: Scenario
    checkpoint: Checkpoint
    mtbf_ns: int

    @classmethod
    def load(cls, path: Path) -> "Case":
        """Of a scenario with one task that saves its state, and one process of failures."""
        scenario = Scenario.load(path)
        checkpoint, (process,) = scenario.work.recovery_of(0).checkpoint, scenario.faults
        assert checkpoint
        assert isinstance(process, FailureProcess)
        return cls(scenario, checkpoint, process.mtbf_ns)

    def grid(self, minutes: Sequence[float]) -> list[int]:
        """The intervals to try: those that were said, or multiples of Daly's."""
        daly = daly_ns(self.checkpoint.cost_ns, self.mtbf_ns)
        return [round(one * MINUTE) for one in minutes] or [round(daly * times) for times in TIMES_DALY]

    def at(self, every_ns: int) -> Point:
        """The run with this interval."""
        work = self.scenario.work
        checkpoint = replace(self.checkpoint, every_ns=every_ns)
        recoveries = tuple(replace(one, checkpoint=checkpoint) for one in work.recoveries)
        run = simulate(replace(self.scenario, work=replace(work, recoveries=recoveries)))
        factor = expected_factor(every_ns, checkpoint.cost_ns, checkpoint.restart_ns, self.mtbf_ns)
        failures = int((run.log.kind == Kind.FAIL).sum())
        return Point(every_ns, failures, 1 - float(work.duration_ns[0] / run.outcome.end_ns[0]), 1 - 1 / factor)


def table(case: Case, points: Sequence[Point]) -> str:
    """The curve as a text chart."""
    young, daly = (best(case.checkpoint.cost_ns, case.mtbf_ns) for best in (young_ns, daly_ns))
    lines = [f"mtbf {case.mtbf_ns / MINUTE:.4g} min, Young {young / MINUTE:.4g} min, Daly {daly / MINUTE:.4g} min"]
    lines.append("MINUTES  FAILURES  SIMULATED  EXPECTED")
    best = min(points, key=lambda one: one.simulated)
    most = max(one.simulated for one in points)
    for one in points:
        row = f"{one.every_ns / MINUTE:7.4g}  {one.failures:8,}  {one.simulated:9.2%}  {one.expected:8.2%}"
        lines.append(f"{row}  {'#' * round(60 * one.simulated / most)}{' best' * (one is best)}")
    return "\n".join(lines)


def svg(points: Sequence[Point]) -> str:
    """The curve as a picture: dots are simulated, the line is the formula."""
    wide, high, margin = 640, 360, 48
    far, top = max(one.every_ns for one in points), 1.1 * max(max(one.simulated, one.expected) for one in points)

    def place(every_ns: int, waste: float) -> tuple[float, float]:
        return margin + (wide - 2 * margin) * every_ns / far, high - margin - (high - 2 * margin) * waste / top

    dots = [place(one.every_ns, one.simulated) for one in points]
    line = " ".join("{:.1f},{:.1f}".format(*place(one.every_ns, one.expected)) for one in points)
    marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in dots)
    texts = "".join(
        f'<text x="{x:.1f}" y="{high - margin + 18}" text-anchor="middle">{one.every_ns / MINUTE:.4g}</text>'
        f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle">{one.simulated:.1%}</text>'
        for one, (x, y) in list(zip(points, dots, strict=True))[::2]
    )
    axes = f"M{margin},{margin}V{high - margin}H{wide - margin}"
    title = "time that is no work, by minutes between checkpoints (dots: simulated, line: formula)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">'
        f'<rect width="{wide}" height="{high}" fill="white"/><path d="{axes}" fill="none" stroke="black"/>'
        f'<polyline points="{line}" fill="none" stroke="steelblue"/>{marks}{texts}'
        f'<text x="{wide / 2}" y="24" text-anchor="middle">{title}</text></svg>\n'
    )


def main(arguments: list[str] | None = None) -> None:
    """Simulate each interval, print the table and draw the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", default="", help="intervals, as in 5,10,20")
    parser.add_argument("--svg", type=Path)
    chosen = parser.parse_args(arguments)
    case = Case.load(chosen.file)
    points = [case.at(every) for every in case.grid([float(one) for one in chosen.minutes.split(",") if one])]
    print(table(case, points))
    if chosen.svg:
        chosen.svg.write_text(svg(points), encoding="utf-8")


if __name__ == "__main__":
    main()
