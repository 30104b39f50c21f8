"""Membership parameters of the fuzzy terms: a readable file, and a flat vector for tuning."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import SkillError
from simbench.files.storage import write_whole
from simbench.files.yaml_document import YamlDocument, parse_yaml, read_yaml
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.rules import DISTANCES, INPUT_TERMS, OUTPUT_TERMS, OUTPUTS

NARROWEST = 0.05
"""Least width of a Gaussian and of the fall of a Z-shape: narrower, a term would single out one recording."""
_SHIPPED = "memberships.yaml"
_HEAD = """\
# Membership functions of the fuzzy strategy detection (Tomić 2018, chapter 5); all from 0 to 1.
# Speeds: Gaussian, [centre, width]. Distances: Z-shaped, [last value with membership 1, first with 0].
# Outputs: the place of the term's peak, which alone counts for the weighted average.
"""


@dataclass(frozen=True)
class Memberships:
    """Parameters of the membership functions of all terms, in the order of INPUT_TERMS and OUTPUT_TERMS."""

    # Two parameters of each term: centre and width of a Gaussian for speeds; for distances the values at
    # which a Z-shape leaves 1 and reaches 0.
    inputs: Mapping[str, tuple[tuple[float, float], ...]]
    outputs: Mapping[str, tuple[float, ...]]  # Peak of each term.


INITIAL_MEMBERSHIPS = Memberships(
    {
        name: (
            ((0.2, 0.4), (0.4, 0.8))
            if name in DISTANCES
            else tuple((float(centre), 0.2) for centre in np.linspace(0.0, 1.0, len(INPUT_TERMS[name])))
        )
        for name in INPUT_TERMS
    },
    dict.fromkeys(OUTPUTS, (0.05, 0.25, 0.5, 0.75, 0.95)),
)
"""Terms spread evenly, from which tuning starts: the thesis prints no numbers but XB's 0.95 (§5.3.1)."""


def flatten_memberships(memberships: Memberships) -> Array:
    """Write the parameters one after the other.

    `memberships`: parameters of all terms. Returns (p,): the same parameters: inputs, then outputs.
    """
    terms = [number for name in INPUT_TERMS for term in memberships.inputs[name] for number in term]
    return np.array([*terms, *(peak for name in OUTPUTS for peak in memberships.outputs[name])])


def unflatten_memberships(parameters: Array) -> Memberships:
    """Read parameters that `flatten_memberships` wrote.

    `parameters` (p,): parameters of inputs, then outputs. Returns parameters of all terms.
    """
    numbers = iter(parameters.tolist())
    return Memberships(
        {name: tuple((next(numbers), next(numbers)) for _ in terms) for name, terms in INPUT_TERMS.items()},
        {name: tuple(next(numbers) for _ in OUTPUT_TERMS) for name in OUTPUTS},
    )


@cache
def read_shipped_memberships() -> Memberships:
    """Read the memberships that come with simbench; the file says where its numbers are from.

    Returns parameters of all terms.
    """
    text = files("simbench.skills.fuzzy").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return _memberships(parse_yaml(text, _SHIPPED, SkillError))


def read_memberships(path: Path) -> Memberships:
    """Read a file of memberships.

    `path`: YAML file, as `write_memberships` writes it. Returns parameters of all terms. Raises SkillError
    the file cannot be read, an input, output or term is missing or unknown, or a number is not possible.
    """
    return _memberships(read_yaml(path, SkillError))


def write_memberships(memberships: Memberships, path: Path, note: str) -> None:
    """Write a file that `read_memberships` reads, rounded to 4 digits; it appears once it is whole.

    `memberships`: parameters of all terms; `path`: YAML file to be written; `note`: origin of the numbers,
    one line.
    """
    lines = [_HEAD + f"# {note}", "inputs:"]
    for name in INPUT_TERMS:
        lines.append(f"  {name}:")
        for term, parameters in zip(INPUT_TERMS[name], memberships.inputs[name], strict=True):
            lines.append(f"    {term}: [{', '.join(f'{number:.4f}' for number in parameters)}]")
    lines.append("outputs:")
    for name in OUTPUTS:
        peaks = zip(OUTPUT_TERMS, memberships.outputs[name], strict=True)
        lines.append(f"  {name}: {{{', '.join(f'{term}: {peak:.4f}' for term, peak in peaks)}}}")
    try:
        write_whole(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise SkillError(f"{path}: cannot be written: {error.strerror}") from None


def _memberships(document: YamlDocument) -> Memberships:
    """Check the content of a file of memberships."""
    source = document.name
    parts = _members(document.value, ("inputs", "outputs"), source)
    inputs, outputs = (
        _members(parts["inputs"], tuple(INPUT_TERMS), f"{source}: inputs"),
        _members(parts["outputs"], OUTPUTS, f"{source}: outputs"),
    )
    terms, peaks = {}, {}
    for name in INPUT_TERMS:
        location = f"{source}: inputs.{name}"
        given = _members(inputs[name], INPUT_TERMS[name], location)
        terms[name] = tuple(_pair(given[term], name, f"{location}.{term}") for term in INPUT_TERMS[name])
    for name in OUTPUTS:
        location = f"{source}: outputs.{name}"
        given = _members(outputs[name], OUTPUT_TERMS, location)
        peaks[name] = tuple(_unit(given[term], f"{location}.{term}") for term in OUTPUT_TERMS)
        if not 0.0 < peaks[name][0] < peaks[name][-1] or sorted(peaks[name]) != list(peaks[name]):
            raise SkillError(f"{location}: peaks must be above 0 and ascend from {' to '.join(OUTPUT_TERMS)}")
    return Memberships(terms, peaks)


def _members(content: Any, names: tuple[str, ...], location: str) -> dict[str, Any]:
    """Check that content is a mapping with exactly these keys."""
    if not isinstance(content, dict) or set(content) != set(names):
        raise SkillError(f"{location}: must have exactly {', '.join(names)}")
    return content


def _pair(given: Any, name: str, location: str) -> tuple[float, float]:
    if not isinstance(given, list) or len(given) != 2:
        raise SkillError(f"{location}: must be two numbers")
    first, second = (_unit(number, location) for number in given)
    width = second - first if name in DISTANCES else second
    if width < NARROWEST - 1e-9:
        raise SkillError(f"{location}: {given} is narrower than {NARROWEST}")
    return first, second


def _unit(number: Any, location: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= 1.0:
        raise SkillError(f"{location}: {number!r} is not a number from 0 to 1")
    return float(number)
