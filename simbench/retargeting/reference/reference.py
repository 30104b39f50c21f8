"""The reference of the joints at every physics step: settle, lead-in, motion, lead-out, hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly, BSpline, PPoly, make_interp_spline

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.time_optimal import time_scaling_factor
from simbench.options import SimulationSection
from simbench.retargeting.contact.hand_plan import HandPlan

# Time in which a motion without a lead-in gets under way, and comes to rest, s.
COAST_TIME = 0.1
# Longest duration of a lead-in or lead-out, as a multiple of the one asked for.
MAX_LEAD_STRETCH = 10.0
# Samples of a lead-in or lead-out, Hz and number.
_LEAD_RATE, _MIN_LEAD_SAMPLES = 100.0, 8
# How far rounding may take a position beyond its limit, rad.
_TOLERANCE = 1e-9
# Physics steps times joints: each array of a reference then takes 0.4 GB.
_MOST_SAMPLES = 50_000_000
# As of each foot, left and right, whether it is in contact, (T, 2).
Flags: TypeAlias = NDArray[np.bool_]
# Stretch of a motion: time from its start (T,), s; joint positions (T, n), rad; other arrays of T rows.
Segment: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True)
class Reference:
    """Reference of the joints at every physics step; row k holds for the end of step k.

    Parameters
    ----------
    position : (N, n) array
        Joint positions in the order of `robot.joint_names`, rad.
    velocity : (N, n) array
        Joint velocities, rad/s.
    feedforward : (N, n) array
        Feed-forward torques, N·m.
    acceleration : (N, n) array
        Joint accelerations, rad/s².
    grip : (N, H) bool array
        Whether each of `robot.hands` is meant to hold.
    """

    position: Array
    velocity: Array
    feedforward: Array
    acceleration: Array
    grip: Flags


@dataclass(frozen=True)
class FollowedSteps:
    """Steps of a person that a robot is to follow, as the person took them and as they are planned.

    Times are in the robot's time from the recording's first sample on, as `JointTrajectory.time` of a plan;
    a run adds `Timeline.start`. Places are those of the feet's frames (`robot.frames["left_foot"]`) in the
    world frame of the run.
    """

    # (K,) int: foot that lands in each step, as index into `SIDES`: 0 is the left one.
    side: NDArray[np.int64]
    # (K,): landings of the person, mapped by the tempo map to the robot's time, s; in order.
    person_time: Array
    person_position: Array  # (K, 2): where the person put the foot down, scaled to the robot, m.
    person_yaw: Array  # (K,): direction of the person's foot about the vertical, rad.
    # `planned_time`, `planned_position`, `planned_yaw` (K,), (K, 2), (K,) arrays: the same as they are
    # planned.
    planned_time: Array
    planned_position: Array
    planned_yaw: Array
    heading: float = 0.0  # Direction of the recording's x axis in the world frame of the run, rad.


@dataclass(frozen=True)
class Timeline:
    """A reference, how the recording lies in it, and the planned base, ZMP and COG."""

    reference: Reference  # Reference of the joints at N physics steps.
    base: Array  # (7,): pose of the root link in the world frame at the start: position, m, and quaternion.
    start: float  # Time of the recording's first sample, s.
    time: Array  # (T,): times of the recording's samples, s.
    # Desired motion of the palms at these samples; None if nothing is asked of them.
    hands: HandPlan | None = None
    # (N, 7): pose of the root link in the world frame at the end of every physics step; empty for a robot
    # with a fixed base.
    base_path: Array = field(default_factory=lambda: np.empty((0, 7)))
    # (N, 2): desired ZMP in the world frame at the end of every physics step, m.
    zmp: Array = field(default_factory=lambda: np.empty((0, 2)))
    cog: Array = field(default_factory=lambda: np.empty((0, 3)))  # (N, 3): planned COG in the world frame, m.
    # (N, 3): planned velocity of the COG in the world frame, m/s.
    cog_velocity: Array = field(default_factory=lambda: np.empty((0, 3)))
    steps: FollowedSteps | None = None  # Steps of the person that the robot follows; None if its legs do not.


class SampledMotion:
    """A joint curve at the end of every physics step: rest to settle, the motion, and rest to hold.

    The motion ends at time `end` of the curve. It begins at 0, which is when the robot has settled, or at
    `begin` of a curve whose time includes that to settle. Refuses more steps than fit into memory.

    `clock` (N,): time of the motion at each step, s; it stands still before the beginning and after the end;
    `at_rest` (N,) bool: whether it stands still; `position`, `velocity`, `acceleration` (N, n): joint
    positions, rad, velocities, rad/s, and accelerations, rad/s²; the latter two zero at rest.
    """

    def __init__(
        self,
        curve: BSpline | BPoly | PPoly,
        settings: SimulationSection,
        end: float,
        begin: float | None = None,
    ) -> None:
        timestep, origin, begin = settings.timestep_s, 0.0 if begin else settings.settle_s, begin or 0.0
        steps = max(1, round((origin + end + settings.hold_s) / timestep))
        joints = curve.derivative(0)(np.array([begin])).shape[1]
        if steps * joints > _MOST_SAMPLES:
            raise ScenarioError(
                f"simulation: would take {steps} steps of {timestep:g} s; at most {_MOST_SAMPLES // joints} "
                f"with {joints} joints"
            )
        self.clock: Array = (np.arange(1, steps + 1) * timestep - origin).clip(begin, end)
        self.position, self.velocity, self.acceleration = (curve.derivative(k)(self.clock) for k in range(3))
        self.at_rest: Flags = (self.clock <= begin) | (self.clock >= end)
        self.velocity[self.at_rest] = self.acceleration[self.at_rest] = 0.0


def assemble(lead_in: Segment, motion: Segment, lead_out: Segment) -> Segment:
    """Join lead-in, motion and lead-out (run backwards); leads end with the motion's end samples."""
    before, after = lead_in[0][-1], lead_out[0][-1]
    end = before + motion[0][-1]
    time = np.concatenate([lead_in[0][:-1], before + motion[0], end + after - lead_out[0][-2::-1]])
    parts = zip(lead_in[1:], motion[1:], lead_out[1:], strict=True)
    return time, *(np.concatenate([first[:-1], middle, last[-2::-1]]) for first, middle, last in parts)


def run_up(clock: Array, way: Array, velocity: Array, length: float, limits: tuple[Array, Array]) -> Array:
    """Plan what a run-up adds (T, n) to a way (T, n) from rest to rest so that it ends with a velocity (n,).

    A quintic of at most `length` seconds that starts at rest, goes back first and ends at 0 with the
    velocity. A joint that would leave its limits by it takes a shorter run-up.
    """
    lowest, highest = np.minimum(limits[0], way.min(axis=0)), np.maximum(limits[1], way.max(axis=0))
    lengths = np.full(len(velocity), length)
    while True:
        progress = (1.0 + (clock - clock[-1])[:, None] / lengths).clip(0.0)
        added = velocity * lengths * progress**3 * (-4.0 + 7.0 * progress - 3.0 * progress**2)
        position = way + added
        leaves = ((position < lowest - _TOLERANCE) | (position > highest + _TOLERANCE)).any(axis=0)
        leaves &= lengths > COAST_TIME
        if not leaves.any():
            return np.asarray(added)
        lengths[leaves] = np.maximum(lengths[leaves] / 2.0, COAST_TIME)


def plan_lead(
    where: str,
    home: Array,
    posture: Array,
    velocity: Array,
    asked: float,
    limits: tuple[Array, Array],
    speed_limit: Array,
    stretch: float = MAX_LEAD_STRETCH,
    detour: Array | None = None,
    finish: Callable[[Array, Array], Segment] | None = None,
) -> Segment:
    """Plan the way from rest at `home` (n,) to a posture and a velocity within the speed limits.

    A quintic from rest to rest, and a run-up to the velocity, in `asked` seconds or as long as it takes, up
    to `stretch` times that. If nothing is asked for it only coasts: it starts beside the posture, from where
    it is reached in 0.1 s. `detour` (K, n) is added over the duration; `finish` makes of the samples' times
    and the quintic what else the way consists of. `where` begins the error message: which robot, and between
    what.
    """
    if asked <= 0.0:
        home, asked = posture - 0.5 * COAST_TIME * velocity, COAST_TIME
    rest, duration = np.zeros_like(posture), asked
    while duration <= stretch * asked:
        clock = np.linspace(0.0, duration, max(int(duration * _LEAD_RATE), _MIN_LEAD_SAMPLES) + 1)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        if finish is None:
            joints += run_up(clock, joints, velocity, duration, limits)
            if detour is not None and len(detour):
                joints += make_interp_spline(np.linspace(0.0, duration, len(detour)), detour, k=3)(clock)
            lead: Segment = clock, joints
        else:
            lead = finish(clock, joints)
        factor = time_scaling_factor(lead[0], lead[1], speed_limit)
        if factor <= 1.0 + 1e-6:
            return lead
        duration *= min(factor, 1.1)
    raise RetargetError(
        f"{where} a joint is {factor:.2f} times as fast as allowed, even in {clock[-1]:.1f} s; begin and "
        "end the recording elsewhere (motion.start_s, motion.end_s)"
    )
