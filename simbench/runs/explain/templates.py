"""Templates of the messages in simbench's own source: fixed text with gaps for values."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from simbench.resources import PACKAGE

GAP = "…"
"""Place of a value in a template."""
_LEAST_LETTERS = 8
"""Letters that a template must have, so that it does not match any text."""
_LEFT_OUT = ("dynamics/generated", "runs/explain")


class Template(NamedTuple):
    """A message as it stands in the source."""

    text: str  # Its fixed parts, with `…` for each value.
    file: str  # Source file, relative to the package.
    line: int  # Line, counted from 1.
    error: str  # Class of the error that is raised with it; empty if the source does not say so there.


@lru_cache(maxsize=1)
def message_templates() -> tuple[Template, ...]:
    """Read the templates of all messages from the source.

    Returns every text of simbench with several letters, docstrings left out: more than messages, but all of
    them.
    """
    return tuple(
        template
        for path in sorted(PACKAGE.rglob("*.py"))
        if not str(path.relative_to(PACKAGE)).startswith(_LEFT_OUT)
        for template in _templates(path)
    )


def fixed_parts(text: str) -> tuple[str, ...]:
    """Split a template or a pattern at its gaps.

    `text`: text with `…` for values. Returns the parts between the gaps that are not empty.
    """
    return tuple(part for part in (" ".join(part.split()) for part in text.split(GAP)) if part)


def matches(text: str, message: str) -> bool:
    """Tell whether a message contains the fixed parts of a template or pattern in their order.

    `text`: text with `…` for values; `message`: A message, with spaces in place of its line breaks. Returns
    true if all parts follow one another.
    """
    at = 0
    for part in fixed_parts(text):
        found = message.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _templates(path: Path) -> Iterator[Template]:
    """Find the texts in one source file."""
    name = str(path.relative_to(PACKAGE))
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(path.read_text(encoding="utf-8")), "")]
    while waiting:
        node, error = waiting.pop()
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
            text = re.sub(f"{GAP}+", GAP, _text(node))
            if sum(map(str.isalpha, text)) >= _LEAST_LETTERS and " " in text.strip():
                yield Template(text, name, getattr(node, "lineno", 0), error)
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # A docstring or the text below an attribute.
            continue
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            error = ast.unparse(node.exc.func)
        waiting += [(child, error) for child in ast.iter_child_nodes(node)]


def _text(node: ast.expr) -> str:
    """Write an expression with a gap for each value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else GAP
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return GAP
