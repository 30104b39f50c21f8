"""What reads YAML and JSON is in two modules of `simbench.files` alone; other modules may write them."""

import ast

import pytest

from simbench.resources import PACKAGE

READERS = {
    "yaml": {"load", "load_all", "safe_load", "full_load", "unsafe_load", "parse", "compose", "scan"},
    "json": {"load", "loads", "JSONDecoder"},
}
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name not in ("json_document.py", "yaml_document.py")
)


def readers(tree):
    """Calls of readers, by module or imported by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in READERS.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in READERS:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_nothing_else_reads_yaml_or_json():
    assert len(MODULES) > 300
    found = {path.name: list(readers(ast.parse(path.read_text(encoding="utf-8")))) for path in MODULES}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize("source", ["yaml.safe_load(x)", "json.loads(x)", "from json import loads"])
def test_a_reader_would_be_found(source):
    assert list(readers(ast.parse(source)))
