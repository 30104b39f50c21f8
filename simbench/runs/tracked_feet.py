"""Feet, ZMP and the upper body of a robot trajectory in time, with rest before and after.

Feet are level on a flat floor: where each one stands, and how it swings between.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.interpolate import make_interp_spline
from scipy.ndimage import binary_erosion, gaussian_filter1d

from simbench.balance.ground_reaction import planned_zmp
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.leg_ik import leg_length
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.kinematics.foot_contact import contact_intervals, find_foot_contacts, point_speeds
from simbench.kinematics.rotation import continuous_quaternions
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.reference.planned_steps import (
    FootPlan,
    PlannedSteps,
    TrajectoryTask,
    cog_heights,
    interpolate,
    middle_of_soles,
    nearest_supported,
    plan_leads,
)
from simbench.retargeting.reference.reference import Flags
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# Standard deviation of the Gaussian that takes the noise out of a swing, s: a step takes 0.3 s or more.
_SWING_SMOOTHING = 0.02
# Tilt of a sole up to which it counts as flat, and for where the foot stands, rad.
FLAT = 0.1
# Part of a swing in which the foot takes up the file's motion, and in which it gives it up again.
_ONSET = 0.2
# Time in which a foot that is in the air at the file's beginning is lifted before it, and one at its end is
# put down after it, s: lifted within the rest of its swing, it turned the G1 by 0.05 rad.
_LANDING_TIME = 0.3
# Height of a sole above where it stands from which on it has left the floor, m.
_LIFTED = 0.001
# Longest time by which the beginning and the end of a contact are corrected, s: planned steps rise and sink
# slowly, so that they pass the heights by which contacts are detected late and early.
_REFINED = 0.15
# Difference of height up to which two soles are at the same one, m.
_EVEN = 0.01
# Height (m) and speed (m/s) below which the lower foot stands although it does not touch the floor.
_FLOATING, _STANDING_SPEED = 0.03, 0.3
# Duration below which a swing or a contact is an error of its detection, s.
_SHORTEST_SWING, _SHORTEST_CONTACT = 0.06, 0.04
# Time before a foot leaves the floor, and after it lands, in which it is planned to carry nothing, s.
_TRANSFER_MARGIN = 0.04
# Standard deviation of the Gaussian that rounds the corners of the desired ZMP, s: a third of that time.
_ZMP_SMOOTHING = 0.013
# Least height of a swing as a part of the leg's length: that of planned steps.
_LEAST_LIFT = 0.04
# Shortest way from rest to the motion, s.
_SHORTEST_LEAD = 0.3
# Bandwidth of the root's orientation and the COG's height, Hz: noise of them would go to every torque.
_BODY_BANDWIDTH = 5.0
# Rate at which the ZMP of the trajectory is computed, and its bandwidth, Hz: above is the noise of samples
# that were differentiated twice.
_ZMP_RATE, _ZMP_BANDWIDTH = 100.0, 5.0


class SolePath(NamedTuple):
    """Motion of both soles, left and right, in the world frame."""

    position: Array  # (T, 2, 3): positions of the foot frames, m.
    yaw: Array  # (T, 2): directions of their x axes about the vertical, rad, without jumps.
    tilt: Array  # (T, 2): angle between each sole and the floor, rad.
    corners: tuple[Array, Array]  # Tuple of two (T, P, 3) arrays: corners of the left and the right sole, m.

    @property
    def clearance(self) -> Array:
        """Height of the lowest corner of each sole, (T, 2), m."""
        return np.stack([corners[:, :, 2].min(axis=1) for corners in self.corners], axis=1)


def sample_configurations(trajectory: JointTrajectory, time: Array) -> Array:
    """Interpolate root pose and joints (N, 7 + n) of a trajectory with a base by cubics at times (N,), s."""
    assert trajectory.base is not None
    base = np.hstack([trajectory.base[:, :3], continuous_quaternions(trajectory.base[:, 3:])])
    q = make_interp_spline(trajectory.time, np.hstack([base, trajectory.q]), k=3)(time)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return np.asarray(q)


def compute_soles(robot: Robot, q: Array) -> SolePath:
    """Compute where the soles of a robot with two legs are in configurations (T, 7 + n)."""
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    position, rotation = np.empty((len(q), 2, 3)), np.empty((len(q), 2, 3, 3))
    for sample, configuration in enumerate(q):
        pin.forwardKinematics(model, data, configuration)
        for foot, frame in enumerate(frames):
            pose = pin.updateFramePlacement(model, data, frame)
            position[sample, foot], rotation[sample, foot] = pose.translation, pose.rotation
    left, right = (
        position[:, foot, None] + robot.soles[f"{side}_foot"] @ rotation[:, foot].transpose(0, 2, 1)
        for foot, side in enumerate(SIDES)
    )
    yaw = np.unwrap(np.arctan2(rotation[:, :, 1, 0], rotation[:, :, 0, 0]), axis=0)
    # The right foot's turn is the nearest one to the left foot's.
    yaw[:, 1] += 2.0 * np.pi * np.round((yaw[0, 0] - yaw[0, 1]) / (2.0 * np.pi))
    tilt = np.arctan2(np.linalg.norm(rotation[:, :, :2, 2], axis=2), rotation[:, :, 2, 2])
    return SolePath(position, yaw, tilt, (left, right))


def find_contacts(time: Array, soles: SolePath) -> Flags:
    """Find when each foot of a trajectory stands on the floor z = 0, at evenly spaced times (T,), s.

    Heights and speeds of the soles' corners decide (`find_foot_contacts`). A contact ends when the sole
    begins to rise, and begins when it has come to rest: without the samples next to a swing at which the sole
    is 1 mm or more above its median height in the contact, at most 0.15 s of them at each end. While no foot
    is on the floor, the lower one stands if it is slow and less than 3 cm above: retargeted feet float.
    """
    clearance, most = soles.clearance, round(_REFINED / float(time[1] - time[0]))
    each = [find_foot_contacts(time, c[:, :, 2], point_speeds(time, c), 0.0) for c in soles.corners]
    contact = np.stack(each, axis=1)
    refined = contact.copy()
    for foot in (0, 1):
        for first, last in contact_intervals(contact[:, foot]):
            height = clearance[first : last + 1, foot]
            low = height < np.median(height) + _LIFTED
            begin = min(int(low.argmax()), most) if first > 0 else 0
            end = min(int(low[::-1].argmax()), most) if last < len(contact) - 1 else 0
            if begin + end < len(height):
                refined[first : first + begin, foot] = refined[last + 1 - end : last + 1, foot] = False
    slow = point_speeds(time, soles.position) < _STANDING_SPEED
    lower = clearance < clearance.min(axis=1, keepdims=True) + _EVEN
    floating = ~contact.any(axis=1, keepdims=True) & lower & slow & (clearance < _FLOATING)
    return np.asarray(refined | floating)


def plan_feet(
    soles: SolePath, contact: Flags, timestep: float, before: int, after: int, lift: float
) -> FootPlan:
    """Plan level feet that stand where a trajectory's feet stand, and swing as they swing.

    A foot in contact keeps one pose: the median of the file's over the time in which its sole is flat. In
    between it follows the file's path, moved so that it meets both of them, at rest at both ends, and at
    least `lift` (m) high once. A foot that is in the air at the first sample is lifted before it from the
    floor below, and one that is at the last sample is put down below, if the other foot stands. The M samples
    of `contact` (M, 2) and as many of the soles are used; `before` and `after` them the feet stand for so
    many.
    """
    samples = len(contact)
    total = before + samples + after
    position, yaw, steps = np.empty((total, 2, 3)), np.empty((total, 2)), 0
    in_swing = np.full((total, 2), np.nan)
    span = round(_LANDING_TIME / timestep)
    lifting, landing = min(span, before - 1), min(span, after)
    rows = np.clip(np.arange(total) - before, 0, samples - 1).astype(np.int64)
    for foot in (0, 1):
        stands = np.ones(total, bool)
        # Without the other foot on the floor, nothing would carry the robot meanwhile.
        begins, ends = (bool(contact[row, foot] or not contact[row].any()) for row in (0, -1))
        stands[before - lifting : before] = begins
        stands[before : before + samples] = contact[:, foot]
        stands[before + samples : before + samples + landing] = ends
        for value, shortest in ((False, _SHORTEST_SWING), (True, _SHORTEST_CONTACT)):
            for first, last in contact_intervals(stands == value):
                if first > 0 and last < total - 1 and last - first + 1 < shortest / timestep:
                    stands[first : last + 1] = not value
        intervals = contact_intervals(stands)
        held: list[Array] = []
        for first, last in intervals:
            stay = np.unique(rows[first : last + 1])
            flat = stay[soles.tilt[stay, foot] < FLAT]
            # Without any, as on the toes alone: where the sole is least tilted.
            used = flat if flat.size else stay[[soles.tilt[stay, foot].argmin()]]
            place = np.median(soles.position[used, foot, :2], axis=0)
            held.append(np.array([*place, np.median(soles.yaw[used, foot])]))
            position[first : last + 1, foot] = [*place, 0.0]
            yaw[first : last + 1, foot] = held[-1][2]
        path = np.column_stack([soles.position[:, foot, :2], soles.yaw[:, foot], soles.clearance[:, foot]])
        path = gaussian_filter1d(path[:samples], _SWING_SMOOTHING / timestep, axis=0, mode="nearest")
        for ((_, last), (first, _)), (begin, end) in zip(pairwise(intervals), pairwise(held), strict=True):
            swing = slice(last + 1, first)
            progress, file = np.arange(1, first - last) / (first - last), path[rows[swing]]
            share = minimum_jerk(progress, 0.0, 1.0)[:, None]
            moved = file[:, :3] + (1.0 - share) * (begin - file[0, :3]) + share * (end - file[-1, :3])
            onset, offset = (minimum_jerk(s, 0.0, _ONSET)[:, None] for s in (progress, 1.0 - progress))
            moved = begin + onset * (moved - begin)
            moved = end + offset * (moved - end)
            height = np.maximum(file[:, 3], 0.0) * onset[:, 0] * offset[:, 0]
            missing = max(lift - float(height.max()), 0.0)
            height = height + missing * 0.5 * (1.0 - np.cos(2.0 * np.pi * progress))
            position[swing, foot] = np.column_stack([moved[:, :2], height])
            yaw[swing, foot], in_swing[swing, foot] = moved[:, 2], progress
            steps += 1
    return FootPlan(position, yaw, np.isnan(in_swing), in_swing, steps)


def support_zmp(robot: Robot, wanted: Array, feet: FootPlan, timestep: float) -> Array:
    """Bring the ZMP that a motion requires (N, 2), m, into the support polygon of planned feet.

    The nearest point of the convex hull of the middle parts of the soles in contact, with rounded corners. A
    foot that has just landed or is about to lift carries nothing if the other one can carry.
    """
    window = np.ones((2 * round(_TRANSFER_MARGIN / timestep) + 1, 1), bool)
    eroded = binary_erosion(feet.contact, window, border_value=True)
    loaded = np.where(eroded.any(axis=1)[:, None], eroded, feet.contact)
    zmp = nearest_supported(robot, wanted, feet, loaded)
    zmp = gaussian_filter1d(zmp, _ZMP_SMOOTHING / timestep, axis=0, mode="nearest")
    return nearest_supported(robot, zmp, feet)


def plan_steps(task: TrajectoryTask) -> tuple[PlannedSteps, SolePath, Flags]:
    """Plan feet, ZMP, joints, the root's orientation and the height of the COG of a trajectory in time.

    The desired ZMP is between both feet at the ends, as the motion requires in between. Also returns the
    soles of the trajectory at every tick of its duration, and whether they touch the floor.
    """
    robot, settings, tick, trajectory = task.robot, task.settings, task.tick, task.trajectory
    assert trajectory.base is not None
    q = np.hstack([trajectory.base, trajectory.q])
    heights = cog_heights(robot, q)
    omega = natural_frequency(float(np.clip(heights.mean(), 0.05, None)))
    clock = np.linspace(0.0, task.duration, max(round(task.duration / tick), 2) + 1)
    soles = compute_soles(robot, sample_configurations(trajectory, clock))
    contact = find_contacts(clock, soles)
    lift = _LEAST_LIFT * leg_length(robot)
    alone = plan_feet(soles, contact, tick, 1, round(1.0 / tick), lift)
    ends = [np.column_stack([alone.position[row, :, :2], alone.yaw[row]]) for row in (0, -1)]
    body = np.hstack([continuous_quaternions(q[:, 3:7]), heights[:, None]])
    values = np.hstack([trajectory.q, _low_pass(body, _BODY_BANDWIDTH, task.duration / (len(q) - 1))])
    sampled, rest, (before, after) = plan_leads(task, values, ends, omega)
    start, end = settings.settle_s + before, settings.settle_s + before + task.duration
    total, first = len(sampled.clock) // task.every + 1, round(start / tick)
    count = min(len(clock), total - first)
    feet = plan_feet(soles, contact[:count], tick, first, total - first - count, lift)
    clock = np.linspace(0.0, task.duration, max(round(task.duration * _ZMP_RATE), 8) + 1)
    q = sample_configurations(trajectory, clock)
    raw = planned_zmp(robot, clock, q[:, :7], q[:, 7:])[0]
    # In flight nothing carries the motion: what is not finite or far away is brought to the soles anyhow.
    raw = np.clip(np.nan_to_num(raw, nan=0.0, posinf=0.0, neginf=0.0), -1e3, 1e3)
    raw = _low_pass(raw, _ZMP_BANDWIDTH, float(clock[1] - clock[0]))
    ticks: Array = tick * np.arange(total, dtype=np.float64)
    zmp = interpolate(ticks - start, clock, raw)
    # A foot that is in the air at the first sample is lifted before: then the other one carries already.
    lifted = 0.0 if feet.contact[min(first, total - 1)].all() else _LANDING_TIME
    leading = minimum_jerk(ticks, settings.settle_s, max(start - settings.settle_s - lifted, _SHORTEST_LEAD))
    middles = [middle_of_soles(robot, each) for each in ends]
    zmp = middles[0] + leading[:, None] * (zmp - middles[0])
    zmp = zmp + minimum_jerk(ticks, end, after)[:, None] * (middles[1] - zmp)
    return PlannedSteps(start, sampled, feet, support_zmp(robot, zmp, feet, tick), rest), soles, contact


def _low_pass(values: Array, bandwidth: float, period: float) -> Array:
    """Filter even samples (T, k) by a Gaussian without delay, half as strong at its bandwidth, Hz."""
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth * period)
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))
