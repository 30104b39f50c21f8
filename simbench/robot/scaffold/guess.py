"""A guess: a key of the description, its value, the reason and the confidence."""

from dataclasses import dataclass
from typing import Literal

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Guess:
    """One guess about a robot."""

    key: str  # Key of `robot.yaml` that it is about.
    value: str  # What was written there, in short; `none` where nothing could be said.
    reason: str  # Evidence for it, or what is missing.
    confidence: Confidence  # `high`, `medium` or `low`.
