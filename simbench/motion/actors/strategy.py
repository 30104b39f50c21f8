"""How a virtual actor resolves redundancy: the hidden mixture of criteria behind every recording."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import SPINE_JOINTS

CRITERIA = ("energy", "velocity", "ergonomy", "manipulability")
"""Order of Tomić (2018), table 4.2."""

# Posture that the ergonomics criterion prefers: q_erg of Tomić (2018, ch. 4) in the person's own joints,
# wrist in neutral (its 15 degrees are of the robot's hand).
ERGONOMIC = np.radians([0.0] * len(SPINE_JOINTS) + [20.0, 10.0, 10.0, 80.0, 40.0, -10.0, -5.0] * 2)

# The thesis prints p = 1e6, with which this criterion alone would move this model's joints at 500 rad/s:
# det(J Jᵀ) has the unit of the model's size to a high power. With this p it moves them at most 0.2 rad/s.
MANIPULABILITY_GAIN = 400.0

# How many of 15 actors were dominated by what, by task: Tomić (2018), ch. 4. The hand drill was not part of
# that count; it has the grater's.
DOMINANT: dict[str, dict[str, float]] = {
    "drawer": {"velocity": 9, "manipulability": 6},
    "valves": {"manipulability": 9, "velocity": 4, "ergonomy": 2},
    "steering_wheel": {"energy": 13, "velocity": 2},
    "pump": {"energy": 9, "velocity": 2, "ergonomy": 2, "manipulability": 2},
    "knife": {"velocity": 10, "manipulability": 2, "ergonomy": 2},
    "grater": {"energy": 10, "ergonomy": 4, "manipulability": 1},
    "canoe_paddles": {"velocity": 5, "manipulability": 3, "energy": 3, "ergonomy": 2},
    "hand_drill": {"energy": 10, "ergonomy": 4, "manipulability": 1},
}
# Weight of the dominant criterion. Ergonomics enters equation 4.23 with the frame period as a factor, so
# that it only shows when it has almost all the weight.
DOMINANT_WEIGHT, DOMINANT_ERGONOMY_WEIGHT = (0.70, 0.90), 0.995


@dataclass(frozen=True)
class ActorStrategy:
    """The strategy of a virtual actor: a mixture of criteria and a habit."""

    # `energy`, `velocity`, `ergonomy`, `manipulability`: weights k of Tomić (2018), equation 4.23, not
    # negative, sum 1.
    energy: float
    velocity: float
    ergonomy: float
    manipulability: float
    # Rate at which a person returns to the posture they began the task with, 1/s: without it, resolving
    # redundancy frame by frame drifts from one repetition to the next.
    memory: float = 0.6

    @property
    def weights(self) -> Array:
        """The weights (4,) in the order of `CRITERIA`."""
        return np.array([getattr(self, name) for name in CRITERIA])

    @property
    def dominant(self) -> str:
        """The criterion with the greatest weight."""
        return CRITERIA[int(np.argmax(self.weights))]


EVEN = ActorStrategy(energy=0.0, velocity=1.0, ergonomy=0.0, manipulability=0.0)
"""Least joint motion, as the pseudo-inverse gives it."""
FRUGAL = ActorStrategy(energy=0.85, velocity=0.15, ergonomy=0.0, manipulability=0.0, memory=0.1)
"""Little kinetic energy: arms work, the heavy trunk hardly moves. The average person's."""


def deal_strategies(task: str, generators: Iterable[np.random.Generator]) -> tuple[ActorStrategy, ...]:
    """Draw the mixtures of people so that criteria dominate in exactly as many as in the thesis.

    They are dealt like cards, one for each of the thesis's actors: the first people draw freely, the last get
    what is left; after the last card a new pack is opened. `task`: A key of `DOMINANT`; `generators`: one for
    each person. Returns one for each person.
    """
    left: dict[str, float] = {}
    dealt = []
    for rng in generators:
        if not any(left.values()):
            left = dict(DOMINANT[task])
        dealt.append(draw_strategy(task, rng, left))
        left[dealt[-1].dominant] -= 1
    return tuple(dealt)


def draw_strategy(
    task: str, rng: np.random.Generator, left: Mapping[str, float] | None = None
) -> ActorStrategy:
    """Draw a person's mixture for a task.

    `task`: A key of `DOMINANT`; `rng`: all variation comes from it; `left`: criterion to the number of people
    whom it is still to dominate; by default without limit. Returns the dominant criterion is drawn as often
    as in the thesis, the others divide the rest at random.
    """
    dominant = _draw(DOMINANT[task], rng)
    if left is not None and not left[dominant]:
        dominant = _draw(left, rng)
    weight, rest = float(rng.uniform(*DOMINANT_WEIGHT)), rng.dirichlet(np.ones(len(CRITERIA) - 1))
    if dominant == "ergonomy":
        weight = DOMINANT_ERGONOMY_WEIGHT
    others = dict(zip((name for name in CRITERIA if name != dominant), (1.0 - weight) * rest, strict=True))
    # A little joint motion always counts: energy alone would leave the work to the weightless wrists.
    if dominant == "energy":
        moved = 0.5 * others["manipulability"]
        others["manipulability"] -= moved
        others["velocity"] += moved
    return ActorStrategy(**{dominant: weight}, **others, memory=float(rng.uniform(0.4, 0.8)))


def _draw(counts: Mapping[str, float], rng: np.random.Generator) -> str:
    chances = np.array(list(counts.values())) / sum(counts.values())
    return list(counts)[int(rng.choice(len(counts), p=chances))]
