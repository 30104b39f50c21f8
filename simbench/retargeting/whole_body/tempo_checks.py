"""What a motion at the recorded tempo needs of legs, motors and soles, beside what it may use of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.standing.ground_reaction import standing_inertia, standing_torques
from simbench.balance.standing.standing import leg_columns, solve_com_ik
from simbench.balance.standing.standing_profile import ground_wrench, planned_zmp
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import AccelerationRows, PathBounds
from simbench.retargeting.timing.preserve import limit_ratios
from simbench.retargeting.whole_body.arms_and_legs import WholeBodyMotion, WholeBodyProblem
from simbench.retargeting.whole_body.zmp import inertia_onset
from simbench.robot.sides import SIDES

TORQUE_FRACTION = 0.8
"""Fraction of the motors' torques that the plan of a free motion may need; balance needs the rest."""
TORQUE_RESERVE = 0.1
"""The fraction that it may need beyond what the weight needs in the same postures."""
_TWIST_ARM = 0.1
"""Moment about the vertical that both soles hold, as a part of the weight, m: soles of 0.25 m, 0.2 m apart,
with a friction of 0.8, turn at 0.14 m."""
_ZMP_MARGIN = 0.015
"""Distance of the planned ZMP from the edge of the support polygon, m: what control and soles leave."""
_SLOW_SWAY = 0.1
"""Standard deviation of the Gaussian, s, between what the sway of the pelvis can cancel and what is too
fast for it."""
_LEAST_ROOM = 0.2
"""Fraction of a support polygon's width that may be used however narrow it is."""
_LEAST_SHARE = 0.05
"""Fraction of the allowed torque that is left to accelerations where weight and legs need it all."""
_SWAY_SHARE = 0.6
"""Fraction of the legs' speed limits that the pelvis' ups and downs may take; sway needs the rest."""
_MAX_LIFT = 0.5
"""Largest vertical acceleration of the pelvis, in units of gravity: soles keep their grip."""
_HEIGHTS, _SAME_HEIGHT = 24, 1e-6
"""Number of pelvis heights at which the legs are solved, and a range, m, in which they do not change."""


class Excess(NamedTuple):
    """Ratios to what is allowed at T samples: above 1 it is exceeded.

    Parameters
    ----------
    legs : (T,) array
        Of the fastest leg joint's speed.
    torque : (T, n) array
        Of all joints' torques.
    zmp : (T,) array
        Of the ZMP's distance from the middle of the soles, or of the moment about the vertical that they
        hold, whichever is more.
    margin : float
        Least distance of the ZMP from the edge of the support polygon, m; infinite where nothing is known.
    needed : (T, n) array
        The torques, N·m.
    allowed : (n,) array
        Torques that may be used, N·m.
    """

    legs: Array
    torque: Array
    zmp: Array
    margin: float
    needed: Array
    allowed: Array

    @property
    def worst(self) -> Array:
        """Largest ratio at each sample, (T,)."""
        return np.asarray(np.maximum(np.maximum(self.legs, self.zmp), self.torque.max(axis=1)))


def split_torques(
    problem: WholeBodyProblem,
    motion: WholeBodyMotion,
    excess: Excess,
    busy: NDArray[np.bool_],
    knots: NDArray[np.int64],
) -> tuple[Array, Array]:
    """Split torques into what accelerations of trunk and arms take of them, and the rest.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives robot, stance and time.
    motion : WholeBodyMotion
        Motion around which torques are linear.
    excess : Excess
        Its torques.
    busy : (n,) bool array
        The r joints whose torques are of interest.
    knots : (K,) int array
        Samples at which they are.

    Returns
    -------
    slopes : (K, r, m) array
        Derivatives of the torques by the accelerations, kg·m².
    rest : (K, r) array
        Torques without these accelerations: of weight, velocities, and the legs' own motion, N·m.
    """
    seated = problem.placement.stance.seated
    slopes = standing_inertia(
        problem.robot, motion.base[knots], motion.joints[knots], problem.columns, seated=seated
    )[:, busy]
    upper = motion.joints[:, problem.columns]
    acceleration = np.gradient(np.gradient(upper, problem.time, axis=0), problem.time, axis=0)[knots]
    return slopes, excess.needed[knots][:, busy] - (slopes @ acceleration[:, :, None])[:, :, 0]


def limit_torques(slopes: Array, rest: Array, most: Array) -> AccelerationRows:
    """Limit torques that are linear in accelerations; without accelerations all limits hold.

    Parameters
    ----------
    slopes : (K, r, m) array
        Derivatives of the torques by the accelerations, kg·m².
    rest : (K, r) array
        Torques without accelerations, N·m.
    most : (K, r) array
        Largest torques, N·m.

    Returns
    -------
    AccelerationRows
        Limits for `solve_bounded_path`.
    """
    least = _LEAST_SHARE * most
    return AccelerationRows(slopes, np.minimum(-most - rest, -least), np.maximum(most - rest, least))


def both_legs(problem: WholeBodyProblem) -> NDArray[np.int64]:
    """Find the columns of both legs' joints.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives the robot.

    Returns
    -------
    (l,) int array
        Columns among the robot's joints.
    """
    return np.concatenate([leg_columns(problem.robot, side) for side in SIDES])


def lift_limits(problem: WholeBodyProblem) -> tuple[Array, Array]:
    """Find the vertical speed and acceleration of the pelvis that speeds and torques of the legs allow.

    Parameters
    ----------
    problem : WholeBodyProblem
        Gives robot, stance and the desired pelvis height.

    Returns
    -------
    speed : (T,) array
        Greatest vertical speed, m/s.
    acceleration : (T,) array
        Greatest vertical acceleration, m/s².
    """
    robot, stance, height = problem.robot, problem.placement.stance, problem.pelvis_height
    low, high = min(float(height.min()), 0.0), max(float(height.max()), 0.0)
    if stance.seated or high - low < _SAME_HEIGHT:
        return np.ones(len(height)), np.full(len(height), _MAX_LIFT * GRAVITY)
    heights = np.linspace(low, high, _HEIGHTS)
    still = np.tile(stance.joints, (len(heights), 1))
    base, joints = solve_com_ik(robot, stance, still, height=heights)
    legs = both_legs(problem)
    slope = np.abs(CubicSpline(heights, joints[:, legs]).derivative()(heights))
    speed = (_SWAY_SHARE * problem.speed_limit[legs] / np.maximum(slope, 1e-9)).min(axis=1)
    torque = standing_torques(robot, heights - low, base, joints, inertia=False)[:, legs]
    share = (np.abs(torque) / robot.motors.torque_limit[legs]).max(axis=1)
    # The legs' torques grow with the force that they carry.
    left = (torque_reserve(share) - share) / np.maximum(share, 1e-3)
    acceleration = GRAVITY * np.minimum(_MAX_LIFT, left)
    return np.interp(height, heights, speed), np.interp(height, heights, acceleration)


def torque_reserve(still: Array) -> Array:
    """Find the torques that a motion may need: more where its weight alone needs much.

    Parameters
    ----------
    still : (..., n) array
        Largest torques that the weight needs, as fractions of the motors'.

    Returns
    -------
    (..., n) array
        Fractions of the motors' torques.
    """
    return np.maximum(TORQUE_FRACTION, still + TORQUE_RESERVE)


def examine(problem: WholeBodyProblem, motion: WholeBodyMotion) -> Excess:
    """Compare the legs' speeds, all torques and the ZMP with what is allowed, sample by sample.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, stance, limits and time.
    motion : WholeBodyMotion
        The motion at the recorded tempo.

    Returns
    -------
    Excess
        Ratios to what is allowed. Of a seated robot only the torques count; without embedding legs do not
        react to the upper body, and its ZMP does not count.
    """
    robot, time, stance = problem.robot, problem.time, problem.placement.stance
    torque = standing_torques(robot, time, motion.base, motion.joints, inertia=True, seated=stance.seated)
    still = standing_torques(robot, time, motion.base, motion.joints, inertia=False, seated=stance.seated)
    allowed = robot.motors.torque_limit * torque_reserve(
        np.abs(still).max(axis=0) / robot.motors.torque_limit
    )
    ratio, none = np.abs(torque) / allowed, np.zeros(len(time))
    if stance.seated:
        return Excess(none, ratio, none, np.inf, torque, allowed)
    legs = both_legs(problem)
    anywhere = np.full(len(legs), np.inf)
    bounds = PathBounds(-anywhere, anywhere, problem.speed_limit[legs], anywhere)
    speed, _ = limit_ratios(time, motion.joints[:, legs], bounds)
    if not problem.placement.embedding:
        return Excess(speed.max(axis=1), ratio, none, np.inf, torque, allowed)
    # The soles turn on the floor before the ZMP leaves them.
    wrench, _ = ground_wrench(robot, time, motion.base, motion.joints)
    middle = np.append(stance.target, 0.0)
    twist = np.abs(wrench[:, 5] - np.cross(middle, wrench[:, :3])[:, 2]) / (_TWIST_ARM * wrench[:, 2])
    normals, room = _support(problem)
    inside = normals @ (_zmp_without_leads(problem, motion) - stance.target).T
    return Excess(
        speed.max(axis=1),
        ratio,
        np.maximum((inside / np.maximum(room - _ZMP_MARGIN, _LEAST_ROOM * room)[:, None]).max(axis=0), twist),
        float((room[:, None] - inside).min()),
        torque,
        allowed,
    )


def _zmp_without_leads(problem: WholeBodyProblem, motion: WholeBodyMotion) -> Array:
    """ZMP (T, 2) of a motion, m: at both ends without what the sway of leads, planned later, takes away.

    That sway is slow; what is faster stays.
    """
    robot, time = problem.robot, problem.time
    zmp, _ = planned_zmp(robot, time, motion.base, motion.joints, None, inertia_onset(time))
    whole, _ = planned_zmp(robot, time, motion.base, motion.joints)
    samples = (len(time) - 1) / (time[-1] - time[0])
    left = whole - zmp
    return np.asarray(zmp + left - gaussian_filter1d(left, _SLOW_SWAY * samples, axis=0, mode="nearest"))


def _support(problem: WholeBodyProblem) -> tuple[Array, Array]:
    """Find the edges of the support polygon: outward normals (E, 2), and distances from its middle, m."""
    stance, robot = problem.placement.stance, problem.robot
    corners = [stance.soles[side].act(corner) for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    hull = ConvexHull(np.array(corners)[:, :2] - stance.target)
    return hull.equations[:, :2], -hull.equations[:, 2]
