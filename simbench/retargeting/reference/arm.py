"""The reference of an arm on a fixed base at every physics step: settle, way in, motion, way out, hold."""

import numpy as np
from scipy.interpolate import BPoly, make_interp_spline

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.options import SimulationSection
from simbench.retargeting.fixed_base.base import planned_torques
from simbench.retargeting.fixed_base.plan import ArmPlan
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.retargeting.reference.whole_body import COAST_TIME
from simbench.robot.robot import Robot

_RATE = 100.0
_LONGEST = 10.0
"""Of a way in or out, times the time asked for it."""


def arm_timeline(
    robot: Robot, plan: ArmPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample a plan at the physics rate, with a beginning and an end at rest.

    With a lead-in the arm starts in its posture and returns to it, hands open: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as speed limits ask. Without one it starts
    in the motion's first posture and stays in its last, its hands as the person's are at the end.

    Parameters
    ----------
    robot : Robot
        With a fixed base.
    plan : ArmPlan
    settings : SimulationSection
    feedforward : str
        As in `ControlSection`.
    speed_fraction : float
        Part of the joint speed limits that may be used.

    Returns
    -------
    Timeline

    Raises
    ------
    RetargetError
        If a way in or out is too fast however long it takes.
    """
    time, joints = plan.trajectory.time, plan.trajectory.q
    limit = np.asarray(robot.model.velocityLimit) * speed_fraction
    spline = make_interp_spline(time, joints, k=3)
    first, last = spline.derivative()(time[[0, -1]])
    way_in = _way(robot, plan, joints[0], first, settings.lead_in_s, limit)
    way_out = _way(robot, plan, joints[-1], -last, settings.lead_in_s, limit)
    before, after = way_in[0][-1], way_out[0][-1]
    end = before + time[-1]
    times = np.concatenate([way_in[0][:-1], before + time, end + after - way_out[0][-2::-1]])
    spline = make_interp_spline(times, np.concatenate([way_in[1][:-1], joints, way_out[1][-2::-1]]), k=3)
    timestep = settings.timestep_s
    steps = round((settings.settle_s + times[-1] + settings.hold_s) / timestep)
    clock = (np.arange(1, steps + 1) * timestep - settings.settle_s).clip(0.0, times[-1])
    position, velocity, acceleration = (spline.derivative(order)(clock) for order in range(3))
    at_rest = (clock <= 0.0) | (clock >= times[-1])
    velocity[at_rest] = acceleration[at_rest] = 0.0
    torque = planned_torques(robot, position, velocity, acceleration, feedforward)
    grip = np.zeros((steps, len(robot.hands)), dtype=bool)
    for column, role in enumerate(robot.hands):
        contact = plan.hands.contact.get(role.removesuffix("_hand"))
        if contact is not None:
            stays = 0.0 if settings.lead_in_s > 0.0 else None
            held = np.interp(clock - before, time, contact.astype(float), left=0.0, right=stays)
            grip[:, column] = held >= 1.0 - 1e-9
    start = settings.settle_s + before
    reference = Reference(position, velocity, torque, acceleration, grip)
    return Timeline(reference, plan.base, start, start + time, plan.hands)


def _way(
    robot: Robot, plan: ArmPlan, posture: Array, velocity: Array, duration: float, limit: Array
) -> tuple[Array, Array]:
    """Go from rest to a posture and a velocity within the limits: times (T,), s, and joints (T, n), rad."""
    home, longest = plan.home, _LONGEST * duration
    if duration == 0.0:
        home, duration, longest = posture - 0.5 * COAST_TIME * velocity, COAST_TIME, COAST_TIME
    rest = np.zeros_like(posture)
    while duration <= longest:
        clock = np.linspace(0.0, duration, max(int(duration * _RATE), 8) + 1)
        curve = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, velocity, rest]])
        joints = curve(clock)
        factor = time_scaling_factor(clock, joints, limit)
        if factor <= 1.0 + 1e-6:
            return clock, joints
        duration *= min(factor, 1.1)
    raise RetargetError(
        f"{robot.name}: between its posture and the motion a joint is {factor:.2f} times as fast as allowed, "
        f"even in {clock[-1]:.1f} s; begin and end the recording elsewhere (motion.start_s, motion.end_s)"
    )
