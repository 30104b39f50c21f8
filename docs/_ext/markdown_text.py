"""Markdown from data: tables and escaped text, and files that are written only if they changed."""

from collections.abc import Iterable, Sequence
from pathlib import Path


def escape_text(text: str) -> str:
    """Write plain text so that Markdown shows it as it is; `code` in backticks stays code.

    Parameters
    ----------
    text : str
        Text, possibly over several lines.

    Returns
    -------
    str
        The text on one line.
    """
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return _escape("`".join(parts)).replace("`", "\\`")
    return "`".join(part if number % 2 else _escape(part) for number, part in enumerate(parts))


def _escape(text: str) -> str:
    for character in "\\*_<[$|":
        text = text.replace(character, f"\\{character}")
    return text


def code(text: str) -> str:
    """Write text as inline code for the cell of a table.

    Parameters
    ----------
    text : str
        Text without backticks; empty for none.

    Returns
    -------
    str
        Inline code; empty for empty text.
    """
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : iterable of sequences of str
        Cells in Markdown.

    Returns
    -------
    str
        The table with a blank line after it.
    """
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n\n"


def write_if_changed(path: Path, text: str) -> None:
    """Write a generated file unless it already holds that text, so that unchanged pages are not built again.

    Parameters
    ----------
    path : Path
        File to write; its folder is made.
    text : str
        Its content.
    """
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
