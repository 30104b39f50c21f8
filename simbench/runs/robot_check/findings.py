"""Outcome of a robot check: findings with a number, its limit and the verdict that follows."""

from collections.abc import Iterable
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


def judge(ability: Ability, name: str, value: float, limits: Limits, reason: str) -> Finding:
    """Make a finding of a number and its limits.

    `ability`: `stand`, `reach`, `step` or `track`; `name`: what the number is, with the unit as suffix;
    `reason`: what the number means here, in one line.
    """
    return Finding(ability, name, limits.judge(value), value, str(limits), reason)


@dataclass(frozen=True)
class Offer:
    """Options of a run with which a robot can do what it cannot without them."""

    ability: Ability  # What it can do with them: `stand`, `reach`, `step` or `track`.
    change: str  # What is different, such as `slower steps`.
    verdict: Verdict  # Worst of what was looked at with these options; `no` if it only comes nearest to one.
    reason: str  # The numbers that decide the verdict, in one line.
    options: tuple[str, ...]  # Each `KEY=VALUE`.
    simulated: bool  # Whether a run with these options was simulated, too.


@dataclass(frozen=True)
class RobotCheck:
    """What a robot can do, and the numbers that say so.

    Parameters
    ----------
    robot : str
        Name of the robot.
    source : str
        Where its files are from, in one line.
    kind : str
        `humanoid`, `legs without arms`, `arm`, `two arms on a fixed base`, or what else it is.
    expected : tuple of str
        What a robot of this kind should be able to do: some of `stand`, `reach`, `step`, `track`.
    findings : tuple of Finding
        What was looked at, in this order.
    notes : tuple of str
        What the robot is not, or lacks, one line each.
    bones : tuple of str
        Which joints move which bone, one line for each limb like a person's.
    offers : tuple of Offer
        What would help where a verdict is `no`; tried, the best first.
    """

    robot: str
    source: str
    kind: str
    expected: tuple[Ability, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    bones: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()

    @property
    def verdicts(self) -> dict[Ability, Verdict]:
        """Verdict on each ability that was looked at: the worst of its findings."""
        found: dict[Ability, Verdict] = {}
        for ability in ABILITIES:
            about = [finding.verdict for finding in self.findings if finding.ability == ability]
            if about:
                found[ability] = max(about, key=VERDICTS.index)
            elif ability in self.expected:
                found[ability] = "no"
        return found

    @property
    def passed(self) -> bool:
        """Whether the robot can do all that one of its kind should, if only just."""
        verdicts = self.verdicts
        return all(verdicts[ability] != "no" for ability in self.expected)

    def why(self, ability: Ability) -> str:
        """Say why a robot can do something only just or not at all.

        Parameters
        ----------
        ability : str
            One of `expected`.

        Returns
        -------
        str
            The findings that decide the verdict, in one line; empty if it is `yes`.
        """
        verdict = self.verdicts[ability]
        if verdict == "yes":
            return ""
        about = [each for each in self.findings if (each.ability, each.verdict) == (ability, verdict)]
        return join_reasons(about) if about else "not looked at, because the robot does not stand"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON.

        Returns
        -------
        dict
            Keys `robot`, `source`, `kind`, `passed`, `verdicts`, `findings`, `notes`, `bones`, `offers`.
        """
        return {
            "robot": self.robot,
            "source": self.source,
            "kind": self.kind,
            "passed": self.passed,
            "verdicts": {ability: self.verdicts[ability] for ability in self.expected},
            "findings": [asdict(finding) for finding in self.findings],
            "notes": list(self.notes),
            "bones": list(self.bones),
            "offers": [asdict(offer) for offer in self.offers],
        }


def worst_of(findings: Iterable[Finding]) -> tuple[Verdict, str]:
    """Find the worst verdict of findings, and the numbers that decide it, in one line."""
    found = [*findings]
    verdict = max((each.verdict for each in found), key=VERDICTS.index)
    return verdict, join_reasons(each for each in found if each.verdict == verdict != "yes")


def join_reasons(findings: Iterable[Finding]) -> str:
    """Write numbers with their limits, or reasons, in one line."""
    return "; ".join(
        each.reason if each.value is None else f"{each.name} {each.value:.3g} ({each.limit})"
        for each in findings
    )
