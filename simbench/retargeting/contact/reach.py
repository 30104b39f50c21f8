"""How far a robot's arm reaches, and where a palm goes that is farther."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.retargeting.imitation.calibration import elbow_joint
from simbench.retargeting.imitation.scaling import SegmentLengths
from simbench.robot.robot import Robot

_REACH_MARGIN = 0.02
"""Distance kept from a straight and from a folded arm during transitions, m: there joints race."""
_SOFTNESS = 0.01
"""Over which a distance bends into that limit, m."""
_OPENING = 0.01
"""How fast that limit opens toward free motion, where the posture rules, m."""


def arm_reach(model: pin.Model, robot: Robot, lengths: SegmentLengths, side: str) -> tuple[float, float]:
    """Least and greatest distance of wrist and shoulder, m, inside what the elbow allows."""
    index = model.joints[elbow_joint(model, robot, side)].idx_q
    fold = max(abs(model.lowerPositionLimit[index]), abs(model.upperPositionLimit[index]))
    a, b = lengths.upper_arm[side], lengths.forearm[side]
    folded = float(np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(fold)))
    return folded + _REACH_MARGIN, a + b - _REACH_MARGIN


def draw_in(
    palm: pin.SE3,
    shoulder: NDArray[np.float64],
    wrist: NDArray[np.float64],
    reaches: tuple[float, float],
    part: float,
) -> NDArray[np.float64]:
    """Find where a palm is when it comes along the line from wrist to shoulder until the arm can reach it.

    The distance is brought between the reaches smoothly, within a centimetre or two; toward free motion the
    reaches open.

    Parameters
    ----------
    palm : pinocchio.SE3
        Desired pose in the world.
    shoulder : (3,) array
        m, world.
    wrist : (3,) array
        The wrist in the palm's frame, m.
    reaches : (float, float)
        From `arm_reach`, m.
    part : float
        Share of the transition that is done, above 0.

    Returns
    -------
    (3,) array
        m, world.
    """
    line = palm.act(wrist) - shoulder
    distance = float(np.linalg.norm(line))
    opening = _OPENING * (1.0 / part - 1.0)
    over = (distance - reaches[1] - opening) / _SOFTNESS
    under = (reaches[0] - opening - distance) / _SOFTNESS
    wanted = distance + _SOFTNESS * float(np.logaddexp(0.0, under) - np.logaddexp(0.0, over))
    return np.asarray(palm.translation + line * (wanted / max(distance, 1e-9) - 1.0))


def wrist_in_palm(model: pin.Model, robot: Robot, side: str) -> NDArray[np.float64]:
    """Place (3,) of a wrist in its palm's frame, m."""
    palm = model.frames[model.getFrameId(robot.frames[f"{side}_hand"])]
    wrist = model.frames[model.getFrameId(robot.frames[f"{side}_wrist"])]
    return np.asarray(palm.placement.actInv(wrist.placement.translation))
