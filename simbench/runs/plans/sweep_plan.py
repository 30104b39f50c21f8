"""The reference of a robot's own sweep: all joints of a robot with a fixed base go out and back."""

from collections.abc import Mapping

import numpy as np
from scipy.interpolate import BPoly

from simbench.errors import ScenarioError
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.options import SWEEP, RobotSection, SimulationSection
from simbench.retargeting.arm.fixed_base import arm_joints, base_pose, choose_rest
from simbench.retargeting.placement.placement import base_height
from simbench.retargeting.reference.reference import Flags, Timeline, sample_motion
from simbench.robot.robot import Robot
from simbench.runs.plans.retargeted_reference import fixed_base_reference

# Keys of `motion.task` of a sweep and their defaults: displacement of every joint but those that close a
# hand, to the side on which it has more room, rad; greatest speed of every joint, rad/s; number of strokes
# out and back; and pause at every end, s.
_SWEEP_TASK = {"amplitude_rad": 1.0, "speed_rad_s": 1.0, "repetitions": 1.0, "pause_s": 0.25}
# Greatest speed of a minimum-jerk movement over its mean speed (Flash & Hogan 1985).
_PEAK_OVER_MEAN = 1.875
# Longest sweep, s: its reference is held whole in memory, 0.3 MB a second for six joints.
_MAX_SWEEP = 600.0


def moved_by_sweep(robot: Robot) -> Flags:
    """Tell which joints a sweep moves, (n,): all but those that close a hand."""
    closing = {joint for hand in robot.hands.values() for joint in hand.joints}
    return np.isin(robot.joint_names, sorted(set(arm_joints(robot)) - closing))


def build_sweep_reference(
    robot: Robot,
    section: RobotSection,
    task: Mapping[str, float],
    settings: SimulationSection,
    feedforward: str,
) -> Timeline:
    """Build the reference of a sweep: all joints but fingers go out and back on minimum-jerk paths.

    `task` has keys of `motion.task`. Refuses robots that float or have no such posture, and a sweep that is
    too long, too short or beyond limits.
    """
    if robot.floating:
        raise ScenarioError(f"motion.source {SWEEP}: needs a robot with a fixed base; {robot.name} floats")
    start, timestep = robot.postures[choose_rest(robot, section.posture)], settings.timestep_s
    for key, value in task.items():
        if key not in _SWEEP_TASK:
            raise ScenarioError(f"motion.task.{key}: unknown key; allowed: {', '.join(_SWEEP_TASK)}")
        if not value > 0.0 and not (key == "pause_s" and value == 0.0):
            raise ScenarioError(f"motion.task.{key}: must be greater than 0, got {value:g}")
    amplitude, speed, repetitions, pause = ({**_SWEEP_TASK, **task}[key] for key in _SWEEP_TASK)
    if repetitions != int(repetitions):
        raise ScenarioError(f"motion.task.repetitions: must be a whole number, got {repetitions:g}")
    stroke = _PEAK_OVER_MEAN * amplitude / speed
    if stroke < timestep:
        raise ScenarioError(f"motion.task: a stroke takes {stroke:.3g} s; at least a step, {timestep:g} s")
    if 0.0 < pause < timestep:
        raise ScenarioError(f"motion.task.pause_s: {pause:g}; allowed: 0, or from a step, {timestep:g} s")
    total = 2.0 * repetitions * (stroke + pause)
    if total > _MAX_SWEEP:
        raise ScenarioError(f"motion.task: would take {total:.4g} s; at most {_MAX_SWEEP:g} s")
    moved = moved_by_sweep(robot)
    lowest, highest = joint_limits(robot)
    below, above = start - lowest, highest - start
    for name, most in zip(robot.joint_names, np.where(moved, np.maximum(below, above), np.inf), strict=True):
        if most < amplitude:
            raise ScenarioError(
                f"motion.task.amplitude_rad: {amplitude:g} is beyond the limits of {name}; "
                f"at most {most:.3f} from this posture"
            )
    for name, limit in zip(
        robot.joint_names, np.where(moved, robot.model.velocityLimit, np.inf), strict=True
    ):
        if limit < speed:
            raise ScenarioError(
                f"motion.task.speed_rad_s: {speed:g} is beyond the speed limit of {name}, {limit:g} rad/s"
            )
    # To the side on which each joint has more room.
    end = start + np.where(moved, np.where(above >= below, 1.0, -1.0), 0.0) * amplitude
    knots, stops = [settings.settle_s], [start]
    for target in (end, start) * int(repetitions):
        knots += [knots[-1] + stroke, knots[-1] + stroke + pause]
        stops += [target, target]
    if pause == 0.0:
        knots, stops = knots[:1] + knots[1::2], stops[:1] + stops[1::2]
    rest = np.zeros_like(start)
    path = BPoly.from_derivatives(knots, [[stop, rest, rest] for stop in stops])
    sampled = sample_motion(path, settings, knots[-1], knots[0])
    open_hands = np.zeros((len(sampled.clock), len(robot.hands)), dtype=bool)
    reference = fixed_base_reference(robot, sampled, feedforward, open_hands)
    base = base_pose(section.position_m, section.heading_rad, base_height(robot, section))
    return Timeline(reference, base, settings.settle_s, np.array([knots[0], knots[-1]]))
