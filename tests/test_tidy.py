"""The mechanical part of the rules in CONTRIBUTING.md.

An exception is one line in a table below, with its reason. A line that is no longer needed fails a test.
"""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.tidy

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "gnomon"
CORE = ("model", "engine", "scheduling", "resources", "recovery", "dataflow", "control")
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70

# ------------------------------------------------------------------ exceptions: what -> why

LONG_FILES: dict[str, str] = {}  # "engine/kernels.py"
LONG_FUNCTIONS: dict[str, str] = {}  # "engine/kernels.py:advance"
SYSTEM_WORDS: dict[str, str] = {}  # "model/work.py:spark"
MACHINE_PATHS: dict[str, str] = {}  # "examples/ray/cluster.yaml"
IMPURE: dict[tuple[str, str], str] = {
    ("engine/fast.py", "os"): "finds where compiled kernels are cached",
    ("engine/fast.py", "pathlib"): "finds where compiled kernels are cached",
    ("engine/fast.py", "shutil"): "removes a damaged cache of compiled kernels",
    ("engine/fast.py", "sys"): "reaches the modules of the kernels that it compiles",
    ("engine/fast.py", "llvmlite"): "teaches Numba what a world is",
    ("engine/fast.py", "llvmlite.ir"): "teaches Numba what a world is",
    ("engine/fast.py", "numba.core.cgutils"): "teaches Numba what a world is",
    ("engine/fast.py", "numba.core.extending"): "teaches Numba what a world is",
    ("engine/fast.py", "numba.core.registry"): "tells which processor compiled kernels are for",
    ("engine/fast.py", "numba.core.typing.templates"): "teaches Numba what a world is",
    ("control/faults/__init__.py", "importlib"): "finds the module of a kind of fault by the kind's name",
    ("dataflow/failing.py", "traceback"): "shows the lines of the function that raised",
    ("engine/journal.py", "fcntl"): "lets one process at a time write a journal",
    ("engine/journal.py", "os"): "makes each record durable before it is applied",
    ("engine/journal.py", "pathlib"): "names the journal's file",
}

# What the core may import besides its own modules: values in, values out. A dotted name is not covered by
# its parent's: `pyarrow` makes tables in memory, `pyarrow.parquet` reads and writes files.
PURE = frozenset(
    """
    __future__ abc array bisect collections collections.abc contextlib copy dataclasses decimal difflib enum fractions
    functools graphlib hashlib heapq itertools json keyword math numbers operator re string struct textwrap types
    typing typing_extensions unicodedata warnings zlib
    numpy numpy.random numpy.typing numpy.lib.stride_tricks numba numba.core numba.core.types
    numba.typed numba.extending pyarrow pyarrow.compute
    """.split()
)
WORDS_OF_SYSTEMS = "pod kubelet kubernetes slurm slurmctld sbatch raylet executor yarn flink kafka spark".split()
HEAVY = ("numba", "pyarrow", "duckdb", "plotly", "pydantic", "numpy")

# ------------------------------------------------------------------ reading the source


def sources(*folders: str) -> list[Path]:
    """The Python files of the package, or of some of its folders."""
    starts = [SRC / folder for folder in folders] or [SRC]
    return sorted(path for start in starts for path in start.rglob("*.py"))


def short(path: Path) -> str:
    return path.relative_to(SRC if path.is_relative_to(SRC) else ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def tokens(path: Path) -> tuple[tokenize.TokenInfo, ...]:
    return tuple(tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline))


def comments(path: Path) -> Iterator[tuple[int, str]]:
    return ((token.start[0], token.string) for token in tokens(path) if token.type == tokenize.COMMENT)


def docstring_starts(path: Path) -> set[tuple[int, int]]:
    """Where the docstrings begin, as (line, column)."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(parsed(path))
        if isinstance(node, owners) and node.body and ast.get_docstring(node, clean=False) is not None
    }


def code_words(path: Path) -> Iterator[tuple[int, str]]:
    """Each token of the code as lower-case words: `PodSpec`, `pod_spec` and `"pod spec"` all give `pod spec`."""
    skipped = docstring_starts(path)
    for token in tokens(path):
        if token.type != tokenize.COMMENT and token.start not in skipped:
            parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", token.string)
            yield token.start[0], " ".join(re.findall(r"[a-z0-9]+", parted.lower()))


def functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Each function as its dotted name, its line and its number of lines."""

    def inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, int, int]]:
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{prefix}.{child.name}".lstrip(".")
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                assert child.end_lineno is not None
                yield name, child.lineno, child.end_lineno - child.lineno + 1
            yield from inside(child, name)

    return inside(parsed(path), "")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Each imported module that is not ours, with its line: `from pyarrow import parquet` gives both names."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if not ours(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and not ours(node.module):
            yield node.lineno, node.module
            yield from ((node.lineno, name) for name in submodules(node.module, node))


def ours(module: str) -> bool:
    return module.partition(".")[0] == "gnomon"


def submodules(package: str, node: ast.ImportFrom) -> Iterator[str]:
    """Which of the names that are imported from a package are modules of it."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for alias in node.names:
            if (Path(folder) / alias.name).is_dir() or any(Path(folder).glob(f"{alias.name}.*")):
                yield f"{package}.{alias.name}"


def project_files() -> list[Path]:
    """The text files that are, or would be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("needs a git checkout to know which files are the project's")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8_000]]


def report(found: list[str], rule: str) -> None:
    """Fail with the rule and every place where it does not hold."""
    assert not found, "\n".join([rule, *(f"  {line}" for line in found)])


def allow(exceptions: dict[str, str], found: dict[str, str], rule: str) -> None:
    """Report what is found and not excepted, and what is excepted and not found."""
    report([text for key, text in found.items() if key not in exceptions], rule)
    stale = [f"{key!r}" for key in exceptions if key not in found]
    report(stale, "These exceptions in tests/test_tidy.py are no longer needed; remove them:")


# ------------------------------------------------------------------ sizes


def test_files_are_short() -> None:
    beside = (path for folder in ("tests", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*.py"))
    paths = [*sources(), *sorted(beside)]
    lines = {short(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    found = {name: f"{name}: {count} lines" for name, count in lines.items() if count > FILE_LINES_MAX}
    allow(LONG_FILES, found, f"A file has at most {FILE_LINES_MAX} lines; split it where its second concern begins:")


def test_functions_fit_on_a_screen() -> None:
    found = {
        f"{short(path)}:{name}": f"{short(path)}:{line} {name}: {count} lines"
        for path in sources()
        for name, line, count in functions(path)
        if count > FUNCTION_LINES_MAX
    }
    allow(LONG_FUNCTIONS, found, f"A function has at most {FUNCTION_LINES_MAX} lines, its docstring included:")


# ------------------------------------------------------------------ habits


def test_only_the_command_line_prints() -> None:
    found = [
        f"{short(path)}:{node.lineno}"
        for path in sources()
        if not path.is_relative_to(SRC / "cli")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    report(found, "Only src/gnomon/cli prints; elsewhere return the text, or write it to a stream that is passed in:")


def test_no_wildcard_imports() -> None:
    found = [
        f"{short(path)}:{node.lineno} from {node.module} import *"
        for path in sources()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    report(found, "Import names, not everything:")


def test_open_work_has_an_issue() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
    found = [
        f"{short(path)}:{line} {text}"
        for folder in ("src", "tests", "benchmarks", "examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in comments(path)
        if marks.search(text)
    ]
    report(found, "Open work names its issue, as in `TODO(#12): why`:")


# ------------------------------------------------------------------ nothing of one machine


def test_no_paths_of_a_machine() -> None:
    folders = "|".join(("work", "root", "farm", "tmp/w"))
    pattern = re.compile(rf"(?<![\w.$}}*-])/({folders})/")
    found: dict[str, str] = {}
    for path in project_files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if pattern.search(line):
                found.setdefault(short(path), f"{short(path)}:{number} {line.strip()[:100]}")
    allow(MACHINE_PATHS, found, "These name a folder of one machine; use a path relative to the repository:")


def test_lock_file_names_no_host() -> None:
    lock = ROOT / "requirements" / "lock.txt"
    found = [line for line in lock.read_text(encoding="utf-8").splitlines() if "://" in line or "index" in line.split()]
    report(found, "requirements/lock.txt holds versions and hashes, no addresses; `make lock` writes it so:")


# ------------------------------------------------------------------ the core


def test_core_knows_no_system() -> None:
    pattern = re.compile(rf"\b({'|'.join([*WORDS_OF_SYSTEMS, 'placement group'])})s?\b")
    found: dict[str, str] = {}
    for path in sources(*CORE):
        for line, words in code_words(path):
            for match in pattern.finditer(words):
                found.setdefault(f"{short(path)}:{match[1]}", f"{short(path)}:{line} {match[0]!r}")
    allow(SYSTEM_WORDS, found, "The core speaks of tasks, nodes and stages; a system's words belong in systems/:")


def test_core_is_pure() -> None:
    found = [
        f"{short(path)}:{line} imports {name}"
        for path in sources(*CORE)
        for line, name in imports(path)
        if name not in PURE and (short(path), name) not in IMPURE
    ]
    report(
        found,
        "The core reads no clock, file, environment or hidden randomness. Pass the value in; if the module is pure, "
        "add it to PURE in tests/test_tidy.py; if this one file must, add it to IMPURE with the reason:",
    )


def test_core_calls_nothing_impure() -> None:
    found = [
        f"{short(path)}:{node.lineno} {node.func.id}(...)"
        for path in sources(*CORE)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("open", "input", "eval", "exec", "hash", "id")
    ]
    report(found, "The core opens nothing, and `hash` and `id` differ from run to run; use a key of the values:")


def test_core_exceptions_are_used() -> None:
    used = {(short(path), name) for path in sources(*CORE) for _, name in imports(path)}
    stale = [f"{file}: {name}" for file, name in IMPURE if (SRC / file).exists() and (file, name) not in used]
    report(stale, "These exceptions in IMPURE are no longer needed; remove them:")


def test_core_draws_no_global_randomness() -> None:
    seeded = {"Generator", "PCG64", "Philox", "SeedSequence", "BitGenerator"}
    found = []
    for path in sources(*CORE):
        for node in ast.walk(parsed(path)):
            names: set[str] = set()
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
                names = {node.attr}
            elif isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
                names = {alias.name for alias in node.names}
            found += [f"{short(path)} uses numpy.random.{name}" for name in sorted(names - seeded)]
    report(found, "Randomness comes from a named stream that is passed in, never from NumPy's global state:")


# ------------------------------------------------------------------ systems

NAMED_FOR_A_SYSTEM: dict[str, str] = {
    "cli/plugin.py": "it is kubectl's plug-in",
}


def test_a_system_is_chosen_in_one_place() -> None:
    """By its name, that is: in api/systems.py. Elsewhere its entry there says what it has."""
    names = {path.name for path in (SRC / "systems").iterdir() if path.is_dir()} - {"plain", "__pycache__"}
    found: dict[str, str] = {}
    for path in sources():
        own = names & {*path.relative_to(SRC).parts, path.stem.rpartition("_")[2]}
        for node in () if own or path == SRC / "api" / "systems.py" else ast.walk(parsed(path)):
            if isinstance(node, ast.Compare | ast.Dict | ast.Tuple | ast.Set | ast.List):
                told = [one.value for one in ast.iter_child_nodes(node) if isinstance(one, ast.Constant)]
                if words := [word for word in told if word in names]:
                    found.setdefault(short(path), f"{short(path)}:{node.lineno} {words}")
    allow(NAMED_FOR_A_SYSTEM, found, "A system is chosen by its entry in api/systems.py, not by its name:")


# ------------------------------------------------------------------ a quick start


def test_help_loads_nothing_heavy() -> None:
    program = f"""
import json, sys
sys.argv = ["gnomon", "--help"]
from gnomon.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(set({HEAVY!r}) & sys.modules.keys())), file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "Usage" in ended.stdout, ended.stdout
    loaded = json.loads(ended.stderr.splitlines()[-1])
    report(loaded, "`gnomon --help` loads these; import them inside the command that needs them:")
