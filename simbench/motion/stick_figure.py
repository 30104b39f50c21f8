"""A recorded body as lines on a screen: which joints are connected, and where a camera sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.robot.sides import SIDES

# The camera stands in front of the actor and this much to their left.
AZIMUTH = np.radians(40.0)
SCREEN_RIGHT = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
# From the wrist to the middle of the fingers, m.
HAND_LENGTH = 0.12
ARM = ("shoulder", "elbow", "wrist", "fingers")
LEG = ("hip", "knee", "ankle", "toe")
HEEL = ("ankle", "heel", "toe")
SPINE = ("mid_hip", "pelvis", "chest", "mid_shoulder", "neck", "head")


@dataclass(frozen=True)
class Chain:
    """Connected joints.

    Parameters
    ----------
    side : str
        `left`, `right`, or empty for the middle of the body.
    arm : bool
    across, up : (T, N) array
        Where a camera in front of the actor and to their left sees N joints: m to the right of the body's
        middle in the same frame, and m above the floor.
    """

    side: str
    arm: bool
    across: Array
    up: Array


def stick_figure(motion: HumanMotion) -> list[Chain]:
    """Connect what is recorded of a body; the farther side comes first.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    list of Chain
    """
    points = dict(motion.joints)
    for side in recorded_arms(motion):
        hand = motion.segments[f"{side}_hand"]
        points[f"{side}_fingers"] = points[f"{side}_wrist"] + HAND_LENGTH * hand[:, :3, 0]
    for joint in ("hip", "shoulder"):
        pair = [points[f"{side}_{joint}"] for side in SIDES if f"{side}_{joint}" in points]
        if len(pair) == 2:
            points[f"mid_{joint}"] = np.mean(pair, axis=0)
    middle = next(points[name] for name in ("pelvis", "mid_hip", "mid_shoulder", *points) if name in points)

    def chain(names: Sequence[str], side: str = "", *, arm: bool = False) -> list[Chain]:
        recorded = [points[name] for name in names if name in points]
        if len(recorded) < 2:
            return []
        positions = np.stack(recorded, axis=1)
        return [Chain(side, arm, (positions - middle[:, None]) @ SCREEN_RIGHT, positions[..., 2])]

    chains = chain(SPINE)
    for joint in ("hip", "shoulder"):
        chains += chain([f"{side}_{joint}" for side in SIDES])
    for side in ("right", "left"):
        chains += chain([f"{side}_{joint}" for joint in LEG], side)
        if f"{side}_heel" in points:
            chains += chain([f"{side}_{joint}" for joint in HEEL], side)
        chains += chain([f"{side}_{joint}" for joint in ARM], side, arm=True)
    return chains
