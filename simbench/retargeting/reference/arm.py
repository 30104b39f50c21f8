"""The reference of an arm on a fixed base at every physics step: settle, lead-in, motion, lead-out, hold."""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly, make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.options import SimulationSection
from simbench.retargeting.arm.fixed_base import ArmPlan, planned_torques
from simbench.retargeting.reference.assembly import (
    COAST_TIME,
    MAX_LEAD_STRETCH,
    Segment,
    assemble,
    run_up,
    sample_lead_times,
    sample_motion,
    stretch_lead,
)
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.robot.robot import Robot


def build_arm_reference(
    robot: Robot, plan: ArmPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample a plan at the physics rate, with a beginning and an end at rest.

    With a lead-in the arm starts in its posture and returns to it, hands open: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as speed limits ask. Without one, or where
    the plan wants none, it starts in the motion's first posture and stays in its last, its hands as the
    person's are at the end.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    plan : ArmPlan
        Planned motion of its joints.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    feedforward : str
        Feed-forward torque: `none`, `gravity` or `inverse_dynamics`, as in `ControlSection`.
    speed_fraction : float
        Fraction of the joint speed limits that may be used.

    Returns
    -------
    Timeline
        Reference of the joints; base, ZMP and COG paths are empty.

    Raises
    ------
    RetargetError
        If a lead-in or lead-out is too fast however long it takes.
    """
    time, joints = plan.trajectory.time, plan.trajectory.q
    limit = np.asarray(robot.model.velocityLimit) * speed_fraction
    first, last = make_interp_spline(time, joints, k=3).derivative()(time[[0, -1]])
    duration = settings.lead_in_s if plan.leads else 0.0
    lead_in = _plan_lead(robot, plan, joints[0], first, duration, limit, plan.detours[0])
    lead_out = _plan_lead(robot, plan, joints[-1], -last, duration, limit, plan.detours[1])
    whole = assemble(lead_in, Segment(time, joints), lead_out)
    sampled = sample_motion(make_interp_spline(whole.time, whole.joints, k=3), settings, whole.time[-1])
    torque = planned_torques(robot, sampled.position, sampled.velocity, sampled.acceleration, feedforward)
    before = lead_in.time[-1]
    grip = _sample_grip(robot, plan, sampled.clock - before, stays=duration <= 0.0)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    start = settings.settle_s + before
    return Timeline(reference, plan.base, start, start + time, plan.hands)


def _sample_grip(robot: Robot, plan: ArmPlan, clock: Array, *, stays: bool) -> NDArray[np.bool_]:
    """Whether each hand is meant to hold (N, H), by the motion's time; `stays`: after its end as at it."""
    grip = np.zeros((len(clock), len(robot.hands)), dtype=bool)
    for column, role in enumerate(robot.hands):
        contact = plan.hands.contact.get(role.removesuffix("_hand"))
        if contact is not None:
            after = None if stays else 0.0
            held = np.interp(clock, plan.trajectory.time, contact.astype(float), left=0.0, right=after)
            grip[:, column] = held >= 1.0 - 1e-9
    return grip


def _plan_lead(
    robot: Robot,
    plan: ArmPlan,
    posture: Array,
    velocity: Array,
    duration: float,
    limit: Array,
    detour: Array,
) -> Segment:
    """Plan the way from rest to a posture and a velocity within the speed limits; duration 0: coast only."""
    detour = detour if duration > 0.0 else detour[:0]
    home, longest = plan.home, MAX_LEAD_STRETCH * duration
    if duration == 0.0:
        home, duration, longest = posture - 0.5 * COAST_TIME * velocity, COAST_TIME, COAST_TIME
    rest = np.zeros_like(posture)
    limits = robot.model.lowerPositionLimit, robot.model.upperPositionLimit

    def plan_quintic(duration: float) -> Segment:
        clock = sample_lead_times(duration)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        joints += run_up(clock, joints, velocity, duration, limits)
        if len(detour):
            joints += make_interp_spline(np.linspace(0.0, duration, len(detour)), detour, k=3)(clock)
        return Segment(clock, joints)

    where = f"{robot.name}: between its posture and the motion"
    return stretch_lead(plan_quintic, duration, longest, limit, where)
