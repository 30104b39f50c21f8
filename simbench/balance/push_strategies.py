"""What a standing robot does when it is pushed: capture steps, and leaning of the trunk.

A step that catches a falling robot: which foot, where to and how long, by the capture point.

Hip strategy: it leans its trunk as it is pushed; the angular momentum slows the COG down.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.balance.gait import Gait
from simbench.balance.ground_reaction import support_margin, support_polygon
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk, quintic
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

EDGE_MARGIN = 0.03  # The ZMP of a recovery keeps this far inside the soles, m, where they are large enough.
_EDGE_FRACTION = 0.9  # The same as part of half the sole's length and width, which it does not exceed.
_MIN_SWING = 0.28  # Least duration of a swing, s.
_PEAK = 1.875  # Largest speed of a minimum-jerk motion over its mean speed.
_SPEED_FRACTION = 0.8  # Part of the leg joints' speed limit that a swinging foot uses.
_CLEARANCE = 0.02  # Distance between two soles side by side, m.
_SWEEP = 101  # Positions of a joint over its range at which the length of the leg is measured.
_MAX_LENGTH, _MAX_WIDTH = 0.65, 0.7  # Largest step from foot to foot, ahead and aside, in leg lengths.


@dataclass(frozen=True)
class LegGeometry:
    """Geometry of a robot's legs, as far as a step needs it."""

    length: float  # Length of a straight leg from hip to ankle, m.
    speed: float  # Largest speed of a swinging foot, m/s.
    soles: Array  # (2, 4, 2): corners of left and right sole in the foot frames, m.
    pivots: Array  # (2, 4, 2): corners of the areas that the ZMP may be in, in the foot frames, m.


class FeetState(NamedTuple):
    """Both feet at the moment when a step is chosen."""

    # (2, 2): positions of the left and the right foot frame in the world frame before the step, m.
    position: Array
    yaw: Array  # (2,): their rotation about the vertical, rad.
    load: Array  # (2,): vertical force on each, N.
    swinging: int | None = None  # The foot that swings already: 0 left, 1 right; None if both stand.
    elapsed: float = 0.0  # Time for which it has been swinging, s.


@dataclass(frozen=True)
class CaptureStep:
    """A step of one foot while the robot stands on the other."""

    foot: int  # The foot that swings: 0 left, 1 right.
    target: Array  # (2,): position of the foot frame at touch-down, world frame, m.
    duration: float  # Duration of the whole swing, s.
    pivot: Array  # (2,): ZMP during the swing, world frame, m.
    missed: float  # Distance by which the sole's middle falls short of the capture point, m.


def measure_legs(robot: Robot) -> LegGeometry:
    """Measure what a step needs to know of a robot's legs.

    `robot`: robot with two legs of equal length. Returns leg length, speed of the feet, soles, and where the
    ZMP may be in them.
    """
    model = robot.model
    joints = [model.getJointId(name) for name in robot.groups["left_leg"]]
    hip = joints[0]
    speed = min(model.velocityLimit[model.joints[joint].idx_v] for joint in joints if joint != hip)
    # Largest distance between the first and the last joint of a leg, m, which its knee brings about. The sum
    # of the segments would count the offsets between the hip's axes as if they lay along the leg.
    data, neutral = model.createData(), pin.neutral(model)
    length, widest = 0.0, -1.0
    for joint in joints:
        column = model.joints[joint].idx_q
        distances = []
        for value in np.linspace(model.lowerPositionLimit[column], model.upperPositionLimit[column], _SWEEP):
            q = neutral.copy()
            q[column] = value
            pin.forwardKinematics(model, data, q)
            distances.append(
                np.linalg.norm(data.oMi[joints[-1]].translation - data.oMi[joints[0]].translation)
            )
        if np.ptp(distances) > widest:
            length, widest = float(max(distances)), float(np.ptp(distances))
    soles = np.array([robot.soles[f"{side}_foot"][:, :2] for side in SIDES])
    middles = soles.mean(axis=1, keepdims=True)
    halves = soles - middles
    inner = soles - np.sign(halves) * np.minimum(EDGE_MARGIN, _EDGE_FRACTION * np.abs(halves))
    return LegGeometry(length, _SPEED_FRACTION * float(speed) * length, soles, inner)


def transform_footprint(corners: Array, position: Array, yaw: float) -> Array:
    """Transform the corners of a flat sole from the foot frame to the world frame.

    `corners` (4, 2): corners in the foot frame, m; `position` (2,): position of the foot frame in the world
    frame, m; `yaw`: rotation of the foot frame about the vertical, rad. Returns (4, 2): corners in the world
    frame, m.
    """
    return position + corners @ _rotation(yaw).T


def project_into_polygon(point: Array, corners: Array) -> Array:
    """Find the point of a convex polygon that is nearest to a point.

    `point` (2,): the point, m; `corners` (N, 2): points whose convex hull is the polygon, m. Returns (2,):
    nearest point of the polygon, m: the point itself if it is inside.
    """
    polygon = support_polygon(corners)
    if support_margin(point, polygon) >= 0.0:
        return point
    start, edge = polygon, np.roll(polygon, -1, axis=0) - polygon
    fraction = np.sum((point - start) * edge, axis=1) / np.sum(edge**2, axis=1)
    projections = start + fraction.clip(0.0, 1.0)[:, None] * edge
    nearest: Array = projections[np.sum((projections - point) ** 2, axis=1).argmin()]
    return nearest


def choose_step(legs: LegGeometry, omega: float, capture_point: Array, feet: FeetState) -> CaptureStep:
    """Choose the step after which the ZMP can stop the COG.

    While the robot stands on one foot, the ZMP is at the point p of its sole nearest to the capture point ξ =
    c + ċ/ω, which moves away as ξ(T) = p + (ξ − p) e^(ωT) until the other foot touches down with its sole's
    middle there. Of both feet the one is taken that comes nearer to that; of equals, the one that carries
    less. `omega`: natural frequency of the inverted pendulum, 1/s; `capture_point` (2,): ξ in the world
    frame, m; `feet`: the feet before the step, and which one swings already. Returns swinging foot, its
    target, the duration of the swing and the ZMP meanwhile.
    """
    candidates = []
    for foot in (0, 1) if feet.swinging is None else (feet.swinging,):
        # The target depends on the duration, which depends on the distance to it.
        stance = 1 - foot
        stance_position, stance_yaw = feet.position[stance], feet.yaw[stance]
        rotation = _rotation(stance_yaw)
        pivot = project_into_polygon(
            capture_point, transform_footprint(legs.pivots[stance], stance_position, stance_yaw)
        )
        middle = rotation @ legs.soles[foot].mean(axis=0)
        outward = 1.0 if foot == 0 else -1.0
        half = 0.5 * np.ptp(legs.soles[:, :, 1], axis=1).sum()
        duration, target, missed = _MIN_SWING, feet.position[foot], 0.0
        for _ in range(4):
            growth = math.exp(omega * max(duration - feet.elapsed, 0.0))
            at_touch_down = pivot + (capture_point - pivot) * growth
            # In the frame of the standing foot, limited to where the other foot can go.
            along, across = rotation.T @ (at_touch_down - middle - stance_position)
            across = outward * min(max(outward * across, half + _CLEARANCE), _MAX_WIDTH * legs.length)
            along = min(max(along, -_MAX_LENGTH * legs.length), _MAX_LENGTH * legs.length)
            target = stance_position + rotation @ np.array((along, across))
            missed = float(np.linalg.norm(at_touch_down - middle - target))
            distance = float(np.linalg.norm(target - feet.position[foot]))
            duration = max(_MIN_SWING, _PEAK * distance / legs.speed)
        step = CaptureStep(foot, target, duration, pivot, missed)
        candidates.append((round(missed, 2), feet.load[foot], step))
    return min(candidates, key=lambda candidate: candidate[:2])[2]


def _rotation(yaw: float) -> Array:
    """Rotation in the plane, (2, 2)."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array(((cosine, -sine), (sine, cosine)))


# Distance of the capture point from the planned one, ahead or behind, at which leaning begins, m.
_UNEXPECTED = 0.05
_LEAN_ANGLE = 0.4  # Angle of the lean, rad, where the hips allow it.
# Part of the hips' range to their limits that leaning uses; the thighs, which lean because the hips move
# against the head, use up to two thirds as much, and feedback some.
_RANGE_FRACTION = 0.5
_DOWN, _HOLD, _UP = 0.4, 0.3, 1.5  # Time to lean, to stay and to come up again, s.
_LATERAL = 0.9  # Cosine from which on an axis counts as lateral.
_STOP_TIME = 0.4  # Time to come up when a step takes over, s.


class HipStrategy:
    """Leans the trunk in the direction in which it is pushed.

    With the ZMP p at the soles' edge the COG c moves as m c̈ = m g (c − p) / h − L̇ / h: angular momentum L
    gained forward slows the COG down. Leaning gives it at once and takes it back later, when the capture
    point has come back from the edge. Only forward and backward: sideways the legs of a robot that stands on
    both feet hold the trunk. Rotated about the COG the hips move back and up; the COG is lowered by what
    keeps their distance from the ankles, so that knees do not straighten. `robot`: robot with two legs;
    `gait`: the gait, N samples; a recovery may change its rows; `height` (N,): height of the COG above the
    floor, m; rows in which the robot leans are lowered in place; `omega`: natural frequency of the inverted
    pendulum, 1/s; `start` (nq,): configuration, standing: root pose (m and quaternion x, y, z, w) and joint
    positions, rad.
    """

    def __init__(self, robot: Robot, gait: Gait, height: Array, omega: float, start: Array) -> None:
        self._gait, self._height, self._omega = gait, height, omega
        swings = np.flatnonzero(~gait.contact.all(axis=1))
        self._stands_from = int(swings[-1]) + 1 if len(swings) else 0
        time = gait.timestep * np.arange(float(math.ceil((_DOWN + _HOLD + _UP) / gait.timestep)))
        profile = minimum_jerk(time, 0.0, _DOWN) - minimum_jerk(time, _DOWN + _HOLD, _UP)
        self._leans = {sign: sign * _lean_angle(robot, start, sign) * profile for sign in (-1.0, 1.0)}
        self._lowerings = {sign: _lowering(robot, start, self._leans[sign]) for sign in self._leans}
        self._began, self._angle = 0, np.zeros(0)

    def lean_trunk(self, now: int, cog: Array, velocity: Array, body: Array) -> Array:
        """Rotate the trunk's planned orientation about its own lateral axis, if a push requires it.

        `now`: row of the gait; `cog` (2,): measured horizontal position of the COG in the world frame, m;
        `velocity` (2,): measured horizontal velocity of the COG, m/s; `body` (4,): planned orientation of the
        root link in the world frame, quaternion x, y, z, w. Returns (4,): orientation of the root link in the
        world frame, quaternion x, y, z, w.
        """
        x, y, z, w = body
        if now - self._began >= len(self._angle):
            # Lean if the capture point is far from the planned one.
            gait = self._gait
            if now < self._stands_from or not gait.contact[now].all():
                return body
            ahead = np.array((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w)))
            error = cog - gait.cog[now] + (velocity - gait.cog_velocity[now]) / self._omega
            distance = float(ahead @ error)
            if abs(distance) < _UNEXPECTED:
                return body
            sign = math.copysign(1.0, distance)
            self._began, self._angle = now, self._leans[sign]
            rows = self._height[now : now + len(self._angle)]
            rows -= self._lowerings[sign][: len(rows)]
        half = 0.5 * float(self._angle[now - self._began])
        cosine, sine = math.cos(half), math.sin(half)
        return np.array(
            (x * cosine - z * sine, y * cosine + w * sine, z * cosine + x * sine, w * cosine - y * sine)
        )

    def stop(self, now: int) -> None:
        """Come up at once: a step takes over, and its legs need their length. `now`: row of the gait."""
        done = now - self._began
        if not 0 < done < len(self._angle):
            return
        dt = self._gait.timestep
        before, angle = self._angle[done - 1 : done + 1]
        time = dt * np.arange(math.ceil(_STOP_TIME / dt) + 1.0)
        rate = np.array([(angle - before) / dt])
        path, _ = quintic(
            np.array([angle]), rate, np.zeros(1), np.zeros(1), _STOP_TIME, time.clip(max=_STOP_TIME)
        )
        self._began, self._angle = now, path[:, 0]


def _lean_angle(robot: Robot, start: Array, sign: float) -> float:
    """Find how far the trunk can lean forward (1) or backward (-1) within the range of its hips, rad."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start)
    lateral = data.oMi[1].rotation[:, 1]
    angle = _LEAN_ANGLE
    for side in SIDES:
        joints = [model.joints[model.getJointId(name)] for name in robot.groups[f"{side}_leg"]]
        # The first joint of the leg that turns about the trunk's lateral axis.
        hip = next(joint for joint in joints if abs(data.J[3:, joint.idx_v] @ lateral) > _LATERAL)
        position, low, high = (
            float(values[hip.idx_q]) for values in (start, model.lowerPositionLimit, model.upperPositionLimit)
        )
        rises = sign * float(data.J[3:, hip.idx_v] @ lateral) < 0.0
        angle = min(angle, _RANGE_FRACTION * (high - position if rises else position - low))
    return max(angle, 0.0)


def _lowering(robot: Robot, start: Array, lean: Array) -> Array:
    """Find how much lower the COG has to be for lean angles (N,), rad, not to stretch the legs, (N,), m."""
    model, data = robot.model, robot.model.createData()
    cog = pin.centerOfMass(model, data, start).copy()
    hip = data.oMi[model.getJointId(robot.groups["left_leg"][0])].translation
    ankle = data.oMi[model.frames[model.getFrameId(robot.frames["left_foot"])].parentJoint].translation
    forward = data.oMi[1].rotation[:, 0]
    ahead, up = float((hip - cog) @ forward), float(hip[2] - cog[2])
    along, leg = float((hip - ankle) @ forward), float(hip[2] - ankle[2])
    back = ahead * (np.cos(lean) - 1.0) + up * np.sin(lean)
    rise = up * (np.cos(lean) - 1.0) - ahead * np.sin(lean)
    lowering: Array = leg + rise - np.sqrt(along**2 + leg**2 - (along + back) ** 2)
    return lowering.clip(min=0.0)
