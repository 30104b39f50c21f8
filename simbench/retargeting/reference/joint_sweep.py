"""A motion of the robot's own: all joints but fingers go out and back together, on minimum-jerk paths."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.options import SWEEP, RobotSection, SimulationSection
from simbench.retargeting.arm.fixed_base import (
    arm_joints,
    base_pose,
    choose_rest,
    planned_torques,
)
from simbench.retargeting.placement.base_height import base_height
from simbench.retargeting.reference.assembly import sample_motion
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.robot.robot import Robot

_PEAK_OVER_MEAN = 1.875
"""Greatest speed of a minimum-jerk movement over its mean speed (Flash & Hogan 1985)."""
_MAX_DURATION = 600.0
"""Longest sweep, s: its reference is held whole in memory, 0.3 MB a second for six joints."""


@dataclass(frozen=True)
class JointSweep:
    """Amplitude and speed of a sweep; the keys of `motion.task`.

    Parameters
    ----------
    amplitude_rad : float
        Displacement of every joint but those that close a hand, to the side on which it has more room, rad.
    speed_rad_s : float
        Greatest speed of every joint, rad/s.
    repetitions : int
        Number of strokes out and back.
    pause_s : float
        Pause at every end, s.
    """

    amplitude_rad: float = 1.0
    speed_rad_s: float = 1.0
    repetitions: int = 1
    pause_s: float = 0.25

    @property
    def stroke_s(self) -> float:
        """Duration of a stroke out, or back, s."""
        return _PEAK_OVER_MEAN * self.amplitude_rad / self.speed_rad_s


def build_sweep_reference(
    robot: Robot,
    section: RobotSection,
    task: Mapping[str, float],
    settings: SimulationSection,
    feedforward: str,
) -> Timeline:
    """Build the reference of a sweep at the physics rate.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    section : RobotSection
        Base placement, and the posture in which the sweep starts and ends.
    task : mapping of str to float
        Fields of `JointSweep`.
    settings : SimulationSection
        Physics step, and times to settle and hold.
    feedforward : str
        Feed-forward torque: `none`, `gravity` or `inverse_dynamics`, as in `ControlSection`.

    Returns
    -------
    Timeline
        Reference of the joints; its hands are None, its base, ZMP and COG paths empty.

    Raises
    ------
    ScenarioError
        If the robot floats, has no such posture, or the sweep is too long, too short or beyond limits.
    """
    if robot.floating:
        raise ScenarioError(f"motion.source {SWEEP}: needs a robot with a fixed base; {robot.name} floats")
    start = robot.postures[choose_rest(robot, section.posture)]
    sweep = _read_sweep(task, settings.timestep_s)
    end = start + _directions(robot, start, sweep) * sweep.amplitude_rad
    knots, stops = [settings.settle_s], [start]
    for target in (end, start) * sweep.repetitions:
        knots += [knots[-1] + sweep.stroke_s, knots[-1] + sweep.stroke_s + sweep.pause_s]
        stops += [target, target]
    if sweep.pause_s == 0.0:
        knots, stops = knots[:1] + knots[1::2], stops[:1] + stops[1::2]
    rest = np.zeros_like(start)
    path = BPoly.from_derivatives(knots, [[stop, rest, rest] for stop in stops])
    sampled = sample_motion(path, settings, knots[-1], begin=knots[0], settled=True)
    torque = planned_torques(robot, sampled.position, sampled.velocity, sampled.acceleration, feedforward)
    grip = np.zeros((len(sampled.clock), len(robot.hands)), dtype=bool)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    base = base_pose(section.position_m, section.heading_rad, base_height(robot, section))
    return Timeline(reference, base, settings.settle_s, np.array([knots[0], knots[-1]]))


def _read_sweep(task: Mapping[str, float], timestep: float) -> JointSweep:
    """Check the keys and values of `motion.task`."""
    known = [field.name for field in fields(JointSweep)]
    for key, value in task.items():
        if key not in known:
            raise ScenarioError(f"motion.task.{key}: unknown key; allowed: {', '.join(known)}")
        if not value > 0.0 and not (key == "pause_s" and value == 0.0):
            raise ScenarioError(f"motion.task.{key}: must be greater than 0, got {value:g}")
    repetitions = task.get("repetitions", 1)
    if repetitions != int(repetitions):
        raise ScenarioError(f"motion.task.repetitions: must be a whole number, got {repetitions:g}")
    lengths = {key: float(value) for key, value in task.items() if key != "repetitions"}
    sweep = JointSweep(**lengths, repetitions=int(repetitions))
    if sweep.stroke_s < timestep:
        raise ScenarioError(
            f"motion.task: a stroke takes {sweep.stroke_s:.3g} s; at least a step, {timestep:g} s"
        )
    if 0.0 < sweep.pause_s < timestep:
        raise ScenarioError(
            f"motion.task.pause_s: {sweep.pause_s:g}; allowed: 0, or from a step, {timestep:g} s"
        )
    total = 2.0 * repetitions * (sweep.stroke_s + sweep.pause_s)
    if total > _MAX_DURATION:
        raise ScenarioError(f"motion.task: would take {total:.4g} s; at most {_MAX_DURATION:g} s")
    return sweep


def moved_by_sweep(robot: Robot) -> NDArray[np.bool_]:
    """Tell which joints a sweep moves: all but those that close a hand.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    (n,) array of bool
        Whether each joint moves.
    """
    closing = {joint for hand in robot.hands.values() for joint in hand.joints}
    return np.isin(robot.joint_names, sorted(set(arm_joints(robot)) - closing))


def _directions(robot: Robot, start: Array, sweep: JointSweep) -> Array:
    """Side on which each joint has more room, ±1 (n,), 0 for fingers; refuse what passes a limit."""
    model, moved = robot.model, moved_by_sweep(robot)
    below, above = start - model.lowerPositionLimit, model.upperPositionLimit - start
    room = np.where(moved, np.maximum(below, above), np.inf)
    for name, most in zip(robot.joint_names, room, strict=True):
        if most < sweep.amplitude_rad:
            raise ScenarioError(
                f"motion.task.amplitude_rad: {sweep.amplitude_rad:g} is beyond the limits of {name}; "
                f"at most {most:.3f} from this posture"
            )
    for name, limit in zip(robot.joint_names, np.where(moved, model.velocityLimit, np.inf), strict=True):
        if limit < sweep.speed_rad_s:
            raise ScenarioError(
                f"motion.task.speed_rad_s: {sweep.speed_rad_s:g} is beyond the speed limit of {name}, "
                f"{limit:g} rad/s"
            )
    return np.where(moved, np.where(above >= below, 1.0, -1.0), 0.0)
