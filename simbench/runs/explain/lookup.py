"""Find what a word or a message is about, and write its explanation."""

import difflib
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence

from simbench.errors import SimbenchError
from simbench.runs.explain.glossary import Term, find_term, glossary_entries
from simbench.runs.explain.messages import (
    MessageEntry,
    error_classes,
    find_containing,
    find_message,
    find_template,
)
from simbench.runs.explain.templates import Template, fixed_parts, matches, message_templates
from simbench.runs.metric_catalogue import MetricEntry, find_metric, metric_entries

SITE = "https://simbench-robotics.github.io/simbench"
_WIDTH = 100
_MOST = 12
"""Number of candidates that are listed."""
_FEW = 3
"""Number of messages that are explained if only a part of one is given."""
_WEAK = 25
"""Length of fixed text below which a pattern could match a message by chance."""
_SHORTEST = 4
"""Length from which a part of a name lists the names that contain it."""
_OF_FIXTURES = ("cut_depth_m", "cut_ratio", "moved_m", "turned_rad")
"""Metrics of a fixture that are not those of a joint."""
_BETTER = {
    "lower": "lower is better",
    "higher": "higher is better",
    "same": "it must stay the same",
    "ignored": "ignored by checks against a baseline",
}


def explain(text: str) -> str:
    """Explain a metric, a key, a variable of the log, a term, or a message.

    `text`: its name, or the whole message. Returns lines for a terminal; for a name that is not unique, the
    candidates.
    """
    text = " ".join(text.split()).strip("`'\"")
    found = _explain_name(text)
    if not found and " " in text:
        # A name has no spaces, and a message has some.
        found = _when(find_term(text), _term_text)
        if not found:
            found = _explain_message(text)
            found += _explain_mentioned(text) if found else []
    if not found and " " in text:
        found = [_message_text(entry) for entry in find_containing(text)[:_FEW]]
    if found:
        return "\n\n".join(found)
    names = explained_names()
    candidates = [name for name in names if text.casefold() in name.casefold()]
    if len(text) >= _SHORTEST and candidates:
        return _list_candidates(text, candidates)
    found = _variable_texts(text, patterns=True) if " " not in text else []
    if found:
        return "\n\n".join(found)
    close = difflib.get_close_matches(text, names, n=3, cutoff=0.6)
    ends = {name.rpartition(".")[2]: name for name in names}
    close = close or [ends[end] for end in difflib.get_close_matches(text, list(ends), n=3, cutoff=0.6)]
    hint = (
        f"did you mean {', '.join(close)}?" if close else "allowed: a metric, key, variable, term or message"
    )
    raise SimbenchError(f"nothing is known of '{text}'; {hint}")


def _when(value: Term | None, write: Callable[[Term], str]) -> list[str]:
    """Write an entry, if there is one."""
    return [] if value is None else [write(value)]


def _explain_name(name: str) -> list[str]:
    """Explain everything that has a name: one explanation for each kind of thing."""
    if " " in name:
        return []
    found = []
    metric = find_metric(name)
    if metric is not None and _is_known_joint(name):
        found.append(_metric_text(metric))
    found += _when(find_term(name), _term_text)
    found += _key_texts(name, exact=metric is not None)
    if "." not in name:
        found += _variable_texts(name)
        group = [entry.name for entry in metric_entries() if entry.name.startswith(f"{name}.")]
        if group:
            found.append(f"metrics of the group {name}:\n" + "\n".join(f"  {each}" for each in group))
    return found


def _is_known_joint(name: str) -> bool:
    """Tell whether a metric of a fixture is one of a joint that there is."""
    joint = name.partition(".")[2]
    if name in {entry.name for entry in metric_entries()} or joint in _OF_FIXTURES:
        return True
    from simbench.runs.explain.log_names import shipped_joints

    return joint.rpartition("_")[0] in shipped_joints()


def _key_texts(name: str, *, exact: bool = False) -> list[str]:
    """Explain the keys of a name, or list those of several sections; only of this very name if `exact`."""
    from simbench.runs.explain.keys import KINDS, KeyEntry, find_keys

    found: list[tuple[str, KeyEntry]] = []
    sections = []
    for kind, entries in KINDS.items():
        whole = entries()
        found += [(kind, entry) for entry in find_keys(whole, name) if not exact or entry.name == name]
        sections += [(kind, section) for section in whole if section.name == name and section.keys]
        if "." not in name and not found:
            ends = [entry for section in whole for entry in section.keys]
            found += [(kind, entry) for entry in ends if entry.name.rpartition(".")[2] == name]
    if len(found) > _MOST // 2:
        return [_list_candidates(name, [entry.name for _, entry in found])]
    texts = []
    named = {section.name for _, section in sections}
    for kind, entry in found:
        if entry.name in named:
            continue
        shown = name if entry.name.count(".") == name.count(".") and "<" in entry.name else entry.name
        facts = {"type": entry.type, "unit": entry.unit, "default": entry.default, "allowed": entry.range}
        page = "reference/scenario" if kind == "scenario" else "reference/robot_yaml"
        texts.append(_block(f"{shown}   key of {_article(kind)}", entry.description, facts, page))
    for kind, section in sections:
        keys = ", ".join(entry.name for entry in section.keys)
        page = "reference/scenario" if kind == "scenario" else "reference/robot_yaml"
        heading = f"{section.name}   section of {_article(kind)}"
        texts.append(_block(heading, section.description, {"keys": keys}, page))
    return texts


def _article(kind: str) -> str:
    """Name a kind of file."""
    return "a scenario" if kind == "scenario" else "a robot.yaml"


def _variable_texts(name: str, *, patterns: bool = False) -> list[str]:
    """Explain a variable, coordinate or attribute of a log; also one of a fixture, if patterns count."""
    from simbench.runs.explain.log_names import find_log_entry, log_entries

    entry = find_log_entry(name)
    if entry is None or not (patterns or name in {each.name for each in log_entries()}):
        return []
    facts = {"dimensions": entry.dims, "unit": entry.unit, "in": entry.present}
    return [_block(f"{name}   {entry.kind} of log.nc", entry.description, facts, "reference/log")]


def _explain_mentioned(text: str) -> list[str]:
    """Explain the metrics and keys that a message names."""
    from simbench.runs.explain.keys import KINDS, find_keys

    texts = []
    for word in dict.fromkeys(word.strip(":;,.'`()") for word in text.split()):
        if "." not in word.strip("."):
            continue
        metric = find_metric(word)
        if metric is not None and _is_known_joint(word):
            texts.append(_metric_text(metric))
        elif any(len(find_keys(entries(), word)) == 1 for entries in KINDS.values()):
            texts += _key_texts(word)
    return texts


def _explain_message(text: str) -> list[str]:
    """Explain a message by the catalogue, or by the class of the error that is raised with it."""
    entry = find_message(text)
    if entry is not None and _fixed_length(entry.pattern) >= _WEAK:
        return [_message_text(entry)]
    template = find_template(text)
    if template is None or (entry is not None and _is_better(entry, template)):
        return [] if entry is None or not _is_sentence(text) else [_message_text(entry)]
    return [_template_text(template)]


def _is_better(entry: MessageEntry, template: Template) -> bool:
    """Tell whether an entry of the catalogue is about a template, or says more than it."""
    about = matches(entry.pattern, template.text)
    return about or _fixed_length(entry.pattern) >= _fixed_length(template.text)


def _is_sentence(text: str) -> bool:
    """Tell whether a text may be a message."""
    return " " in text


def _fixed_length(text: str) -> int:
    """Count the characters of the fixed parts of a pattern."""
    return sum(map(len, fixed_parts(text)))


def _metric_text(entry: MetricEntry) -> str:
    """Write the explanation of a metric."""
    facts = {
        "unit": entry.unit or ("none" if entry.kind == "number" else entry.kind),
        "taken over": entry.samples,
        "direction": _BETTER[entry.better],
        "tolerance": entry.tolerance,
        "computed from": ", ".join(entry.variables) or _unlogged(entry),
        "in": entry.present,
    }
    return _block(f"{entry.name}   metric", entry.definition, facts, "reference/metrics", advice=entry.advice)


def _term_text(term: Term) -> str:
    """Write the definition of a term."""
    names = f" ({', '.join(term.aliases)})" if term.aliases else ""
    return _block(f"{term.name}{names}   term", term.definition, {}, term.page)


def _message_text(entry: MessageEntry) -> str:
    """Write the explanation of a message."""
    return _block(f"{entry.pattern}   message", entry.meaning, {}, entry.page, advice=entry.advice)


def _template_text(template: Template) -> str:
    """Write what the class of its error says about a message."""
    classes = {each.name: each for each in error_classes()}
    known = classes.get(template.error) or classes.get(_usual_error(template.file))
    where = f"It comes from simbench/{template.file}, line {template.line}."
    pattern = " ".join(template.text.split())
    if known is None:
        return _block(f"{pattern}   message", where, {}, "reference/errors")
    return _block(f"{pattern}   message", f"{known.meaning} {where}", {}, known.page, advice=known.advice)


def _usual_error(file: str) -> str:
    """Find the class of error that a source file raises most, for a message that is put together before."""
    raised = Counter(each.error for each in message_templates() if each.file == file and each.error)
    return raised.most_common(1)[0][0] if raised else ""


def _unlogged(entry: MetricEntry) -> str:
    """Say what a metric is computed from that needs no variable of the log."""
    return "the scenario" if entry.kind == "name" else "the plan, not the log"


def _block(heading: str, text: str, facts: dict[str, str], page: str, advice: str = "") -> str:
    """Lay out an explanation."""
    lines = [heading, *_wrap(text, "  ")]
    width = max((len(name) for name in facts), default=0) + 2
    for name, value in facts.items():
        if value:
            lines += _wrap(value, "  ", f"  {name:{width}}", width)
    if advice:
        lines += _wrap(advice, "  ")
    if page:
        lines.append(f"  {SITE}/{page}.html")
    return "\n".join(line.replace("`", "") for line in lines)


def _wrap(text: str, indent: str, first: str = "", width: int = 0) -> list[str]:
    """Break a text into lines."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first or indent,
        subsequent_indent=indent + width * " ",
        break_long_words=False,
        break_on_hyphens=False,
    )


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
    from simbench.runs.explain.keys import KINDS
    from simbench.runs.explain.log_names import log_entries

    names = [entry.name for entry in metric_entries()]
    names += [entry.name for entries in KINDS.values() for section in entries() for entry in section.keys]
    names += [entry.name for entry in log_entries()]
    names += [name for term in glossary_entries() for name in (term.name, *term.aliases)]
    return list(dict.fromkeys(names))
