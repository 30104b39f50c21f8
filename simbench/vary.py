"""What a sweep varies, as it is written on the command line: `key=a,b,c` or `key=a..b`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from simbench.errors import ScenarioError, StudyError
from simbench.runs.scenario.yaml_source import parse_list

MOST = 10_000
"""Runs of one sweep: the scenario of each is checked before the first begins."""
_RANGE = re.compile(r"(?P<stem>.*[a-z]{2}.*?|)(?P<first>\d+|(?<!.)-\d+)\.\.(?P<last>-?\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Varied:
    """A key of a scenario and the values it takes.

    Parameters
    ----------
    key : str
        Dotted, such as `fixtures.0.mass_kg`.
    texts : tuple of str
        The values as written, which is how overrides are given.
    values : tuple
        The values as YAML reads them.
    """

    key: str
    texts: tuple[str, ...]
    values: tuple[Any, ...]


def parse_vary(text: str) -> Varied:
    """Read what is to be varied.

    Parameters
    ----------
    text : str
        `key=a,b,c`, each a YAML value. A range of whole numbers, both ends included, is as many values:
        `seed=1..20`, `motion.source=actor:valves:1..19`.

    Returns
    -------
    Varied

    Raises
    ------
    StudyError
        If it is not of this form, or has no value, or more than `MOST`.
    """
    key, equals, listed = text.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise StudyError(f"--vary {text}: must be key=a,b,c or key=a..b, for example seed=1..20")
    try:
        pairs = [pair for own, value in parse_list(listed) for pair in _expanded(text, own, value)]
    except ScenarioError as error:
        raise StudyError(f"--vary {text}: {error}") from None
    if not pairs:
        raise StudyError(f"--vary {text}: gives no value")
    return Varied(key, tuple(own for own, _ in pairs), tuple(value for _, value in pairs))


def _expanded(text: str, own: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of a range; any other value, one in quotes too, is itself."""
    found = _RANGE.fullmatch(own)
    if found is None or own != value:
        yield own, value
        return
    stem, first, last = found["stem"], int(found["first"]), int(found["last"])
    if not 0 <= last - first < MOST:
        raise StudyError(f"--vary {text}: {own} must go up, by at most {MOST} values")
    for number in range(first, last + 1):
        yield f"{stem}{number}", f"{stem}{number}" if stem else number
