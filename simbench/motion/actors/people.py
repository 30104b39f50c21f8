"""The people of a virtual motion-capture session: bodies, habits, and where they stand."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import AVERAGE, Proportions
from simbench.motion.actors.posture import COMFORT
from simbench.motion.human_motion import Actor

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
        people.append(
            Person(
                actor=Actor(
                    name=f"actor_{k + 1:02d}",
                    height=round(float(height[k]), 3),
                    mass=round(index * float(height[k]) ** 2, 1),
                    sex=str(sex),
                    age=round(float(age[k])),
                ),
                proportions=_draw_proportions(rng),
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


def _draw_proportions(rng: np.random.Generator) -> Proportions:
    spread = {"hip_height": 0.015, "shoulder_height": 0.008}
    return Proportions(
        **{
            part.name: getattr(AVERAGE, part.name)
            * (1.0 + spread.get(part.name, SEGMENT_SPREAD) * float(_mild(rng, 1)[0]))
            for part in fields(Proportions)
        }
    )
