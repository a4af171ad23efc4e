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


def svg(case: Case, points: Sequence[Point]) -> str:
    """The curve as a picture: dots are simulated, the line is the formula."""
    cost, restart = case.checkpoint.cost_ns, case.checkpoint.restart_ns
    left, right, upper, lower = 60.0, 620.0, 50.0, 310.0
    far = 1.05 * max(one.every_ns for one in points)
    top = 1.1 * max(one.simulated for one in points)

    def x(every_ns: float) -> float:
        return left + (right - left) * every_ns / far

    def y(waste: float) -> float:
        return lower - (lower - upper) * waste / top

    def text(at: float, down: float, words: str, anchor: str = "middle") -> str:
        return f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}">{words}</text>'

    fine = [far * step / 200 for step in range(1, 201)]
    curve = [(x(every), y(1 - 1 / expected_factor(every, cost, restart, case.mtbf_ns))) for every in fine]
    line = " ".join(f"{one:.1f},{down:.1f}" for one, down in curve if down >= upper)
    marks = "".join(f'<circle cx="{x(one.every_ns):.1f}" cy="{y(one.simulated):.1f}" r="4"/>' for one in points)
    best = x(daly_ns(cost, case.mtbf_ns))
    labels = [
        *(text(x(one.every_ns), lower + 16, f"{one.every_ns / MINUTE:.0f}") for one in points),
        *(text(x(one.every_ns), y(one.simulated) - 10, f"{one.simulated:.1%}") for one in points),
        *(text(left - 6, y(top * part / 4) + 4, f"{top * part / 4:.1%}", "end") for part in range(5)),
        text(best + 4, lower - 8, "Daly", "start"),
        text((left + right) / 2, lower + 36, "minutes of work between checkpoints"),
        text((left + right) / 2, 24, "time that is no work (dots: simulated, line: formula)"),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" font-family="sans-serif" font-size="11">\n'
        f'<rect width="640" height="360" fill="white"/><path d="M{left},{upper}V{lower}H{right}" fill="none" '
        f'stroke="black"/>\n<path d="M{best:.1f},{upper}V{lower}" stroke="silver" stroke-dasharray="4"/>\n'
        f'<polyline points="{line}" fill="none" stroke="steelblue"/>\n{marks}\n{"".join(labels)}\n</svg>\n'
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
        chosen.svg.write_text(svg(case, points), encoding="utf-8")


if __name__ == "__main__":
    main()
