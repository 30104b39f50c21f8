"""Reference pages of keys, log variables, metrics and errors, from what `simbench explain` prints."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markdown_text import code, escape_text, table, write_if_changed

from simbench import errors
from simbench.errors import SimbenchError
from simbench.resources import resource_dir
from simbench.runs.explain.documented_names import (
    KeyEntry,
    SectionEntry,
    log_entries,
    robot_key_entries,
    scenario_key_entries,
)
from simbench.runs.explain.lookup import glossary_entries
from simbench.runs.metric_catalogue import MetricEntry, metric_entries

_BETTER = {
    "lower": "lower",
    "higher": "higher",
    "same": "neither: any change counts as worse",
    "ignored": "not compared",
}
_KINDS = {"variable": "Variables", "coordinate": "Coordinates", "attribute": "Attributes"}


def metrics_page() -> str:
    """Write the reference of all metrics: a table of them, then each with its definition.

    Returns
    -------
    str
        Markdown.
    """
    entries = metric_entries()
    rows = [
        (f"[{code(entry.name)}](#{_anchor(entry.name)})", entry.unit or "-", _which_is_better(entry))
        for entry in entries
    ]
    text = "## All metrics\n\n" + table(("metric", "unit", "better"), rows)
    for present, group in _by_presence(entries).items():
        text += f"## {_capital(escape_text(present))}\n\n" + "".join(map(_describe_metric, group))
    return text


def _by_presence(entries: Sequence[Any]) -> dict[str, list[Any]]:
    """Group entries by the runs that have them, in the order of first appearance."""
    groups: dict[str, list[Any]] = {}
    for entry in entries:
        groups.setdefault(entry.present, []).append(entry)
    return groups


def _which_is_better(entry: MetricEntry) -> str:
    """Write which way a metric improves; of what is true or false, which of both is good."""
    if entry.kind == "true or false" and entry.better in ("lower", "higher"):
        return "false" if entry.better == "lower" else "true"
    return _BETTER[entry.better]


def _describe_metric(entry: MetricEntry) -> str:
    """Write one metric: heading, definition, and a list of its properties."""
    facts = {
        "Unit": entry.unit or ("none; true or false" if entry.kind == "true or false" else "none"),
        "Samples": escape_text(entry.samples),
        "Better": _which_is_better(entry),
        "Tolerance": escape_text(entry.tolerance),
        "From": ", ".join(code(name) for name in entry.variables) or "the plan",
        "If it is bad": escape_text(entry.advice),
    }
    lines = "".join(f"- **{name}**: {fact}\n" for name, fact in facts.items() if fact)
    heading = f"({_anchor(entry.name)})=\n### {code(entry.name)}"
    return f"{heading}\n\n{escape_text(entry.definition)}\n\n{lines}\n"


def _anchor(name: str) -> str:
    """Write the anchor of a metric, without characters that links may not have."""
    return "metric-" + "".join(c if c.isalnum() else "-" for c in name).strip("-")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def log_page() -> str:
    """Write the reference of the log: its variables, coordinates and attributes.

    Returns
    -------
    str
        Markdown.
    """
    entries, text = log_entries(), ""
    for kind, title in _KINDS.items():
        of_kind = [entry for entry in entries if entry.kind == kind]
        text += f"## {title}\n\n"
        if kind != "variable":
            rows = [(code(each.name), each.unit or "-", escape_text(each.description)) for each in of_kind]
            text += table(("name", "unit", "description"), rows)
            continue
        for present, group in _by_presence(of_kind).items():
            text += f"### {title} {_when(present)}\n\n"
            rows = [
                (code(each.name), each.dims or "-", each.unit or "-", escape_text(each.description))
                for each in group
            ]
            text += table(("name", "dimensions", "unit", "description"), rows)
    return text


def _when(present: str) -> str:
    """Write in which runs variables are, as the end of a heading."""
    return f"({escape_text(present)})" if present else ""


def keys_page(sections: Sequence[SectionEntry], top: str) -> str:
    """Write the reference of the keys of a YAML file.

    Parameters
    ----------
    sections : sequence of SectionEntry
        Sections in the file's order.
    top : str
        Title of the keys outside any section.

    Returns
    -------
    str
        Markdown with a table for each section.
    """
    text = ""
    for name, description, keys in sections:
        text += f"## {code(name) if name else top}\n\n"
        text += f"{escape_text(description)}\n\n" if description else ""
        rows = [
            (
                code(key.name.removeprefix(f"{name}.") if name else key.name),
                f"{escape_text(key.description)}<br>{_facts(key)}",
            )
            for key in keys
        ]
        text += table(("key", "meaning"), rows) if rows else ""
    return text


def _facts(key: KeyEntry) -> str:
    """Write type, unit, range and default of a key in one line, which a phone shows below its meaning."""
    facts = [escape_text(f"{key.type}, {key.unit}" if key.unit else key.type), escape_text(key.range)]
    if key.default == "required":
        facts.append("**required**")
    elif key.default:
        facts.append(f"default {code(key.default)}")
    return f"<small>{_capital('; '.join(fact for fact in facts if fact))}.</small>"


def errors_page() -> str:
    """Write the classes of errors, from their docstrings.

    Returns
    -------
    str
        A Markdown table.
    """
    classes = [each for each in vars(errors).values() if isinstance(each, type) and each is not SimbenchError]
    rows = [
        (code(each.__name__), escape_text(str(each.__doc__).partition("\n")[0]))
        for each in classes
        if issubclass(each, SimbenchError)
    ]
    return table(("error", "what it means"), rows)


def words_page() -> str:
    """Write the words that simbench's output uses.

    Returns
    -------
    str
        A Markdown table.
    """
    rows = [
        (_capital(", ".join((each.name, *each.aliases))), escape_text(each.definition))
        for each in glossary_entries()
    ]
    return table(("word", "meaning"), rows)


PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": metrics_page,
    "log.md": log_page,
    "scenario.md": lambda: keys_page(scenario_key_entries(), "Top level"),
    "robot_yaml.md": lambda: keys_page(robot_key_entries(), "Top level"),
    "errors.md": errors_page,
    "words.md": words_page,
}
"""Generated file to the function that writes it."""


def setup(application: Any) -> dict[str, bool]:
    """Write the pages before Sphinx reads its sources, and put the schemas where their `$id` says."""

    def write(application: Any) -> None:
        for name, make in PAGES.items():
            write_if_changed(Path(application.srcdir) / "generated" / name, make())

    def publish(application: Any, error: Exception | None) -> None:
        if error is None and application.builder.format == "html":
            shutil.copytree(resource_dir("schemas"), Path(application.outdir) / "schemas", dirs_exist_ok=True)

    application.connect("builder-inited", write)
    application.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
