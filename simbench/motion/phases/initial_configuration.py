"""The initial configuration phase: arms horizontally forward, palms down, still."""

import numpy as np

from simbench.motion.anatomy import mean_frame
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.motion.phases.hand_path import HandPath
from simbench.motion.phases.minimum_jerk_fit import fit_bell
from simbench.motion.phases.stops import Stops

# Arms stretched forward sway this fast, m/s.
SWAYING = 0.05
# The initial configuration is still for at least this time (s) with the arms this near to horizontal and the
# limbs this near to the recording's initial pose.
SHORTEST_STILLNESS, LEVEL, NEAR = 0.3, np.radians(25.0), np.radians(35.0)


def find_initial_configuration(
    motion: HumanMotion, path: HandPath, found: Stops, candidates: int
) -> tuple[float, float] | None:
    """Find the first stillness in the initial configuration.

    Parameters
    ----------
    motion : HumanMotion
    path : HandPath
        Of this motion.
    found : Stops
        In this path.
    candidates : int
        Number of stops, from the first on, at which it may be.

    Returns
    -------
    (float, float) or None
        Start of the stillness and onset of the movement that ends it, s.
    """
    for k in range(candidates):
        stop = int(found.stops[k])
        moving = np.flatnonzero(path.speed[: stop + 1] > SWAYING)
        first = int(moving[-1]) + 1 if moving.size else 0
        if not (first <= stop and _arms_forward(motion, slice(first, stop + 1))):
            continue
        # The hands may start to turn or to descend before they arrive.
        onset = fit_bell(path, stop, int(found.peaks[k]), int(found.stops[k + 1]), rising=True)[0]
        span = float(path.time[first]), onset
        if span[1] - span[0] >= SHORTEST_STILLNESS:
            return span
    return None


def _arms_forward(motion: HumanMotion, still: slice) -> bool:
    """Whether arms are horizontal and all limbs as in the initial pose, on average over samples."""
    for side in recorded_arms(motion):
        joints = {
            name: motion.joints[f"{side}_{name}"][still].mean(axis=0)
            for name in ("shoulder", "elbow", "wrist")
        }
        reach = joints["wrist"] - joints["shoulder"]
        if abs(reach[2]) > np.sin(LEVEL) * np.linalg.norm(reach):
            return False
        for proximal, distal in (("shoulder", "elbow"), ("elbow", "wrist")):
            limb = joints[distal] - joints[proximal]
            wanted = motion.initial.joints[f"{side}_{distal}"] - motion.initial.joints[f"{side}_{proximal}"]
            if limb @ wanted < np.cos(NEAR) * np.linalg.norm(limb) * np.linalg.norm(wanted):
                return False
        hand = mean_frame(motion.segments[f"{side}_hand"][still])[:3, :3]
        turn = hand @ motion.initial.segments[f"{side}_hand"][:3, :3].T
        if np.trace(turn) < 1.0 + 2.0 * np.cos(NEAR):
            return False
    return True
