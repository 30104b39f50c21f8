"""Synthetic recordings of repetitions whose beginnings and ends are known, in closed form."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HumanMotion, InitialPose, transform, validate_motion

SHOULDERS = np.array([[0.0, 0.18, 1.4], [0.0, -0.18, 1.4]])
FORWARD = SHOULDERS + np.array([0.54, 0.0, 0.0])
UPPER_ARM, FOREARM = 0.30, 0.25
POSITION_NOISE, ANGLE_NOISE, SWAY = 0.4e-3, np.radians(0.2), 3e-3


@dataclass(frozen=True)
class Made:
    motion: HumanMotion
    boundaries: np.ndarray
    transition: float
    grasped: float


def progress(time, start, duration):
    s = np.clip((time - start) / duration, 0.0, 1.0)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def straight(direction, both=True):
    """Back and forth along a line."""
    moved = np.array([1.0, 1.0 if both else 0.0])[:, None] * np.asarray(direction)

    def place(value):
        return value[:, None, None] * moved, np.zeros((len(value), 2, 3))

    return place


def uneven(length, unevenness):
    """Back and forth along a line, faster in its first half by a share."""

    def place(value):
        moved = value + unevenness * value * (1.0 - value / length)
        return np.tile(moved[:, None, None] * np.array([1.0, 0.0, 0.0]), (1, 2, 1)), np.zeros(
            (len(value), 2, 3)
        )

    return place


def crank(radius, normal, both=True, turning=True):
    """The hand on a crank or wheel, turned by `value` (rad) about the normal."""
    normal = np.asarray(normal, dtype=float)
    arm = np.cross(normal, [0.3, 0.2, 1.0])
    arm *= radius / np.linalg.norm(arm)

    def place(value):
        moved = Rotation.from_rotvec(value[:, None] * normal).apply(arm) - arm
        which = np.array([1.0, 1.0 if both else 0.0])[:, None]
        turn = value[:, None] * normal * (1.0 if turning else 0.0)
        return moved[:, None] * which, turn[:, None] * which

    return place


def wheel(radius=0.15, tilt=0.52):
    """Both hands rigid on the rim, opposite each other."""
    normal = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    arms = np.array([[0.0, radius, 0.0], [0.0, -radius, 0.0]])

    def place(value):
        turn = value[:, None] * normal
        moved = np.stack([Rotation.from_rotvec(turn).apply(arm) - arm for arm in arms], axis=1)
        return moved, np.repeat(turn[:, None], 2, axis=1)

    return place


def sentence(rng, signs=6, reach=0.15):
    """Signs at random places with random turns of the hands; `value` k is sign number k, 0 neutral."""
    places = np.concatenate([np.zeros((1, 2, 3)), rng.normal(0.0, reach / np.sqrt(3), (signs, 2, 3))])
    turns = np.concatenate([np.zeros((1, 2, 3)), rng.normal(0.0, 0.3, (signs, 2, 3))])

    def place(value):
        low = np.floor(value).astype(int) % (signs + 1)
        high = (low + 1) % (signs + 1)
        share = (value - np.floor(value))[:, None, None]
        return (
            (1 - share) * places[low] + share * places[high],
            (1 - share) * turns[low] + share * turns[high],
        )

    return place


def make(
    rng,
    place,
    targets,
    repetitions=5,
    duration=(0.6, 1.6),
    pause=(0.0, 0.2),
    variation=0.03,
    rate=100.0,
    free=False,
    grasp=0.4,
    initial=1.0,
    rest=0.5,
    noise=1.0,
):
    """Initial configuration, transition, grasp, repetitions through `targets`, rest."""
    mean = rng.uniform(*duration)
    clock = initial + 1.5 + grasp
    moves, edges, value = [], [], 0.0
    for _ in range(repetitions):
        begin = clock
        for target in targets:
            # The last one comes back, exactly.
            goal = (
                target * (1 + variation * rng.normal())
                if 0 < abs(target) < 3 and len(targets) < 6
                else target
            )
            if target is targets[-1]:
                goal = target
            length = mean * (1 + variation * np.clip(rng.normal(), -2, 2))
            moves.append((clock, length, goal - value))
            clock, value = clock + length, goal
            end = clock
            clock += rng.uniform(*pause)
        value -= targets[-1]
        edges.append((begin, end))
    time = np.arange(round((end + rest) * rate) + 1) / rate
    travel = np.sum([way * progress(time, start, length) for start, length, way in moves], axis=0)
    moved, turned = place(travel)
    base = np.array([[0.4, 0.2, 1.0], [0.4, -0.2, 1.0]])
    reached = progress(time, initial, 1.5)[:, None, None]
    wrists = (1 - reached) * FORWARD + reached * base + moved
    hands = Rotation.from_rotvec((reached * np.array([[0.5, 0.0, -0.3], [-0.5, 0.0, 0.3]])).reshape(-1, 3))
    hands = Rotation.from_rotvec(turned.reshape(-1, 3)) * hands
    swaying = sway(time, rng)
    shoulders = SHOULDERS + swaying[:, None]
    wrists = wrists + (1.0 if free else 1 - reached) * swaying[:, None]
    elbows = bend(shoulders, wrists)
    edges = np.array(edges)
    boundaries = np.array([edges[0, 0], *(0.5 * (edges[:-1, 1] + edges[1:, 0])), edges[-1, 1]])
    motion = recorded(time, shoulders, elbows, wrists, hands.as_matrix().reshape(-1, 2, 3, 3), rng, noise)
    return Made(motion, boundaries, initial, initial + 1.5)


def sway(time, rng):
    frequency = rng.uniform(0.05, 0.5, (6, 3))
    phase = rng.uniform(0, 2 * np.pi, (6, 3))
    return SWAY / np.sqrt(3) * np.sin(2 * np.pi * frequency * time[:, None, None] + phase).sum(axis=1)


def bend(shoulders, wrists):
    """Elbows (T, 2, 3), below the line from shoulder to wrist."""
    line = wrists - shoulders
    length = np.linalg.norm(line, axis=2, keepdims=True)
    along = (length**2 + UPPER_ARM**2 - FOREARM**2) / (2 * length)
    down = np.array([0.0, 0.0, -1.0]) + line * line[..., 2:] / length**2
    down /= np.linalg.norm(down, axis=2, keepdims=True)
    return shoulders + along / length * line + np.sqrt(np.maximum(UPPER_ARM**2 - along**2, 0)) * down


def recorded(time, shoulders, elbows, wrists, hands, rng, noise=1.0):
    """Noisy joints and frames as a motion."""
    joints, segments = {}, {}
    still = slice(0, max(1, int(np.searchsorted(time, 0.9))))
    for k, side in enumerate(("left", "right")):
        for name, track in (("shoulder", shoulders), ("elbow", elbows), ("wrist", wrists)):
            jitter = rng.normal(0.0, noise * POSITION_NOISE, (len(time), 3))
            joints[f"{side}_{name}"] = track[:, k] + jitter
        for name, track in (("upper_arm", shoulders), ("forearm", elbows), ("hand", wrists)):
            turn = Rotation.from_rotvec(rng.normal(0.0, noise * ANGLE_NOISE, (len(time), 3))).as_matrix()
            jitter = rng.normal(0.0, noise * POSITION_NOISE, (len(time), 3))
            segments[f"{side}_{name}"] = transform(hands[:, k] @ turn, track[:, k] + jitter)
    return validate_motion(
        HumanMotion(
            time=time,
            joints=joints,
            segments=segments,
            initial=InitialPose(
                {name: track[still].mean(axis=0) for name, track in joints.items()},
                {name: frames[0] for name, frames in segments.items()},
            ),
            source="made",
        )
    )


TURN = 2 * np.pi
KINDS = {
    "drawer": lambda rng, **o: make(rng, straight([-1, 0, 0]), (rng.uniform(0.08, 0.14), 0.0), **o),
    "valves": lambda rng, **o: make(rng, crank(0.1, [0, 0, 1]), (TURN,), **o),
    "valves_free_grip": lambda rng, **o: make(rng, crank(0.1, [0, 0, 1], turning=False), (TURN,), **o),
    "canoe_paddles": lambda rng, **o: make(rng, crank(0.12, [0, 1, 0], turning=False), (TURN,), **o),
    "steering_wheel": lambda rng, **o: make(rng, wheel(), (np.pi / 2, -np.pi / 2, 0.0), **o),
    "pump": lambda rng, **o: make(rng, straight([0, 0, 1]), (rng.uniform(0.15, 0.3), 0.0), **o),
    "knife": lambda rng, **o: make(
        rng,
        straight([1, 0, -0.2], both=False),
        (rng.uniform(0.05, 0.12), 0.0),
        **{"duration": (0.4, 1.2), **o},
    ),
    "grater": lambda rng, **o: make(
        rng, straight([0.8, 0, -0.6], both=False), (rng.uniform(0.10, 0.15), 0.0), **o
    ),
    "hand_drill": lambda rng, **o: make(
        rng, crank(rng.uniform(0.05, 0.08), [0, 1, 0], both=False, turning=False), (TURN,), **o
    ),
    "waving": lambda rng, **o: make(
        rng,
        crank(0.3, [1, 0, 0], both=False),
        (0.5, -0.5, 0.0),
        **{"free": True, "rate": 60.0, "duration": (0.4, 1.0), **o},
    ),
    "sentence": lambda rng, **o: make(
        rng, sentence(rng), tuple(range(1, 8)), **{"free": True, "rate": 60.0, "duration": (0.6, 1.0), **o}
    ),
    "uneven": lambda rng, **o: make(
        rng, uneven(0.25, 0.4), (0.25, 0.0), **{"duration": (0.6, 1.0), "rate": 60.0, **o}
    ),
    "twist": lambda rng, **o: make(
        rng, crank(0.0, [1, 0, 0], both=False), (np.pi / 2, 0.0), **{"duration": (0.5, 1.2), **o}
    ),
}


@pytest.fixture(scope="session")
def record_task():
    def record(kind, seed, **options):
        return KINDS[kind](np.random.default_rng(seed), **options)

    return record
