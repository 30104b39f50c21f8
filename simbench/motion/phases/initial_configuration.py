"""The initial configuration phase: arms held horizontally forward, palms down."""

import numpy as np

from simbench.motion.anatomy import mean_frame
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.motion.phases.hand_trajectory import HandTrajectory
from simbench.motion.phases.minimum_jerk_fit import fit_minimum_jerk
from simbench.motion.phases.stops import Stops

# Arms that are held forward sway at up to this speed, m/s.
SWAYING = 0.05
# The initial configuration is held for at least this time (s), with the arms within this angle (rad) of
# horizontal and the limbs within this angle of the recording's initial pose.
SHORTEST_HOLD, LEVEL_ANGLE, POSE_ANGLE = 0.3, np.radians(25.0), np.radians(35.0)


def find_initial_configuration(
    motion: HumanMotion, hands: HandTrajectory, found: Stops, candidates: int
) -> tuple[float, float] | None:
    """Find the first time for which the initial configuration is held.

    `motion`: the recording; `found`: stops of the hands; `candidates`: number of stops, from the first on, at
    which the configuration may be held. Returns start of the hold and onset of the movement that ends it, s;
    None if there is none.
    """
    # First sample of the rest in which each sample lies: the one after the last that moves.
    moving = np.where(hands.speed > SWAYING, np.arange(1, len(hands.speed) + 1), 0)
    rests = np.maximum.accumulate(moving)
    for k in range(candidates):
        stop = int(found.stops[k])
        first = int(rests[stop])
        if not (first <= stop and _arms_forward(motion, slice(first, stop + 1))):
            continue
        # The hands may start to rotate or to descend before they arrive.
        onset = fit_minimum_jerk(hands, stop, int(found.peaks[k]), int(found.stops[k + 1]), rising=True)[0]
        span = float(hands.time[first]), onset
        if span[1] - span[0] >= SHORTEST_HOLD:
            return span
    return None


def _arms_forward(motion: HumanMotion, still: slice) -> bool:
    """Whether arms are horizontal and all limbs are as in the initial pose, on average over samples."""
    for side in recorded_arms(motion):
        joints = {
            name: motion.joints[f"{side}_{name}"][still].mean(axis=0)
            for name in ("shoulder", "elbow", "wrist")
        }
        reach = joints["wrist"] - joints["shoulder"]
        if abs(reach[2]) > np.sin(LEVEL_ANGLE) * np.linalg.norm(reach):
            return False
        for proximal, distal in (("shoulder", "elbow"), ("elbow", "wrist")):
            limb = joints[distal] - joints[proximal]
            target = motion.initial.joints[f"{side}_{distal}"] - motion.initial.joints[f"{side}_{proximal}"]
            if limb @ target < np.cos(POSE_ANGLE) * np.linalg.norm(limb) * np.linalg.norm(target):
                return False
        hand = mean_frame(motion.segments[f"{side}_hand"][still])[:3, :3]
        rotation = hand @ motion.initial.segments[f"{side}_hand"][:3, :3].T
        if np.trace(rotation) < 1.0 + 2.0 * np.cos(POSE_ANGLE):
            return False
    return True
