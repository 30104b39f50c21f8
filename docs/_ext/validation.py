"""Tables of the validation pages, from the files that scripts/reproduce writes (`--results`).

`{validation-table} file.json [title]` shows the tables of a file, or those whose titles begin with the given
words; `{validation-run} file.json` shows what was computed, by which command, and which bounds hold;
`{validation-summary}` has a row for each file, and what it is older than. Files are looked up in
docs/validation/results.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2] / "scripts" / "reproduce"))
from dependencies import KEY, digest_of, say_changes, stale_results

RESULTS = Path(__file__).parents[1] / "validation" / "results"

LONG = 30
"""Tables of more rows are folded."""

_NUMBER = re.compile(r"[-+±≤≥]?\s*(\d|inf|nan|-$)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|$~#])")


def read_results(path: Path) -> dict[str, Any]:
    """Read a file of results.

    Parameters
    ----------
    path : Path
        Path of the file.

    Returns
    -------
    dict of str to object
        Its content; the keys are explained in scripts/reproduce/results.py.
    """
    return json.loads(path.read_text(encoding="utf-8"))


def choose_tables(results: dict[str, Any], title: str = "") -> list[dict[str, Any]]:
    """Choose the tables whose titles begin with some words.

    Parameters
    ----------
    results : dict of str to object
        Content of a file of results.
    title : str
        First words of the titles; all tables if empty.

    Returns
    -------
    list of dict of str to object
        The tables.

    Raises
    ------
    ValueError
        If there is none.
    """
    found = [table for table in results["tables"] if table["title"].startswith(title)]
    if not found:
        known = ", ".join(repr(table["title"]) for table in results["tables"])
        raise ValueError(f"{results['script']}: no table {title!r}; there are {known}")
    return found


def render_results(path: Path, title: str = "") -> str:
    """Write the tables of a file as Markdown.

    Parameters
    ----------
    path : Path
        File of results.
    title : str
        First words of the titles of the tables to show; all if empty.

    Returns
    -------
    str
        Markdown text.
    """
    return "\n\n".join(_table_text(table) for table in choose_tables(read_results(path), title))


def render_run(path: Path) -> str:
    """Write as Markdown what a file of results was computed from, and which bounds hold.

    Parameters
    ----------
    path : Path
        File of results.

    Returns
    -------
    str
        Markdown text.
    """
    results = read_results(path)
    duration = f"{say_duration(results['duration_s'])} ({results['timed']})"
    versions = results.get(KEY, {}).get("versions", {})
    made_with = ", ".join([f"simbench {results['simbench']}", *map(" ".join, versions.items())])
    digest = f"digest `{digest_of(results)}`, " if digest_of(results) else ""
    renewed = results.get(KEY, {}).get("renewed")
    lines = [
        f"Computed: {_escape(results['scope'])}." if results["scope"] else "",
        f"Made on {results['date']} ({digest}{made_with}) in {duration} by",
        f"```sh\n{results['command']}\n```",
        f"A reduced run of {renewed}, of newer code, gave what it gave before." if renewed else "",
    ]
    if results["checks"]:
        lines += ["The script holds its results to these bounds:", _checks_text(results["checks"])]
    return "\n\n".join(line for line in lines if line)


def render_remarks(path: Path) -> str:
    """Write the lines of text that a script prints with its tables, as a Markdown list.

    Parameters
    ----------
    path : Path
        File of results.

    Returns
    -------
    str
        Markdown text; empty if there are none.
    """
    return "\n".join(f"- {_escape(each)}" for each in read_results(path)["remarks"])


def render_summary(folder: Path = RESULTS) -> str:
    """Write a Markdown table with a row for each file of results.

    Parameters
    ----------
    folder : Path
        Folder of the files.

    Returns
    -------
    str
        Markdown text.
    """
    rows, stale = [], stale_results(folder)
    for path in sorted(folder.glob("*.json")):
        results = read_results(path)
        held = sum(check["holds"] for check in results["checks"])
        rows.append(
            [
                f"[{results['paper']}]({results['paper']}.md)",
                f"`{Path(results['script']).name}`",
                _escape(results["scope"]),
                f"{held} of {len(results['checks'])}",
                say_duration(results["duration_s"]),
                results["date"],
                f"older than {_escape(say_changes(stale[path.stem]))}" if stale[path.stem] else "current",
            ]
        )
    return _pipes(("page", "script", "computed", "bounds that hold", "duration", "date", "state"), rows)


def say_duration(seconds: float) -> str:
    """Write a duration in the largest unit that suits it.

    Parameters
    ----------
    seconds : float
        Duration, s.

    Returns
    -------
    str
        For example `40 s`, `12 min` or `2 h 5 min`.
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _table_text(table: dict[str, Any]) -> str:
    """Write one table with its title and note."""
    unit = f", {table['unit']}" if table["unit"] else ""
    source = f" *(in the paper: {_escape(table['source'])})*" if table["source"] else ""
    rows = [[_escape(cell) for cell in row] for row in table["rows"]]
    title = _escape(table["title"]) + unit
    parts = [_pipes(map(_escape, table["columns"]), rows)]
    if table["note"]:
        parts.append(_escape(table["note"]))
    if len(rows) <= LONG:
        return "\n\n".join([f"**{title}**{source}", *parts])
    return "\n\n".join([f"::::{{dropdown}} {title}{source}", *parts, "::::"])


def _checks_text(checks: Sequence[dict[str, Any]]) -> str:
    return "\n".join(
        f"- {'✓' if check['holds'] else '**missed:**'} {_escape(check['what'])}" for check in checks
    )


def _pipes(columns: Iterable[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a pipe table; columns of numbers are aligned to the right."""
    headings = list(columns)
    ruler = []
    for index in range(len(headings)):
        cells = [row[index] for row in rows if row[index]]
        ruler.append("---:" if cells and all(map(_NUMBER.match, cells)) else "---")
    lines = [headings, ruler, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _escape(text: str) -> str:
    """Keep Markdown from reading anything into a text."""
    return _SPECIAL.sub(r"\\\1", text)


def setup(app: Any) -> dict[str, Any]:
    """Register the directives with Sphinx.

    Parameters
    ----------
    app : Sphinx
        The application.

    Returns
    -------
    dict of str to object
        What Sphinx wants to know about an extension.
    """
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class _Rendered(SphinxDirective):
        """Directive that is replaced by Markdown text made from a file of results."""

        final_argument_whitespace = True
        render: Callable[[Path, str], str]

        def run(self) -> list[nodes.Node]:
            path = RESULTS / self.arguments[0] if self.arguments else RESULTS
            for each in sorted(RESULTS.glob("*.json")) if path == RESULTS else [path]:
                self.env.note_dependency(str(each))
            try:
                text = self.render(path, " ".join(self.arguments[1:]))
            except (OSError, ValueError) as error:
                raise self.error(f"{path.name}: {error}") from error
            return self.parse_text_to_nodes(text)

    # Function of the file and of the words after its name, and how many of either must and may be given.
    directives: dict[str, tuple[Callable[[Path, str], str], int, int]] = {
        "table": (render_results, 1, 1),
        "run": (lambda path, _: render_run(path), 1, 0),
        "remarks": (lambda path, _: render_remarks(path), 1, 0),
        "summary": (lambda path, _: render_summary(path), 0, 0),
    }
    for name, (render, required, optional) in directives.items():
        members = {
            "render": staticmethod(render),
            "required_arguments": required,
            "optional_arguments": optional,
        }
        app.add_directive(f"validation-{name}", type(f"_{name.title()}", (_Rendered,), members))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
