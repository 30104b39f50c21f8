"""Change the package in small ways, one at a time, and see whether its tests notice.

python scripts/studies/mutants.py --out FILE.json [--seed N] [--per-package N] [--package NAME ...]
python scripts/studies/mutants.py --out FILE.json --list MUTANTS.json
python scripts/studies/mutants.py --out FILE.json --again

A mutant is one changed expression: a sign, a number 1 % larger, an index one further, x for y, the left for
the right, a bound dropped, `<=` for `<`, degrees for radians, a matrix for its transpose, a dropped term. The
places are drawn with a seed from the syntax trees of ten packages, so that nobody picks those known to be
tested. Each mutant is made in a copy of the checkout, and the tests of its package run there, those first
whose files import the changed module. The table says which test noticed it, or that it survived. FILE.json is
written after every mutant; mutants that it has are not run again, but with `--again` its survivors are. To
save time, let `--nearest 3` notice most of them first. The exit status is 1 if one survived.

With `--list`, the mutants are those of a file: a list of {"file": ..., "line": ..., "old": ..., "new": ...},
in which `old` is a text of that line.
"""

import argparse
import ast
import importlib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "balance",
    "cli",
    "dynamics",
    "kinematics",
    "motion",
    "retargeting",
    "robot",
    "runs",
    "sim",
    "skills",
)
_PICTURES = re.compile(
    r"plot|picture|render|video|page|report|banner|style|colou?r|console|generated|explain"
)
"""Files in which a number is a matter of looks, or that a script writes."""
_LIBRARIES = (
    *("numba", "pinocchio", "pybullet", "hypothesis", "xarray", "h5netcdf", "matplotlib.pyplot", "pydantic"),
    *("scipy.interpolate", "scipy.optimize", "scipy.signal", "scipy.spatial", "trimesh", "shapely", "ezc3d"),
    *("rich.console", "typer"),
)
_SECONDS = 1800
"""Processor time after which a mutant counts as one that does not end, s."""
_SWAPS = {"left": "right", "right": "left"}
_UNITS = {"radians", "degrees", "deg2rad", "rad2deg"}
_BOUNDS = {"clip", "minimum", "maximum", "min", "max"}
_COMPARISONS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}


@dataclass(frozen=True)
class Mutant:
    """One text in one line of one file, replaced by another."""

    file: str
    line: int
    old: str
    new: str
    kind: str = "listed"
    column: int | None = None
    """Offset of `old` in its line, in characters; the first one where it is None."""

    def applied(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        start = sum(map(len, lines[: self.line - 1]))
        begin = start + self.column if self.column is not None else source.find(self.old, start)
        if source[begin : begin + len(self.old)] != self.old:
            raise SystemExit(f"{self.file}:{self.line}: there is no {self.old!r}")
        return source[:begin] + self.new + source[begin + len(self.old) :]

    @property
    def package(self) -> str:
        return self.file.split("/")[1]


@dataclass(frozen=True)
class Result:
    """What became of a mutant: the test that noticed it, or None."""

    mutant: Mutant
    before: str
    after: str
    noticed_by: str | None


class _Places(ast.NodeVisitor):
    """Collect what can be changed in a file, as (kind, node, new text)."""

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in source.splitlines(keepends=True)]
        self.found: list[tuple[str, ast.expr, str]] = []

    def text(self, node: ast.expr) -> str:
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode()

    # Messages, types and decorators compute nothing.
    def visit_Raise(self, node: ast.Raise) -> None: ...

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.found.append(("sign", node, f"({self.text(node.operand)})"))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(
            isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in (node.left, node.right)
        )
        texts = texts or any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node))
        left, right = self.text(node.left), self.text(node.right)
        if isinstance(node.op, ast.Add | ast.Sub) and not texts:
            other = "-" if isinstance(node.op, ast.Add) else "+"
            right_side = f"({right})" if isinstance(node.right, ast.BinOp) else right
            self.found.append(("sign", node, f"({left} {other} {right_side})"))
            self.found.append(("term", node, f"({left})"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for kind, (old, new) in _COMPARISONS.items():
            if isinstance(node.ops[0], kind) and len(node.ops) == 1:
                changed = f"{self.text(node.left)} {new} {self.text(node.comparators[0])}"
                if old in self.text(node):
                    self.found.append(("comparison", node, changed))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == "T" and isinstance(node.ctx, ast.Load):
            self.found.append(("frame", node, self.text(node.value)))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _UNITS and len(node.args) == 1:
            self.found.append(("unit", node, f"({self.text(node.args[0])})"))
        if name in _BOUNDS and len(node.args) >= 2:
            self.found.append(("bound", node, self.text(node.args[0])))
        if name in ("inverse", "transpose") and not node.args and isinstance(node.func, ast.Attribute):
            self.found.append(("frame", node, self.text(node.func.value)))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        column = len(parts) == 2 and self.text(parts[0]) == ":" and isinstance(parts[1], ast.Constant)
        if column and "rot" in self.text(node.value):
            self.found.append(("frame", node, f"{self.text(node.value)}[{self.text(parts[1])}]"))
        if isinstance(parts[-1], ast.Constant) and parts[-1].value in (0, 1) and len(parts) > 1:
            self.found.append(("side", parts[-1], str(1 - parts[-1].value)))
        for part in parts:
            for bound in (part.lower, part.upper) if isinstance(part, ast.Slice) else ():
                if isinstance(bound, ast.Constant):
                    self.found.append(("index", bound, str(bound.value + 1)))
                elif isinstance(bound, ast.UnaryOp) and isinstance(bound.operand, ast.Constant):
                    self.found.append(("index", bound, str(-bound.operand.value - 1)))
                elif bound is not None:
                    self.found.append(("index", bound, f"{self.text(bound)} + 1"))
        self.visit(node.value)
        for part in parts:
            if not isinstance(part, ast.Constant):
                self.visit(part)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value in _SWAPS:
            self.found.append(("side", node, f'"{_SWAPS[node.value]}"'))
        elif isinstance(node.value, float) and node.value in (1000.0, 1e-3, 1e3, 100.0, 0.01):
            self.found.append(("unit", node, repr(node.value * 10.0)))
        elif isinstance(node.value, float) and node.value != 0.0:
            self.found.append(("number", node, f"{node.value * 1.01:.6g}"))
        elif isinstance(node.value, int) and not isinstance(node.value, bool) and node.value > 1:
            self.found.append(("index", node, str(node.value + 1)))


def find_mutants(path: Path) -> list[Mutant]:
    """List the mutants of one file."""
    source = path.read_text(encoding="utf-8")
    places = _Places(source)
    for statement in ast.parse(source).body:
        places.visit(statement)
    mutants = []
    for kind, node, new in places.found:
        line = source.splitlines()[node.lineno - 1]
        column = len(line.encode()[: node.col_offset].decode())
        old = places.text(node)
        if old and old != new:
            file = path.relative_to(ROOT).as_posix()
            mutants.append(Mutant(file, node.lineno, old, new, kind, column))
    return mutants


def draw_mutants(packages: Sequence[str], each: int, seed: int) -> list[Mutant]:
    """Draw mutants of every package: of different kinds as far as it has them, and in different files."""
    drawn: list[list[Mutant]] = []
    for package in packages:
        drawn.append([])
        generator = random.Random(f"{seed} {package}")
        by_kind: dict[str, list[Mutant]] = {}
        for path in sorted((ROOT / "simbench" / package).rglob("*.py")):
            if not _PICTURES.search(path.relative_to(ROOT).as_posix()):
                for mutant in find_mutants(path):
                    by_kind.setdefault(mutant.kind, []).append(mutant)
        kinds = sorted(by_kind)
        generator.shuffle(kinds)
        files: set[str] = set()
        for index in range(each):
            choices = [m for m in by_kind[kinds[index % len(kinds)]] if m.file not in files]
            if choices:
                drawn[-1].append(generator.choice(choices))
                files.add(drawn[-1][-1].file)
    # The first of every package, then the second: what is interrupted has seen them all.
    return [mutant for turn in zip_longest(*drawn) for mutant in turn if mutant]


def imported_modules(path: Path) -> set[str]:
    """Name the modules of simbench that a file imports, and what it imports from them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simbench"):
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("simbench")}
    return names


def module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def import_graph(root: Path) -> dict[str, set[str]]:
    """Map the modules of a checkout to what they import."""
    paths = (root / "simbench").rglob("*.py")
    return {module_name(path.relative_to(root).as_posix()): imported_modules(path) for path in paths}


def importers(module: str, graph: dict[str, set[str]]) -> dict[str, int]:
    """Find the modules that import one, with the number of imports between: 0 for itself."""
    distances = {module: 0}
    wave = {module}
    while wave:
        wave = {name for name, uses in graph.items() if uses & wave and name not in distances}
        distances |= dict.fromkeys(wave, max(distances.values()) + 1)
    return distances


def ordered_tests(mutant: Mutant, distances: dict[str, int], root: Path) -> list[str]:
    """List the test files of a mutant's package, those first whose imports are nearest to the change."""

    def nearness(path: Path) -> tuple[int, str]:
        near = [distances[name] for name in imported_modules(path) if name in distances]
        return min(near, default=99), path.as_posix()

    folder = root / "tests" / mutant.package
    return [path.relative_to(root).as_posix() for path in sorted(folder.rglob("test_*.py"), key=nearness)]


def is_compiled(distances: dict[str, int], root: Path) -> bool:
    """Say whether a compiled function may contain what a changed module says."""
    sources = (root / f"{name.replace('.', '/')}.py" for name in distances)
    return any("import compiled" in path.read_text(encoding="utf-8") for path in sources if path.exists())


def copy_checkout(folder: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\0"
    ):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def import_libraries() -> None:
    """Import once, for all mutants, what takes longer to import than most mutants take to be noticed."""
    for name in _LIBRARIES:
        importlib.import_module(name)


def _become_pytest(copy: Path, tests: Sequence[str], cache: Path, output: Path) -> None:
    """Run tests in this process, and end it with pytest's status."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    os.chdir(copy)
    os.environ |= {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(cache)}
    importlib.import_module("numba").config.CACHE_DIR = str(cache)
    sys.path.insert(0, str(copy))
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no", "-rfE"]
    status = pytest.main([*arguments, "--basetemp", str(copy.parent / "pytest"), *tests])
    sys.stdout.flush()
    os._exit(int(status))


def run_tests(copy: Path, tests: Sequence[str], cache: Path) -> str | None:
    """Run tests until one fails, and name it; None if all pass."""
    output = copy.parent / "output.txt"
    child = multiprocessing.get_context("fork").Process(
        target=_become_pytest, args=(copy, tests, cache, output)
    )
    child.start()
    child.join()
    if child.exitcode == 0:
        return None
    printed = output.read_text(encoding="utf-8", errors="replace")
    if named := re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", printed, re.MULTILINE):
        return named[1]
    last = [line for line in printed.splitlines() if line.strip()][-1:]
    return f"exit status {child.exitcode}: {''.join(last)[:80]}"


def changed_lines(before: str, after: str, mutant: Mutant) -> tuple[str, str]:
    first = mutant.line - 1
    more = mutant.old.count("\n")
    old = " ".join(line.strip() for line in before.splitlines()[first : first + more + 1])
    new = " ".join(line.strip() for line in after.splitlines()[first : first + mutant.new.count("\n") + 1])
    return old, new


def try_mutants(mutants: Sequence[Mutant], nearest: int | None, folder: Path) -> Iterator[Result]:
    """Try each mutant in a copy of the checkout, on the files of tests that are nearest to it, or on all."""
    copy = folder / "checkout"
    copy_checkout(copy)
    import_libraries()
    graph = import_graph(copy)
    for mutant in mutants:
        distances = importers(module_name(mutant.file), graph)
        path = copy / mutant.file
        before = path.read_text(encoding="utf-8")
        after = mutant.applied(before)
        # The compiler keeps its results by the file of a function, not by the files that it takes names from.
        cache = Path(tempfile.mkdtemp(dir=folder)) if is_compiled(distances, copy) else folder / "compiled"
        path.write_text(after, encoding="utf-8")
        try:
            noticed = run_tests(copy, ordered_tests(mutant, distances, copy)[:nearest], cache)
        finally:
            path.write_text(before, encoding="utf-8")
            for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                stale.unlink()
            if cache.name != "compiled":
                shutil.rmtree(cache)
        yield Result(mutant, *changed_lines(before, after, mutant), noticed)


def read_results(path: Path) -> list[Result]:
    if not path.exists():
        return []
    entries = json.loads(path.read_text(encoding="utf-8"))
    return [Result(Mutant(**entry.pop("mutant")), **entry) for entry in entries]


def print_result(result: Result) -> None:
    mutant = result.mutant
    print(f"{mutant.file}:{mutant.line} {mutant.kind}: {result.noticed_by or 'SURVIVED'}", flush=True)
    print(f"  - {result.before}\n  + {result.after}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="results, in JSON; what it has is not run again"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the places that are drawn")
    parser.add_argument("--per-package", type=int, default=6, help="mutants that are drawn in each package")
    parser.add_argument(
        "--package", nargs="+", choices=PACKAGES, default=PACKAGES, help="packages to draw in"
    )
    parser.add_argument("--list", type=Path, help="mutants in JSON, instead of drawn ones")
    parser.add_argument("--show", action="store_true", help="print the mutants and run nothing")
    parser.add_argument(
        "--nearest", type=int, help="files of tests that are run, those nearest to the change"
    )
    parser.add_argument("--again", action="store_true", help="run the survivors of FILE.json again")
    options = parser.parse_args(arguments)
    results = {result.mutant: result for result in read_results(options.out)}
    if options.again:
        mutants = [mutant for mutant, result in results.items() if result.noticed_by is None]
    elif options.list:
        mutants = [Mutant(**entry) for entry in json.loads(options.list.read_text(encoding="utf-8"))]
    else:
        mutants = draw_mutants(options.package, options.per_package, options.seed)
    if options.show:
        for mutant in mutants:
            before = (ROOT / mutant.file).read_text(encoding="utf-8")
            old, new = changed_lines(before, mutant.applied(before), mutant)
            print(f"{mutant.file}:{mutant.line} {mutant.kind}\n  - {old}\n  + {new}")
        return 0
    waiting = [mutant for mutant in mutants if options.again or mutant not in results]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for result in try_mutants(waiting, options.nearest, Path(folder)):
            results[result.mutant] = result
            entries = [asdict(result) for result in results.values()]
            options.out.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
            print_result(result)
    survivors = sum(result.noticed_by is None for result in results.values())
    print(f"{len(results) - survivors} of {len(results)} mutants were noticed; {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
