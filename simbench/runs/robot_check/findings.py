"""Findings of a robot check: a number, its limit, and the verdict that follows."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

Verdict = Literal["yes", "marginal", "no"]
Ability = Literal["stand", "reach", "step", "track"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ABILITIES: tuple[Ability, ...] = get_args(Ability)


class Limits(NamedTuple):
    """Bounds of a number."""

    good: float  # The number is good from here on.
    bad: float  # it is bad beyond this. If `bad` is above `good`, smaller numbers are better.

    def judge(self, value: float) -> Verdict:
        """Compare a number with the limits. Returns `yes`, `marginal` or `no`."""
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
    """One thing that was looked at."""

    ability: Ability  # What it speaks for or against: `stand`, `reach`, `step` or `track`.
    name: str  # What it is, with the unit as suffix, such as `cog_margin_m`.
    verdict: Verdict  # `yes`, `marginal` or `no`.
    value: float | None  # The number; None where there is none.
    limit: str  # What the number must be; empty where there is none.
    reason: str  # What the number means here, in one line.
    simulated: bool = False  # Whether it was measured in a simulation.

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values. Returns value by field."""
        return asdict(self)


def judge(ability: Ability, name: str, value: float, limits: Limits, reason: str) -> Finding:
    """Make a finding of a number and its limits.

    `ability`: `stand`, `reach`, `step` or `track`; `name`: what the number is, with the unit as suffix;
    `reason`: what the number means here, in one line.
    """
    return Finding(ability, name, limits.judge(value), value, str(limits), reason)


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the worst of several verdicts. `verdicts`: at least one verdict."""
    return max(verdicts, key=VERDICTS.index)
