"""Whether a robot can stand: its posture, soles, torques and stiffness, without simulation."""

import numpy as np
import pinocchio as pin

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.leg_ik import Stance, height_range, leg_columns, leg_length, stand
from simbench.balance.sections import limb_sections
from simbench.balance.support import support_margin, support_polygon
from simbench.errors import BalanceError, RetargetError, RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.foot_shapes import sole_gaps
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.robot_check.findings import Finding, Limits, judge

POSTURE = "standing"
"""Posture in which a robot is checked, as scenarios name it by default."""
_GRAVITY = 9.81
_MARGIN = 0.03
"""Good distance of the COG from the edge of the soles, as a part of its height: a COG speed of this part
times √(g h) brings it to the edge."""
_TORQUE = Limits(0.7, 1.0)
_STIFFNESS = Limits(2.0, 0.25)
_LOWER = Limits(0.05, 0.0)
"""Travel of the pelvis downward, as a part of the leg's length."""
_GAP = 0.01
"""Distance between a sole and the lowest point of its foot's shapes that is too large, as a part of the leg's
length."""


def check_standing(robot: Robot) -> tuple[list[Finding], Stance | None]:
    """Judge whether a robot can stand, from its posture and its gains.

    `robot`: any robot. Returns `findings`: what speaks for and against it; `stance`: the stance; None if it
    has none.
    """
    try:
        limb_sections(robot)
        stance = stand(robot, (0.0, 0.0), 0.0, POSTURE)
    except (BalanceError, RobotError) as error:
        return [Finding("stand", "posture", "no", None, "", str(error))], None
    q = np.concatenate([stance.base, stance.joints])
    findings = [_soles(robot), _cog_margin(robot, stance, q), _torque(robot, q), _stiffness(robot, q)]
    return [*findings, _height(robot)], stance


def _soles(robot: Robot) -> Finding:
    """Distance between each sole and the lowest point of the collision shapes that carry it."""
    gaps = sole_gaps(robot)
    missing = [role for role, gap in gaps.items() if gap is None]
    limits = Limits(0.1 * _GAP * leg_length(robot), _GAP * leg_length(robot))
    if missing:
        link = robot.frames[missing[0]]
        reason = f"the foot of `{link}` has no collision shape: it would fall through the floor"
        return Finding("stand", "sole_gap_m", "no", None, str(limits), reason)
    role = max(gaps, key=lambda each: abs(gaps[each] or 0.0))
    value = abs(gaps[role] or 0.0)
    reason = f"between `{robot.frames[role]}` and the lowest point of the foot's collision shapes"
    return judge("stand", "sole_gap_m", value, limits, reason)


def _cog_margin(robot: Robot, stance: Stance, q: Array) -> Finding:
    """Distance of the COG from the edge of the polygon of the soles."""
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q)
    corners = [stance.soles[side].act(corner)[:2] for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    margin = support_margin(cog[:2], support_polygon(np.array(corners)))
    reason = (
        f"of the COG, {cog[2]:.2f} m high, from the edge of the soles; good is {_MARGIN:.0%} of its height"
    )
    return judge("stand", "cog_margin_m", margin, Limits(_MARGIN * float(cog[2]), 0.0), reason)


def _torque(robot: Robot, q: Array) -> Finding:
    """Largest part of a torque limit that standing still takes."""
    base, joints = q[None, :7], q[None, 7:]
    torque = standing_torques(robot, np.zeros(1), base, joints, inertia=False)[0]
    share = np.abs(torque) / robot.motors.torque_limit
    worst = int(share.argmax())
    name, limit = robot.joint_names[worst], robot.motors.torque_limit[worst]
    reason = f"{name} holds {abs(torque[worst]):.3g} of its {limit:.3g} N·m while the robot stands still"
    return judge("stand", "torque_fraction", float(share[worst]), _TORQUE, reason)


def _height(robot: Robot) -> Finding:
    """Travel of the pelvis downward."""
    length = leg_length(robot)
    try:
        low, high = height_range(robot, POSTURE)
    except RetargetError as error:
        return Finding("stand", "pelvis_travel_fraction", "marginal", None, str(_LOWER), str(error))
    reason = f"of the leg's {length:.3g} m: the pelvis can sink by {-low:.3g} m and rise by {high:.3g} m"
    return judge("stand", "pelvis_travel_fraction", -low / length, _LOWER, reason)


def _stiffness(robot: Robot, q: Array) -> Finding:
    """Stiffness of the legs' joints as a multiple of that with which gravity topples the body.

    Joint j alone, with stiffness K_j in each of two legs, carries the mass m_j above it at the height h_j:
    it buckles at m_j g h_j > 2 K_j (a·z_j)² about the horizontal axis a. Dunkerley's estimate for all joints
    in series is 1 / r = Σ_j m_j g h_j (a·z_j)² / (2 K_j), from below.
    """
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.centerOfMass(model, data, q)
    mass, cog = data.mass[0], data.com[0]
    axes = {"forward": np.array([0.0, 1.0, 0.0]), "sideways": np.array([1.0, 0.0, 0.0])}
    ratios = {}
    for name, axis in axes.items():
        compliance = 0.0
        for index in np.concatenate([leg_columns(robot, side) for side in SIDES]):
            joint = model.getJointId(robot.joint_names[index])
            legs = 2.0 * data.mass[joint]
            first_moment = mass * cog[2] - legs * data.oMi[joint].act(data.com[joint])[2]
            moment = first_moment - (mass - legs) * data.oMi[joint].translation[2]
            turned = float(data.J[3:, 6 + index] @ axis) ** 2
            compliance += 0.5 * _GRAVITY * max(moment, 0.0) * turned / (2.0 * robot.motors.stiffness[index])
        ratios[name] = 1.0 / max(compliance, 1e-9)
    direction = min(ratios, key=lambda each: ratios[each])
    reason = f"of the legs' gains against toppling {direction}, as a multiple of gravity's m g h"
    if ratios[direction] < _STIFFNESS.good:
        reason += "; small robots need a shorter bandwidth.timestep_s and simulation.timestep_s"
    return judge("stand", "stiffness_ratio", ratios[direction], _STIFFNESS, reason)
