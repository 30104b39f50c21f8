"""Find what a word is about, and write its explanation; terms of the glossary with their definitions."""

import difflib
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simbench.errors import SimbenchError
from simbench.runs.metric_catalogue import find_metric, metric_entries

SITE = "https://simbench-robotics.github.io/simbench"
_WIDTH = 100
_MOST = 12
"""Number of candidates that are listed."""
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
_FILES = {
    "scenario": ("a scenario", "reference/scenario"),
    "robot.yaml": ("a robot.yaml", "reference/robot_yaml"),
}
"""Each kind of file with keys, as a text calls it, and the page of its keys."""


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
        file, page = _FILES[kind]
        texts.append(_block(f"{shown}   key of {file}", entry.description, facts, page))
    for kind, section in sections:
        keys = ", ".join(entry.name for entry in section.keys)
        file, page = _FILES[kind]
        heading = f"{section.name}   section of {file}"
        texts.append(_block(heading, section.description, {"keys": keys}, page))
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
    names += [entry.name for entries in KINDS.values() for section in entries() for entry in section.keys]
    names += [entry.name for entry in log_entries()]
    names += [name for term in glossary_entries() for name in (term.name, *term.aliases)]
    return list(dict.fromkeys(names))


class Term(NamedTuple):
    """A term with its definition."""

    name: str
    aliases: tuple[str, ...]  # Other words for it.
    definition: str
    page: str  # Page of the site with more about it.


_TERMS = (
    Term(
        "ZMP",
        ("zero-moment point",),
        "Zero-moment point: the point of the floor about which the contact forces on the feet have no "
        "horizontal moment. A robot does not tip as long as it is inside the support polygon.",
        "concepts/balance",
    ),
    Term(
        "COG",
        ("COM", "centre of gravity", "center of gravity", "centre of mass"),
        "Centre of gravity of the whole robot; the same point as the centre of mass (COM).",
        "concepts/balance",
    ),
    Term(
        "support polygon",
        (),
        "Convex hull of the points at which the feet touch the floor.",
        "concepts/balance",
    ),
    Term(
        "COG-ZMP control",
        ("COG-ZMP gains", "gains"),
        "Control law of balance (Kim, Choi, Oh & You 2005): the commanded COG velocity is the planned one, "
        "minus k_p times the ZMP error, plus k_c times the COG error. It is stable for k_c > ω > k_p, where "
        "ω is the natural frequency of the inverted pendulum. The keys are `balance.gain_cog` and "
        "`balance.gain_zmp`.",
        "concepts/balance",
    ),
    Term(
        "motion embedding",
        ("embedding",),
        "The balance controller takes the prescribed motion of the arms into account: the legs compensate "
        "its effect on the COG. Without it (`balance.embedding: false`) the controller assumes arms at "
        "rest.",
        "concepts/balance",
    ),
    Term(
        "linear inverted pendulum",
        ("LIPM", "inverted pendulum"),
        "Model of a standing robot as a point mass at constant height h over the ZMP: c̈ = ω² (c − p) with "
        "ω = √(g / h).",
        "concepts/balance",
    ),
    Term(
        "capture step",
        ("recovery step", "capture point"),
        "Step to where a pushed robot can come to rest. `balance.recovery: step` allows it.",
        "concepts/balance",
    ),
    Term(
        "ICP",
        ("initial configuration phase", "initial configuration pose"),
        "Initial configuration phase of a recording: the person stands with the arms horizontally forward, "
        "palms down. The scaled model is fitted to it. `simbench motion inspect` prints when it is.",
        "how_to/recording",
    ),
    Term(
        "TGP",
        ("transition and grasp phase",),
        "Transition and grasp phase of a recording, between the initial configuration and the first "
        "repetition: the hands move to the equipment and take hold of it.",
        "how_to/recording",
    ),
    Term(
        "PMP",
        ("periodic motion phase",),
        "Periodic motion phase of a recording, which consists of the repetitions of the task.",
        "how_to/recording",
    ),
    Term(
        "primitive",
        (),
        "One repetition of a task, between two moments at which the hands stop in a posture that recurs.",
        "how_to/recording",
    ),
    Term(
        "stroke",
        ("strokes",),
        "One repetition of the equipment's motion in the recording; the variable `strokes` of a log holds "
        "its start and end.",
        "concepts/contact_and_placement",
    ),
    Term(
        "similarity",
        ("S", "similarity criterion"),
        "Similarity criterion S (Tomić 2018, eq. 4.25): mean squared difference between the joint "
        "velocities of the scaled model that imitates the person and those of the robot, in (rad/s)². 0 is "
        "the same motion. The metric is `retarget.similarity`.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "retargeting",
        (),
        "Conversion of a recorded human motion to joint positions of a robot.",
        "concepts/pipeline",
    ),
    Term(
        "imitation",
        (),
        "First stage of retargeting: the robot's kinematic model, scaled to the person's size, follows the "
        "recorded joints.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "scaled model",
        ("scaled actor",),
        "Model with the robot's joints and the person's limb lengths, which follows the recording.",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "UDE",
        (),
        "Method of inverse kinematics of Tomić (2018) that follows the recorded markers alone "
        "(`retarget.method: ude`).",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "arm adaptation",
        (),
        "Method of Kim & Kim (2005): the person's arm is stretched to the length of the robot's, inside "
        "limits of position, speed and acceleration (`retarget.method: arm_adaptation`).",
        "concepts/scaling_and_imitation",
    ),
    Term(
        "marker map",
        ("marker_map",),
        "File that says which markers of a recording give which joints and segments of the body.",
        "how_to/recording",
    ),
    Term(
        "fixture",
        ("equipment", "mechanism"),
        "Equipment of a scenario that the robot works with: rigid parts, joints and handles.",
        "how_to/equipment",
    ),
    Term(
        "placement",
        ("place", "base placement"),
        "Position, heading and height at which the robot stands. `robot.place: auto` searches the placement "
        "from which the whole task is reachable with the largest joint-limit margin.",
        "concepts/contact_and_placement",
    ),
    Term(
        "joint-limit margin",
        ("margin",),
        "Least distance of any joint from its limits during the task, rad.",
        "concepts/contact_and_placement",
    ),
    Term(
        "interference",
        (),
        "Penetration of two links of the robot, or of a link and the equipment, in the planned motion.",
        "concepts/contact_and_placement",
    ),
    Term(
        "criteria",
        ("energy", "ergonomics", "ergonomy", "manipulability"),
        "What a person may minimise with the redundancy of the arms (Tomić 2018): kinetic energy, joint "
        "velocity, distance from the ergonomic posture, nearness to singular postures. `retarget.weights` "
        "gives their weights.",
        "concepts/redundancy_and_skills",
    ),
    Term(
        "mixture",
        ("weights",),
        "Weighted combination of the criteria, with weights that add up to 1.",
        "concepts/redundancy_and_skills",
    ),
    Term(
        "inverse optimal control",
        ("IOC",),
        "Search of the weights of the criteria with which the law reproduces a person's motion best "
        "(`simbench skills`).",
        "learn/08_what_did_this_person_minimise",
    ),
    Term(
        "computed torque",
        ("computed_torque",),
        "Control law of an arm: the inverse dynamics of an acceleration that corrects the error "
        "(`control.law: computed_torque`).",
        "how_to/controller",
    ),
    Term(
        "feed-forward",
        ("feedforward", "feed forward"),
        "Torque of the planned motion, which is added to the PD law (`control.feedforward`).",
        "how_to/controller",
    ),
    Term(
        "reflected inertia",
        ("armature",),
        "Inertia of a motor's rotor as the joint feels it: the rotor's inertia times the square of the "
        "reduction.",
        "reference/robot_yaml",
    ),
    Term(
        "wrench",
        (),
        "Force and moment together: fx, fy, fz in N and mx, my, mz in N·m.",
        "concepts/frames_and_units",
    ),
    Term(
        "check",
        ("checks",),
        "A bound of a scenario on one of its metrics. A run whose checks do not all hold ends with exit "
        "status 1.",
        "how_to/checks",
    ),
    Term(
        "baseline",
        (),
        "Expected metrics of a scenario, kept in a file; `simbench check` compares runs with them.",
        "how_to/checks",
    ),
    Term(
        "spread",
        (),
        "Largest change of a metric that rounding alone was seen to cause, kept in the baseline. Chaotic "
        "metrics, such as the force of an impact, have a large one.",
        "how_to/checks",
    ),
    Term(
        "Tomić 2018",
        ("the thesis", "thesis", "Tomic 2018"),
        'M. Tomić, "Dual-arm robotic manipulation inspired by human skills", thesis, 2018: imitation, '
        "contact, similarity and the criteria of human motion follow it.",
        "validation/tomic2018",
    ),
)


def glossary_entries() -> tuple[Term, ...]:
    """List the terms. Returns terms by subject."""
    return _TERMS


def find_term(word: str) -> Term | None:
    """Find a term.

    `word`: the term or one of its other words, in any case. Returns the term; None if it is not in the
    glossary.
    """
    wanted = word.casefold()
    for term in _TERMS:
        if wanted in (each.casefold() for each in (term.name, *term.aliases)):
            return term
    return None
