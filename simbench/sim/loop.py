"""The loop: read the state, sense, grip, push, balance, control, step; log at a chosen rate."""

import math
import time as clock
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.compiled import compile_timer
from simbench.retargeting.reference.reference import Reference
from simbench.sim.control.controller import make_controller
from simbench.sim.control.laws import ControlLaw
from simbench.sim.fixtures.fixture import Fixture, fixture_state, resist
from simbench.sim.grasp import Grip, apply_grips
from simbench.sim.push import Push, apply_pushes
from simbench.sim.recorder import Recorder, derive_motion
from simbench.sim.sensing import POINTS_PER_FOOT, ContactSensor, contact_wrench, read_contacts
from simbench.sim.state import RobotState, empty_state, read_state, root_pose
from simbench.sim.world import GRAVITY, RobotBody

_SENSE_RATE = 200.0
"""At which feet and fingertips feel contact (Hz), whatever the log's rate."""
_HELD_FORCE = 5.0
"""Vertical force (N) down to which a foot that the ground holds counts as held."""
_GROUNDED_SHARE = 0.1
"""Part of the weight from which a foot that comes down counts as held. A motor that is driven as if the foot
were held, while it bounces, turns it with the rotor's share of the torque as well: feet chattered at 4 times
their joints' speed limits. Driven as if free, it gives way while the foot lies down flat."""
_AFTER_FALL = 0.5
"""How long a run goes on after a fall, s."""
_KEPT_STATES = 64
"""States whose extremes are taken at once."""
_LIGHT_SHARE = 0.35
"""Part of the weight below which a held foot is looked at in every step: it may leave the ground."""


class Balancer(Protocol):
    """What moves the reference while a run goes on."""

    every: int
    """Steps between its commands."""

    def command(
        self, step: int, state: RobotState, foot_wrench: NDArray[np.float64], reference: Reference
    ) -> None:
        """Overwrite the rows [step, step + every) of a reference, of which nothing later has been used.

        `foot_wrench` (2, 6) is the floor's on each foot in the last step, N and N·m about the world's origin.
        """


def simulate(
    body: RobotBody,
    reference: Reference,
    fixtures: Sequence[Fixture],
    grips: Sequence[Grip],
    recorder: Recorder,
    *,
    law: ControlLaw | None = None,
    balancer: Balancer | None = None,
    pushes: Sequence[Push] = (),
    seat: Fixture | None = None,
    log_every: int,
    fallen_height: float = -math.inf,
    realtime: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Track a reference with a robot, and fill `recorder`; when it ends early, that holds what came before.

    A sample at t holds the state and the reference at t, the commands given from t on, and the contact forces
    of the step that ended at t. Extremes of joint position and speed are taken at every step.

    Parameters
    ----------
    body : RobotBody
    reference : Reference
    fixtures : sequence of Fixture
    grips : sequence of Grip
        One for each of `robot.hands`, or none.
    recorder : Recorder
    law : ControlLaw, optional
        PD with the robot's gains by default.
    balancer : Balancer, optional
    pushes : sequence of Push
        Forces on the pelvis from outside.
    seat : Fixture, optional
        What the robot's thighs lie on.
    log_every : int
        Steps between samples.
    fallen_height : float
        Height of the root, m, below which the robot has fallen: the run ends half a second later.
    realtime : bool
        Wait for the clock, for watching.
    progress : callable (done, total)
    stop : callable
        Asked before every step whether to end here.
    """
    world, robot = body.world, body.robot
    sitting = robot.thighs if seat else ()
    controller = make_controller(body, law, sitting)
    root_q, root_v = robot.root_q, robot.root_v
    # The last states, whose extremes are taken together.
    last = empty_state(body, _KEPT_STATES)
    states = [RobotState(q, v) for q, v in zip(last.q, last.v, strict=True)]
    names = _names(fixtures)
    resisting = [f for f in fixtures if any(joint.resists for joint in f.mechanism.joints)]
    sensor = ContactSensor(body, {world.floor: ("floor", {}), **names})
    recorder.events = sensor.events
    feet = len(robot.feet)
    wrench, points, others = np.zeros((feet, 6)), np.full((feet, POINTS_PER_FOOT, 2), np.nan), np.zeros(6)
    steps = end = len(reference.position)
    sense_every = max(1, round(1.0 / (_SENSE_RATE * world.timestep)))
    balance_every = balancer.every if balancer else steps
    weight = GRAVITY * pin.computeTotalMass(robot.model)
    # Who sits makes no steps.
    light, light_load, grounded = False, 0.0 if seat else _LIGHT_SHARE * weight, _GROUNDED_SHARE * weight
    held = np.ones(feet, dtype=bool)
    controller.hold_feet([True] * (len(sitting) or feet))
    started = clock.perf_counter()
    wanted = reference.grip.tolist()
    demand = controller.demand(
        reference.position, reference.velocity, reference.feedforward, reference.acceleration
    )
    recorder.base_pose[:] = root_pose(body)
    # What is compiled at its first call would count as the loop's.
    leaving = ExitStack()
    compiling = leaving.enter_context(compile_timer())
    try:
        for step in range(steps):
            if step >= end or stop():
                break
            state = states[step % _KEPT_STATES]
            read_state(body, state)
            sampling, sensing = step % log_every == 0, step % sense_every == 0 or light
            balancing = balancer is not None and step % balance_every == 0
            loads = apply_grips(grips, wanted[step], sensing) if grips else []
            push = apply_pushes(body, pushes, step, loads) if pushes else 0.0
            for fixture in resisting:
                resist(fixture)
            if sampling or sensing or balancing:
                contacts = read_contacts(world)
                sensor.sample(step * world.timestep, contacts, wrench, points, others)
            if (sensing or balancing) and step > 0:
                load = wrench[:, 2]
                held &= load > _HELD_FORCE
                held |= load > grounded
                carried = seat is not None and contact_wrench(contacts, body.body, seat.body)[2] > grounded
                controller.hold_feet([carried] * len(sitting) if sitting else held.tolist())
                light = bool((held & (load < light_load)).any())
            if sampling:
                row = recorder.count
                recorder.foot_wrench[row] = wrench
                recorder.foot_points[row] = points
                recorder.contact_wrench[row] = others
                recorder.push_wrench[row] = push
                recorder.time[row] = step * world.timestep
                recorder.joint_position[row] = state.q[root_q:]
                recorder.joint_velocity[row] = state.v[root_v:]
                # The row of a step holds for its end.
                recorder.joint_reference[row] = reference.position[max(step - 1, 0)]
                if robot.floating:
                    recorder.base_pose[row] = state.q[:7]
                    recorder.base_velocity[row] = state.v[:6]
                for side, grip in enumerate(grips):
                    recorder.grip_wrench[row, side] = grip.wrench
                    recorder.grip_point[row, side] = grip.point
                    recorder.grip_engaged[row, side] = grip.engaged
                for fixture, record in zip(fixtures, recorder.fixtures, strict=True):
                    record.position[row], record.velocity[row], record.stand[row] = fixture_state(fixture)
                    record.contact_wrench[row] = contact_wrench(contacts, fixture.body, body.body)
                if end == steps and robot.floating and not state.q[2] >= fallen_height:
                    end = step + round(_AFTER_FALL / world.timestep)
                progress(step, steps)
            if balancing:
                assert balancer is not None
                before = clock.perf_counter() - compiling()
                balancer.command(step, state, wrench, reference)
                rows = slice(step, step + balance_every)
                demand[rows] = controller.demand(
                    reference.position[rows],
                    reference.velocity[rows],
                    reference.feedforward[rows],
                    reference.acceleration[rows],
                )
                recorder.balance_time.append(clock.perf_counter() - compiling() - before)
            command = controller.step(state, demand[step], loads)
            recorder.saturated_steps += command.saturated
            if sampling:
                recorder.torque_requested[row] = command.requested
                recorder.torque_motor[row] = command.motor
                recorder.torque_joint[row] = command.joint
                recorder.torque_friction[row] = command.friction
                recorder.count = row + 1
            before = clock.perf_counter()
            world.step()
            recorder.step_time += clock.perf_counter() - before
            if (step + 1) % _KEPT_STATES == 0:
                recorder.take_extremes(last.q[:, root_q:], last.v[:, root_v:])
            recorder.steps = step + 1
            if realtime:
                clock.sleep(max(0.0, started + step * world.timestep - clock.perf_counter()))
        progress(steps, steps)
    finally:
        rest = recorder.steps % _KEPT_STATES
        recorder.take_extremes(last.q[:rest, root_q:], last.v[:rest, root_v:])
        recorder.wall_time = clock.perf_counter() - started - compiling()
        leaving.close()
        recorder.grips_lost = sum(grip.lost for grip in grips)
        derive_motion(recorder, robot)


def _names(fixtures: Sequence[Fixture]) -> dict[int, tuple[str, dict[int, str]]]:
    """Name the bodies of fixtures and their links, for contacts."""
    names = {}
    for fixture in fixtures:
        names[fixture.body] = fixture.name, {index: name for name, index in fixture.links.items()}
        if fixture.furniture is not None:
            links = {index: name for name, index in fixture.furniture_links.items()}
            names[fixture.furniture] = fixture.name, links
    return names
