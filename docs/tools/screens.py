"""Pictures of what Gnomon shows: ``make screens``.

Terminal output is taken from a terminal of a fixed width and drawn as SVG, so that text stays text. The report is drawn
by chromium (or Chrome), as PNG; without such a browser these pictures are left as they are, and that is said.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "docs" / "screens"
WIDTH: Final = 110
PENDING: Final = "-f examples/kubernetes/pending/nodes.yaml -f examples/kubernetes/pending/pods.yaml"
TRACE: Final = "examples/data/KTH-SP2-1996-2.1-cln.swf.gz --cluster 100"
TERMINAL: Final = {
    "verbs": "gnomon",
    "task": "gnomon explain render -f examples/why-pending.yaml",
    "pod": f"gnomon explain report {PENDING}",
    "job": "gnomon explain examples/slurm/large.sh -f examples/slurm/slurm.conf -f examples/slurm/accounts.dump",
    "log": "gnomon explain app -f examples/spark/hot-key.jsonl.gz",
    "compare": f"gnomon compare {TRACE} --policy fcfs,easy,sjf+easy --until 30d",
}
REPORT: Final = "gnomon compare examples/two-queues.yaml --policy fcfs,fair-share --html report.html"
PICTURES: Final = {"report-wide-light": (1280, 1660, False), "report-narrow-dark": (390, 1100, True)}
BYTES_MAX: Final = 150_000
PIXELS_MAX: Final = 900
"""A page shows a picture no wider."""
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

GRAY: Final = (127, 132, 142)
COLOURS: Final = [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221)]
ANSI: Final = [*COLOURS, (86, 182, 194), (220, 223, 228)]
THEME: Final = TerminalTheme((30, 33, 39), (220, 223, 228), ANSI, [GRAY, *ANSI[1:]])


def main() -> int:
    """Make all pictures anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, command in TERMINAL.items():
        path = FOLDER / f"{name}.svg"
        path.write_text(drawn(command, printed(command), name), encoding="utf-8")
        print(path.relative_to(ROOT))
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"the report is not drawn anew: that needs one of {', '.join(BROWSERS)}", file=sys.stderr)
        return 0
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        subprocess.run(arguments(REPORT.replace("report.html", str(page))), cwd=ROOT, check=True, capture_output=True)
        for name, (width, height, dark) in PICTURES.items():
            path = FOLDER / f"{name}.png"
            draw(browser, page, path, width, height, dark=dark)
            size = path.stat().st_size
            assert size <= BYTES_MAX, f"{path.name} has {size:,} bytes, {BYTES_MAX:,} may be"
            print(path.relative_to(ROOT))
    return 0


def arguments(command: str) -> list[str]:
    """A command as the gnomon of this environment."""
    return [sys.executable, "-m", "gnomon", *shlex.split(command)[1:]]


def printed(command: str) -> str:
    """What a command writes to a terminal, its notes left out."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        arguments(command), cwd=ROOT, env=environment, stdout=terminal, stderr=subprocess.DEVNULL
    )
    os.close(terminal)
    found = b""
    try:
        while part := os.read(reader, 65_536):
            found += part
    except OSError:  # its last writer is gone
        pass
    os.close(reader)
    assert process.wait() == 0, command
    return found.decode().replace("\r\n", "\n")


def drawn(command: str, output: str, name: str) -> str:
    """A terminal with a command and its output, as SVG that asks for no font from elsewhere."""
    console = Console(record=True, width=WIDTH, file=StringIO(), legacy_windows=False)
    console.print(Text.assemble(("$ ", "bright_black"), (command, "bold")), soft_wrap=False)
    console.print(Text.from_ansi(output.rstrip("\n")), soft_wrap=False, end="\n\n")
    begin, end = CONSOLE_SVG_FORMAT.index("@font-face"), CONSOLE_SVG_FORMAT.index(".{unique_id}-matrix")
    form = f"{CONSOLE_SVG_FORMAT[:begin]}{CONSOLE_SVG_FORMAT[end:]}".replace(
        "Fira Code, monospace", "ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace"
    )
    drawing = console.export_svg(title="", theme=THEME, code_format=form, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in drawing.splitlines())


def draw(browser: str, page: Path, path: Path, width: int, height: int, *, dark: bool) -> None:
    """A page as a browser shows it on a screen of this size."""
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        f"--user-data-dir={page.parent / 'profile'}",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--force-device-scale-factor={min(1, PIXELS_MAX / width)}",
        f"--window-size={width},{height}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        "--virtual-time-budget=5000",
        f"--screenshot={path}",
        page.as_uri(),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


if __name__ == "__main__":
    sys.exit(main())
