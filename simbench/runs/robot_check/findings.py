"""Findings of a robot check: a number, its limit, and the verdict that follows."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

Verdict = Literal["yes", "marginal", "no"]
Ability = Literal["stand", "reach", "step", "track"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ABILITIES: tuple[Ability, ...] = get_args(Ability)


class Limits(NamedTuple):
    """Bounds of a number.

    Parameters
    ----------
    good : float
        The number is good from here on.
    bad : float
        It is bad beyond this. If `bad` is above `good`, smaller numbers are better.
    """

    good: float
    bad: float

    def judge(self, value: float) -> Verdict:
        """Compare a number with the limits.

        Parameters
        ----------
        value : float
            The number.

        Returns
        -------
        str
            `yes`, `marginal` or `no`.
        """
        sign = 1.0 if self.good >= self.bad else -1.0
        if sign * value >= sign * self.good:
            return "yes"
        return "marginal" if sign * value >= sign * self.bad else "no"

    def __str__(self) -> str:
        """Write the limits, such as `≥ 0.95, no below 0.7`."""
        larger = self.good >= self.bad
        beyond = "below" if larger else "above"
        more = "" if self.good == self.bad else f", no {beyond} {self.bad:.3g}"
        return f"{'≥' if larger else '≤'} {self.good:.3g}{more}"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    ability : str
        What it speaks for or against: `stand`, `reach`, `step` or `track`.
    name : str
        What it is, with the unit as suffix, such as `cog_margin_m`.
    verdict : str
        `yes`, `marginal` or `no`.
    value : float or None
        The number; None where there is none.
    limit : str
        What the number must be; empty where there is none.
    reason : str
        What the number means here, in one line.
    simulated : bool
        Whether it was measured in a simulation.
    """

    ability: Ability
    name: str
    verdict: Verdict
    value: float | None
    limit: str
    reason: str
    simulated: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values.

        Returns
        -------
        dict
            Value by field.
        """
        return asdict(self)


def judge(ability: Ability, name: str, value: float, limits: Limits, reason: str) -> Finding:
    """Make a finding of a number and its limits.

    Parameters
    ----------
    ability : str
        `stand`, `reach`, `step` or `track`.
    name : str
        What the number is, with the unit as suffix.
    value : float
        The number.
    limits : Limits
        Its limits.
    reason : str
        What the number means here, in one line.

    Returns
    -------
    Finding
        The finding.
    """
    return Finding(ability, name, limits.judge(value), value, str(limits), reason)


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the worst of several verdicts.

    Parameters
    ----------
    verdicts : list of str
        At least one verdict.

    Returns
    -------
    str
        The worst.
    """
    return max(verdicts, key=VERDICTS.index)
