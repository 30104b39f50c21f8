"""Find what a word is about, and write its explanation; terms of the glossary with their definitions."""

import difflib
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from simbench.errors import RunError, SimbenchError
from simbench.files.yaml_document import parse_yaml
from simbench.runs.metric_catalogue import find_metric, metric_entries

SITE = "https://simbench-robotics.github.io/simbench"
_GLOSSARY = "glossary.yaml"
_WIDTH = 100
_MOST = 12  # Number of candidates that are listed.
_SHORTEST = 4  # Length from which a part of a name lists the names that contain it.
# Metrics of a fixture that are not those of a joint.
_OF_FIXTURES = ("cut_depth_m", "cut_ratio", "moved_m", "turned_rad")
_BETTER = {
    "lower": "lower is better",
    "higher": "higher is better",
    "same": "it must stay the same",
    "ignored": "ignored by checks against a baseline",
}
# Each kind of file with keys, as a text calls it, and the page of its keys.
_FILES = {
    "scenario": ("a scenario", "reference/scenario"),
    "robot.yaml": ("a robot.yaml", "reference/robot_yaml"),
}


def explain(text: str) -> str:
    """Explain a metric, a key, a variable of the log, or a term.

    `text`: its name. Returns lines for a terminal, one explanation for each kind of thing that has the name;
    for a name that is not unique, the candidates.
    """
    text = " ".join(text.split()).strip("`'\"")
    found = []
    is_name = " " not in text
    metric = find_metric(text) if is_name else None
    # A metric of a fixture's joint is one only of a joint that there is.
    joint = text.partition(".")[2]
    if (
        metric is not None
        and joint not in _OF_FIXTURES
        and text not in {each.name for each in metric_entries()}
    ):
        from simbench.runs.explain.documented_names import shipped_joints

        is_known = joint.rpartition("_")[0] in shipped_joints()
    else:
        is_known = metric is not None
    if metric is not None and is_known:
        unlogged = "the scenario" if metric.kind == "name" else "the plan, not the log"
        facts = {
            "unit": metric.unit or ("none" if metric.kind == "number" else metric.kind),
            "taken over": metric.samples,
            "direction": _BETTER[metric.better],
            "tolerance": metric.tolerance,
            "computed from": ", ".join(metric.variables) or unlogged,
            "in": metric.present,
        }
        heading = f"{metric.name}   metric"
        found.append(_block(heading, metric.definition, facts, "reference/metrics", metric.advice))
    term = find_term(text)
    if term is not None:
        aliases = f" ({', '.join(term.aliases)})" if term.aliases else ""
        found.append(_block(f"{term.name}{aliases}   term", term.definition, {}, term.page))
    if is_name:
        found += _key_texts(text, exact=metric is not None)
    if is_name and "." not in text:
        found += _variable_texts(text)
        group = [entry.name for entry in metric_entries() if entry.name.startswith(f"{text}.")]
        if group:
            found.append(f"metrics of the group {text}:\n" + "\n".join(f"  {each}" for each in group))
    if found:
        return "\n\n".join(found)
    names = explained_names()
    candidates = [name for name in names if text.casefold() in name.casefold()]
    if len(text) >= _SHORTEST and candidates:
        return _list_candidates(text, candidates)
    found = _variable_texts(text, patterns=True) if is_name else []
    if found:
        return "\n\n".join(found)
    close = difflib.get_close_matches(text, names, n=3, cutoff=0.6)
    ends = {name.rpartition(".")[2]: name for name in names}
    close = close or [ends[end] for end in difflib.get_close_matches(text, list(ends), n=3, cutoff=0.6)]
    hint = f"did you mean {', '.join(close)}?" if close else "allowed: a metric, key, variable or term"
    raise SimbenchError(f"nothing is known of '{text}'; {hint}")


def _key_texts(name: str, *, exact: bool = False) -> list[str]:
    """Explain the keys of a name, or list those of several sections; only of this very name if `exact`."""
    from simbench.runs.explain.documented_names import KINDS, KeyEntry, find_keys

    found: list[tuple[str, KeyEntry]] = []
    sections = []
    for kind, entries in KINDS.items():
        whole = entries()
        found += [(kind, entry) for entry in find_keys(whole, name) if not exact or entry.name == name]
        sections += [(kind, *section) for section in whole if section[0] == name and section[2]]
        if "." not in name and not found:
            ends = [entry for _, _, keys in whole for entry in keys]
            found += [(kind, entry) for entry in ends if entry.name.rpartition(".")[2] == name]
    if len(found) > _MOST // 2:
        return [_list_candidates(name, [entry.name for _, entry in found])]
    texts = []
    for kind, entry in found:
        if sections and entry.name == name:
            continue
        shown = name if entry.name.count(".") == name.count(".") and "<" in entry.name else entry.name
        facts = {"type": entry.type, "unit": entry.unit, "default": entry.default, "allowed": entry.range}
        file, page = _FILES[kind]
        texts.append(_block(f"{shown}   key of {file}", entry.description, facts, page))
    for kind, section, description, keys in sections:
        listed = ", ".join(entry.name for entry in keys)
        file, page = _FILES[kind]
        texts.append(_block(f"{section}   section of {file}", description, {"keys": listed}, page))
    return texts


def _variable_texts(name: str, *, patterns: bool = False) -> list[str]:
    """Explain a variable, coordinate or attribute of a log; also one of a fixture, if patterns count."""
    from simbench.runs.explain.documented_names import find_log_entry, log_entries

    entry = find_log_entry(name)
    if entry is None or not (patterns or name in {each.name for each in log_entries()}):
        return []
    facts = {"dimensions": entry.dims, "unit": entry.unit, "in": entry.present}
    return [_block(f"{name}   {entry.kind} of log.nc", entry.description, facts, "reference/log")]


def _block(heading: str, text: str, facts: Mapping[str, str], page: str, advice: str = "") -> str:
    """Lay out an explanation."""
    paragraphs = [("  ", "  ", text)]
    width = max((len(name) for name in facts), default=0) + 2
    paragraphs += [(f"  {name:{width}}", " " * (2 + width), value) for name, value in facts.items()]
    paragraphs.append(("  ", "  ", advice))
    lines = [heading]
    for first, indent, paragraph in paragraphs:
        lines += textwrap.wrap(
            paragraph,
            _WIDTH,
            initial_indent=first,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    if page:
        lines.append(f"  {SITE}/{page}.html")
    return "\n".join(line.replace("`", "") for line in lines)


def _list_candidates(text: str, candidates: Sequence[str]) -> str:
    """List the names that may be meant."""
    names = list(dict.fromkeys(candidates))
    more = f"\n  … and {len(names) - _MOST} more" if len(names) > _MOST else ""
    listed = "\n".join(f"  {name}" for name in names[:_MOST])
    return f"'{text}' may be one of:\n{listed}{more}"


def explained_names() -> list[str]:
    """List the names of everything that can be explained.

    Returns metrics, keys, variables of the log and terms; each name once.
    """
    from simbench.runs.explain.documented_names import KINDS, log_entries

    names = [entry.name for entry in metric_entries()]
    names += [entry.name for entries in KINDS.values() for _, _, keys in entries() for entry in keys]
    names += [entry.name for entry in log_entries()]
    names += [name for term in glossary_entries() for name in (term.name, *term.aliases)]
    return list(dict.fromkeys(names))


class Term(NamedTuple):
    """A term with its definition."""

    name: str
    aliases: tuple[str, ...]  # Other words for it.
    definition: str
    page: str  # Page of the site with more about it.


@cache
def glossary_entries() -> tuple[Term, ...]:
    """List the terms. Returns terms by subject."""
    text = files("simbench.runs.explain").joinpath(_GLOSSARY).read_text(encoding="utf-8")
    return tuple(
        Term(each["name"], tuple(each.get("aliases", ())), each["definition"], each["page"])
        for each in parse_yaml(text, _GLOSSARY, RunError).value
    )


def find_term(word: str) -> Term | None:
    """Find a term.

    `word`: the term or one of its other words, in any case. Returns the term; None if it is not in the
    glossary.
    """
    wanted = word.casefold()
    for term in glossary_entries():
        if wanted in (each.casefold() for each in (term.name, *term.aliases)):
            return term
    return None
