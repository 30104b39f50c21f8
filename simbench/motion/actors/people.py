"""The people of a virtual session: bodies, habits, criteria behind their motion, and what they perform."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import AVERAGE, COMFORT, SPINE_JOINTS, HumanModel, Proportions
from simbench.motion.human_motion import Actor, HumanMotion

CRITERIA = ("energy", "velocity", "ergonomy", "manipulability")  # Order of Tomić (2018), table 4.2.

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


# Least joint motion, as the pseudo-inverse gives it.
EVEN = ActorStrategy(energy=0.0, velocity=1.0, ergonomy=0.0, manipulability=0.0)
# Little kinetic energy: arms work, the heavy trunk hardly moves. The average person's.
FRUGAL = ActorStrategy(energy=0.85, velocity=0.15, ergonomy=0.0, manipulability=0.0, memory=0.1)


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


# Tomić (2018, ch. 3): 13 men and 6 women, age 32 ± 11 years, height 1.7 ± 0.1 m.
MEN, WOMEN = 13, 6
HEIGHT, HEIGHT_DEVIATION = 1.70, 0.10
AGE, AGE_DEVIATION = 32.0, 11.0
# Mean statures of adults differ by 0.125 m between the sexes (Gordon et al. 1989: 1.629 and 1.756 m), with a
# standard deviation of about 0.065 m within one; body mass index by age and sex is an estimate.
SEX_DIFFERENCE, WITHIN_SEX = 0.127, 0.065
BODY_MASS_INDEX = {"male": (24.5, 2.5), "female": (22.5, 2.5)}
# Relative standard deviation of a segment's length at a given stature: about 4 % (Winter 2009 cites the
# spread of such ratios; ours is an estimate).
SEGMENT_SPREAD = 0.035
# How far from the equipment people chose to stand: distance from shoulder to wrist as a fraction of the
# straight arm's length.
STANCES: Mapping[str, float] = {"too near": 0.70, "well posed": 0.80, "too far": 0.92}


@dataclass(frozen=True)
class Person:
    """A participant: body and habits."""

    actor: Actor  # Name, stature, mass, sex and age.
    proportions: Proportions = AVERAGE  # Segment lengths as fractions of stature.
    stance: str = "well posed"  # A key of `STANCES`.
    # (7,): arm posture they prefer at work, rad, order of `human_model.ARM_JOINT_NAMES`.
    comfort: Array = field(default_factory=COMFORT.copy)
    tempo: float = 1.0  # Factor of the duration of everything they do.
    amplitude: float = 1.0  # Factor of how far they move what they may move as far as they like.
    lift: float = 1.0  # Factor of how much the shoulder girdle follows the arm.
    skin: float = 1.0  # Factor of the skin's motion against the bone.


AVERAGE_PERSON = Person(Actor(name="virtual_1", height=1.70, mass=70.0))


def session_people(seed: int) -> tuple[Person, ...]:
    """Draw the participants of a session.

    Returns 19, with exactly the mean and standard deviation of height and age that the thesis gives.
    """
    rng = np.random.default_rng([seed, 0])
    sexes = np.array(["male"] * MEN + ["female"] * WOMEN)
    rng.shuffle(sexes)
    shift = np.where(sexes == "male", SEX_DIFFERENCE * WOMEN, -SEX_DIFFERENCE * MEN) / (MEN + WOMEN)
    height = _with_moments(
        shift + WITHIN_SEX * np.clip(rng.normal(size=len(sexes)), -2.0, 2.0), HEIGHT, HEIGHT_DEVIATION
    )
    # Ages are skewed: students and researchers, some of them older.
    age = _with_moments(rng.gamma(2.0, size=len(sexes)).clip(0.2, 6.0), AGE, AGE_DEVIATION)
    stances = rng.permutation(np.resize(np.array(list(STANCES)), len(sexes)))
    people = []
    for k, sex in enumerate(sexes):
        mean, deviation = BODY_MASS_INDEX[str(sex)]
        index = mean + deviation * float(np.clip(rng.normal(), -2.0, 2.0))
        spread = {"hip_height": 0.015, "shoulder_height": 0.008}
        people.append(
            Person(
                actor=Actor(
                    name=f"actor_{k + 1:02d}",
                    height=round(float(height[k]), 3),
                    mass=round(index * float(height[k]) ** 2, 1),
                    sex=str(sex),
                    age=round(float(age[k])),
                ),
                proportions=Proportions(
                    **{
                        name: mean * (1.0 + spread.get(name, SEGMENT_SPREAD) * float(_mild(rng, 1)[0]))
                        for name, mean in asdict(AVERAGE).items()
                    }
                ),
                stance=str(stances[k]),
                comfort=COMFORT + np.radians([5.0, 4.0, 6.0, 6.0, 8.0, 4.0, 2.0]) * _mild(rng, 7),
                tempo=float(np.exp(0.12 * _mild(rng, 1)[0])),
                amplitude=float(np.exp(0.10 * _mild(rng, 1)[0])),
                lift=float(np.exp(0.20 * _mild(rng, 1)[0])),
                skin=float(np.exp(0.20 * _mild(rng, 1)[0])),
            )
        )
    return tuple(people)


def _mild(rng: np.random.Generator, count: int) -> Array:
    """Draw standard normal numbers within two deviations."""
    return np.clip(rng.normal(size=count), -2.0, 2.0)


def _with_moments(values: Array, mean: float, deviation: float) -> Array:
    """Shift and scale values to a mean and a (sample) standard deviation."""
    return mean + deviation * (values - values.mean()) / values.std(ddof=1)


@dataclass(frozen=True)
class ActorPerformance:
    """A recording of a virtual actor with its ground truth; all samples at `motion.time`."""

    motion: HumanMotion  # What motion capture saw: noise and skin motion included.
    human: HumanModel  # Kinematic and inertial model of the actor.
    q: NDArray[np.float64]  # (T, nq): the actor's configurations, free of noise.
    # Mapping of side to (T, 4, 4) array: palm poses in the world, free of noise: x along the fingers, z
    # dorsal.
    palms: Mapping[str, NDArray[np.float64]]
    # First and last sample of `icp` (initial configuration), `tgp` (transition and grasp), `pmp` (periodic
    # motion) and `rest`.
    phases: Mapping[str, tuple[int, int]]
    # (N + 1,): instants that part the repetitions, s: the start of the first, the middle of each stop between
    # two, the end of the last.
    boundaries: NDArray[np.float64]
    # First sample with the hands on the equipment; they stay there to the end. None in free motion.
    contact_start: int | None
    # (T,): how far the equipment has moved from where the actor found it, m (rad for what turns).
    travel: NDArray[np.float64]
    # How the actor resolved redundancy; None in free motion, where the joints themselves are prescribed.
    strategy: ActorStrategy | None
    equipment: Mapping[str, float] = field(default_factory=dict)  # The equipment's numbers, SI units.
