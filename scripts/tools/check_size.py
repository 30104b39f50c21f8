"""Count how large simbench is and in how many pieces, and fail where that grew.

python scripts/tools/check_size.py [--list COUNT] [--write]

Counted for each package, the top level, and all of simbench:

- `files`; lines of `code` (no blanks, comments, docstrings) and of `docstrings`; `functions` and methods;
- `called_once`: private functions that their file names once beside their definition; of these `short`:
  15 lines or fewer, which have no reason to stand apart from where they are called;
- `made_once`: data classes (NamedTuple, dataclass) that simbench constructs at exactly one place;
- `one_importer`: modules that exactly one other module of simbench imports;
- `same_name`: files, but `__init__.py`, whose name another file of simbench has too.

What may be is committed in `sizes.json` beside this script; `--write` replaces it by what is, and
`--list called_once` and the like show what is counted. Exit status 1 if a count is larger than committed.
"""

import argparse
import ast
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2] / "simbench"
COMMITTED = Path(__file__).with_name("sizes.json")
COUNTS = (
    "files",
    "code",
    "docstrings",
    "functions",
    "called_once",
    "short",
    "made_once",
    "one_importer",
    "same_name",
)
# A private function with more lines than these may stand for one idea, even with one caller.
SHORT = 15
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Numbers of the lines of a file that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr):
            first = node.body[0]
            if isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                lines.update(range(first.lineno, first.end_lineno + 1))
    return lines


def find_pieces(root: Path) -> list[tuple[str, str, str]]:
    """Find everything that is counted, but lines: package, count, and what it is."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    constructed = Counter(
        getattr(node.func, "id", getattr(node.func, "attr", ""))
        for _, node in nodes
        if isinstance(node, ast.Call)
    )
    importers = defaultdict(set)
    for path, node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                importers[alias.name].add(path)
        elif isinstance(node, ast.ImportFrom) and node.module:
            importers[node.module].add(path)
            for alias in node.names:
                importers[f"{node.module}.{alias.name}"].add(path)
    names = Counter(path.name for path in sources)
    found = []
    for path in sources:
        module = ".".join((root.name, *path.relative_to(root).with_suffix("").parts))
        found.append((path, "files", module))
        if path.name != "__init__.py":
            if len(importers[module]) == 1:
                found.append((path, "one_importer", module))
            if names[path.name] > 1:
                found.append((path, "same_name", module))
    for path, node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((path, "functions", node.name))
            private = node.name.startswith("_") and not node.name.startswith("__")
            if private and len(re.findall(rf"\b{re.escape(node.name)}\b", sources[path])) == 2:
                lines = node.end_lineno - node.lineno + 1
                found.append((path, "called_once", f"{node.name}, {lines} lines"))
                if lines <= SHORT:
                    found.append((path, "short", f"{node.name}, {lines} lines"))
        elif isinstance(node, ast.ClassDef) and constructed[node.name] == 1:
            marks = " ".join(ast.unparse(mark) for mark in (*node.bases, *node.decorator_list))
            if "NamedTuple" in marks or "dataclass" in marks:
                found.append((path, "made_once", node.name))
    return [
        (_package(path, root), count, f"{path.relative_to(root.parent)}: {what}")
        for path, count, what in found
    ]


def count_sizes(root: Path) -> dict[str, dict[str, int]]:
    """Count the pieces and the lines of every package, and of all, by the names of `COUNTS`."""
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for package, count, _ in find_pieces(root):
        sizes[package][count] += 1
    for path in root.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        documented = docstring_lines(ast.parse(source))
        sizes[_package(path, root)]["docstrings"] += len(documented)
        sizes[_package(path, root)]["code"] += sum(
            bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
            for number, line in enumerate(source.splitlines(), 1)
        )
    total = sum(sizes.values(), Counter())
    return {
        name: {count: size[count] for count in COUNTS}
        for name, size in (*sorted(sizes.items()), ("all", total))
    }


def _package(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else "(top level)"


def grown(sizes: dict[str, dict[str, int]], committed: dict[str, dict[str, int]]) -> list[str]:
    """Say which counts are larger than what is committed; a package that is not there may have nothing."""
    return [
        f"{name}: {count} {value}, committed {allowed}"
        for name, size in sizes.items()
        for count, value in size.items()
        if value > (allowed := committed.get(name, {}).get(count, 0))
    ]


def main() -> int:
    """Print the counts; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", choices=[count for count in COUNTS if count not in ("code", "docstrings")])
    parser.add_argument("--write", action="store_true", help="replace what is committed by what is")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(what for _, count, what in find_pieces(ROOT) if count == arguments.list))
        return 0
    sizes = count_sizes(ROOT)
    print(" " * 13, *(f"{count:>12}" for count in COUNTS))
    for name, size in sizes.items():
        print(f"{name:13}", *(f"{size[count]:12}" for count in COUNTS))
    if arguments.write:
        COMMITTED.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    faults = grown(sizes, json.loads(COMMITTED.read_text(encoding="utf-8")))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
