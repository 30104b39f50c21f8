"""The loop: read the state, sense, grip, control, step; log at a chosen rate."""

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.sim.control import JointController
from simbench.sim.fixtures import Fixture, fixture_state
from simbench.sim.grasp import Grip, apply_grips
from simbench.sim.sensing import POINTS_PER_FOOT, ContactEvent, ContactSensor
from simbench.sim.state import RobotState, empty_state, read_state
from simbench.sim.world import RobotBody

_SENSE_RATE = 200.0
"""At which feet and fingertips feel contact (Hz), whatever the log's rate."""
_HELD_FORCE = 5.0
"""Vertical force (N) above which a foot counts as held by the ground."""


@dataclass(frozen=True)
class Reference:
    """What the joints are to do, at every physics step; row k holds for the end of step k.

    Parameters
    ----------
    position, velocity, feedforward : (N, n) array
        rad, rad/s, N·m, in the order of `robot.joint_names`.
    grip : (N, 2) bool array
        Whether the left and right hand are meant to hold.
    """

    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    feedforward: NDArray[np.float64]
    grip: NDArray[np.bool_]


class Recorder:
    """Preallocated samples of a run; `count` of them are filled."""

    def __init__(self, samples: int, joints: int, fixtures: int) -> None:
        self.count = 0
        self.time = np.zeros(samples)
        self.joint_position = np.zeros((samples, joints))
        self.joint_velocity = np.zeros((samples, joints))
        self.joint_reference = np.zeros((samples, joints))
        self.torque_requested = np.zeros((samples, joints))
        self.torque_motor = np.zeros((samples, joints))
        self.torque_joint = np.zeros((samples, joints))
        self.base_pose = np.zeros((samples, 7))
        self.base_velocity = np.zeros((samples, 6))
        self.cog = np.zeros((samples, 3))
        self.cog_velocity = np.zeros((samples, 3))
        self.angular_momentum = np.zeros((samples, 3))
        self.foot_wrench = np.zeros((samples, 2, 6))
        self.foot_points = np.full((samples, 2, POINTS_PER_FOOT, 2), np.nan)
        self.contact_wrench = np.zeros((samples, 6))
        self.palm_position = np.zeros((samples, 2, 3))
        self.grip_wrench = np.zeros((samples, 2, 6))
        self.grip_point = np.zeros((samples, 2, 3))
        self.grip_engaged = np.zeros((samples, 2), dtype=bool)
        self.fixture_position = np.zeros((samples, fixtures))
        self.fixture_velocity = np.zeros((samples, fixtures))
        self.highest_position = np.full(joints, -np.inf)
        self.lowest_position = np.full(joints, np.inf)
        self.highest_speed = np.zeros(joints)
        self.saturated_steps = 0
        self.grips_lost = 0
        self.events: list[ContactEvent] = []
        self.wall_time = 0.0
        self.step_time = 0.0
        self.steps = 0

    def take_extremes(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Widen the extremes by the joints of states (K, 7 + n) and (K, 6 + n)."""
        position, speed = q[:, 7:], np.abs(v[:, 6:])
        if len(q):
            np.maximum(self.highest_position, np.maximum.reduce(position), out=self.highest_position)
            np.minimum(self.lowest_position, np.minimum.reduce(position), out=self.lowest_position)
            np.maximum(self.highest_speed, np.maximum.reduce(speed), out=self.highest_speed)


def simulate(
    body: RobotBody,
    reference: Reference,
    fixtures: Sequence[Fixture],
    grips: Sequence[Grip],
    recorder: Recorder,
    *,
    log_every: int,
    realtime: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Track a reference with a robot, and fill `recorder`; on an interrupt it holds what came before.

    A sample at t holds the state at t, the commands given from t on, and the contact forces of the step that
    ended at t. Extremes of joint position and speed are taken at every step.

    Parameters
    ----------
    body : RobotBody
    reference : Reference
    fixtures : sequence of Fixture
    grips : sequence of Grip
        The left hand's and the right hand's, or none.
    recorder : Recorder
    log_every : int
        Steps between samples.
    realtime : bool
        Wait for the clock, for watching.
    progress : callable (done, total)
    """
    world, robot = body.world, body.robot
    model, data = robot.model, robot.model.createData()
    controller = JointController(body)
    # The states between two samples, whose extremes are taken together.
    between = empty_state(body, log_every)
    states = [RobotState(q, v) for q, v in zip(between.q, between.v, strict=True)]
    names = {fixture.body: (fixture.name, {i: n for n, i in fixture.links.items()}) for fixture in fixtures}
    sensor = ContactSensor(body, {world.floor: ("floor", {}), **names})
    recorder.events = sensor.events
    palms = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in ("left", "right")]
    wrench, points, others = np.zeros((2, 6)), np.full((2, POINTS_PER_FOOT, 2), np.nan), np.zeros(6)
    steps = len(reference.position)
    sense_every = max(1, round(1.0 / (_SENSE_RATE * world.timestep)))
    controller.hold_feet(True, True)
    started = clock.perf_counter()
    wanted = reference.grip.tolist()
    demand = controller.demand(reference.position, reference.velocity, reference.feedforward)
    try:
        for step in range(steps):
            state = states[step % log_every]
            read_state(body, state)
            sampling, sensing = step % log_every == 0, step % sense_every == 0
            loads = apply_grips(grips, wanted[step], sensing) if grips else []
            if sampling or sensing:
                sensor.sample(step * world.timestep, wrench, points, others)
            if sensing and step > 0:
                controller.hold_feet(*(wrench[:, 2] > _HELD_FORCE).tolist())
            if sampling:
                row = recorder.count
                recorder.foot_wrench[row] = wrench
                recorder.foot_points[row] = points
                recorder.contact_wrench[row] = others
                recorder.time[row] = step * world.timestep
                recorder.joint_position[row] = state.q[7:]
                recorder.joint_velocity[row] = state.v[6:]
                recorder.base_pose[row] = state.q[:7]
                recorder.base_velocity[row] = state.v[:6]
                momentum = pin.computeCentroidalMomentum(model, data, state.q, state.v)
                recorder.cog[row] = data.com[0]
                recorder.cog_velocity[row] = data.vcom[0]
                recorder.angular_momentum[row] = momentum.angular
                for side, frame in enumerate(palms):
                    recorder.palm_position[row, side] = pin.updateFramePlacement(
                        model, data, frame
                    ).translation
                for side, grip in enumerate(grips):
                    recorder.grip_wrench[row, side] = grip.wrench
                    recorder.grip_point[row, side] = grip.point
                    recorder.grip_engaged[row, side] = grip.engaged
                for column, fixture in enumerate(fixtures):
                    place, velocity = fixture_state(fixture)
                    recorder.fixture_position[row, column] = place
                    recorder.fixture_velocity[row, column] = velocity
                progress(step, steps)
            command = controller.step(state, demand[step], loads)
            recorder.saturated_steps += command.saturated
            if sampling:
                recorder.joint_reference[row] = reference.position[step]
                recorder.torque_requested[row] = command.requested
                recorder.torque_motor[row] = command.motor
                recorder.torque_joint[row] = command.joint
                recorder.count = row + 1
            before = clock.perf_counter()
            world.step()
            recorder.step_time += clock.perf_counter() - before
            if (step + 1) % log_every == 0:
                recorder.take_extremes(between.q, between.v)
            recorder.steps = step + 1
            if realtime:
                clock.sleep(max(0.0, started + step * world.timestep - clock.perf_counter()))
        progress(steps, steps)
    finally:
        rest = recorder.steps % log_every
        recorder.take_extremes(between.q[:rest], between.v[:rest])
        recorder.wall_time = clock.perf_counter() - started
        recorder.grips_lost = sum(grip.lost for grip in grips)
