"""A synthetic person who walks, steps on the spot or stands: where the feet stand and when is known."""

import numpy as np

from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.human_motion import HumanMotion, InitialPose
from simbench.robot.sides import SIDES

RATE = 100.0
THIGH, SHANK, ANKLE, FOOT = 0.42, 0.40, 0.08, 0.18
"""Lengths of the person's segments and height of the ankle, m."""
WIDTH = 0.16
"""Distance of the feet across the heading, m."""


def walk(
    length: float = 0.6,
    period: float = 0.6,
    double: float = 0.12,
    steps: int = 4,
    *,
    rest: float = 0.5,
    stairs: float = 0.0,
) -> HumanMotion:
    """Let a person stand, take steps of a length (m), left first, and stand.

    Step k lifts at rest + double + k · period and lands period − double later; each foot lands `length` ahead
    of the other one, the last one beside it. With stairs each step is that much higher, m.
    """
    swing = period - double
    duration = 2.0 * rest + double + steps * period
    time = np.arange(round(duration * RATE) + 1) / RATE
    ankle = {side: np.zeros((len(time), 3)) for side in SIDES}
    for sign, side in ((1.0, "left"), (-1.0, "right")):
        ankle[side][:] = [0.0, 0.5 * sign * WIDTH, ANKLE]
    place = {"left": 0.0, "right": 0.0}
    for step in range(steps):
        side, other = SIDES[step % 2], SIDES[1 - step % 2]
        lift = rest + double + step * period
        target = place[other] + (0.0 if step == steps - 1 and steps > 1 else length)
        progress = minimum_jerk(time, lift, swing)
        ankle[side][:, 0] += progress * (target - place[side])
        phase = np.clip((time - lift) / swing, 0.0, 1.0)
        ankle[side][:, 2] += 0.12 * np.sin(np.pi * phase) ** 2 + stairs * progress
        place[side] = target
    middle = 0.5 * (ankle["left"] + ankle["right"])
    pelvis = middle * [1.0, 0.0, 0.0] + [0.0, 0.0, THIGH + SHANK + ANKLE - 0.05]
    pelvis[:, 2] += middle[:, 2] - ANKLE if stairs else 0.0
    return person(time, pelvis, ankle)


def person(time: np.ndarray, pelvis: np.ndarray, ankle: dict[str, np.ndarray]) -> HumanMotion:
    """Put a body on ankles, its pelvis at a place, the arms hanging."""
    joints: dict[str, np.ndarray] = {"pelvis": pelvis}
    joints["neck"] = pelvis + np.array([0.0, 0.0, 0.5])
    for sign, side in ((1.0, "left"), (-1.0, "right")):
        across = np.array([0.0, sign, 0.0])
        hip = pelvis + 0.09 * across
        foot = ankle[side]
        joints |= {
            f"{side}_hip": hip,
            f"{side}_knee": hip + (THIGH / (THIGH + SHANK)) * (foot - hip),
            f"{side}_ankle": foot,
            f"{side}_heel": foot + np.array([-0.05, 0.0, -ANKLE]),
            f"{side}_toe": foot + np.array([FOOT - 0.05, 0.0, -ANKLE]),
            f"{side}_shoulder": joints["neck"] + 0.18 * across,
            f"{side}_elbow": joints["neck"] + 0.18 * across - [0.0, 0.0, 0.29],
            f"{side}_wrist": joints["neck"] + 0.18 * across - [0.0, 0.0, 0.54],
        }
    frame = np.tile(np.eye(4), (len(time), 1, 1))
    segments = {"trunk": frame, "pelvis": frame}
    initial = {name: track[0].copy() for name, track in joints.items()}
    for side in SIDES:
        for part in ("upper_arm", "forearm", "hand"):
            segments[f"{side}_{part}"] = frame
        shoulder = initial[f"{side}_shoulder"]
        initial[f"{side}_elbow"] = shoulder + np.array([0.29, 0.0, 0.0])
        initial[f"{side}_wrist"] = shoulder + np.array([0.54, 0.0, 0.0])
    pose = InitialPose(initial, {name: np.eye(4) for name in segments})
    return HumanMotion(time, joints, segments, pose, "walker")
