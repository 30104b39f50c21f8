"""The simulation loop: sense, control and step at every time step; record at a chosen rate."""

import contextlib
import gc
import math
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pinocchio as pin

from simbench.errors import SimbenchError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_timer
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import follow_couplings
from simbench.sim.control.command import Controller
from simbench.sim.control.controller import ArmController
from simbench.sim.control.joint_controller import JointController
from simbench.sim.control.laws import ControlLaw, PdLaw
from simbench.sim.energy import ENERGY_SIGNALS, EnergyMeter
from simbench.sim.engine import GRAVITY, BodyHandle, Contacts, Fixture, LinkHandle, RobotBody
from simbench.sim.equipment import resist
from simbench.sim.grasp import EmptyHand, Grip, apply_grips
from simbench.sim.push import Push, apply_pushes
from simbench.sim.recorder import Divergence, Recorder, derive_signals, find_divergence
from simbench.sim.sensing import ContactSensor, contact_wrench
from simbench.sim.state import RobotState, empty_state

_SENSE_RATE = 200.0  # Rate at which feet and fingertips feel contact, Hz, independent of the log's rate.
_HELD_FORCE = 5.0  # Vertical force (N) down to which a foot that the ground holds counts as held.
# Fraction of the weight from which a foot that comes down counts as held. A motor that is driven as if the
# foot were held, while it bounces, turns it with the rotor's share of the torque as well: feet chattered at 4
# times their joints' speed limits. Driven as if free, it gives way while the foot lies down flat.
_GROUNDED_FRACTION = 0.1
# Fraction of the weight below which a held foot is sensed in every step: it may leave the ground.
_LIGHT_FRACTION = 0.35
_AFTER_FALL = 0.5  # Time for which a run goes on after a fall, s.
_KEPT_STATES = 64  # Number of states whose extremes are taken at once.
_DIGITS = 9  # Digits of a time after the point, s.
# Joints up to which an arm's step is compiled as a whole, anew for every number of them. With more, numba has
# taken the record of one robot for that of another in the same process.
_MOST_ARM_JOINTS = 9
# Exceptions with which controllers answer to states that are not finite.
NUMERICAL_ERRORS = (ArithmeticError, ValueError, IndexError, RuntimeError)


def make_controller(body: RobotBody, law: ControlLaw | None = None, seated: Sequence[str] = ()) -> Controller:
    """Make the controller of a robot: compiled as a whole for an arm, whose steps take next to no time.

    `body`: robot to drive; `law`: law that the motors follow; PD with the robot's gains by default; `seated`:
    links that a seat holds, instead of feet that the ground holds. Returns `ArmController` for a fixed root
    without feet and with few joints that all have motors, `JointController` for any other.
    """
    robot = body.robot
    if robot.floating or robot.feet or robot.couplings or len(robot.joint_names) > _MOST_ARM_JOINTS:
        return JointController(body, law, seated)
    return ArmController(body, PdLaw(robot, body.world.timestep) if law is None else law)


class Balancer(Protocol):
    """Changes the reference by measurements while a run goes on."""

    every: int
    """Steps between its commands."""

    def command(self, step: int, state: RobotState, foot_wrench: Array, reference: Reference) -> None:
        """Overwrite the rows [step, step + every) of a reference, of which nothing later has been used.

        Parameters
        ----------
        step : int
            Index of this step.
        state : RobotState
            State at the start of the step.
        foot_wrench : (2, 6) array
            Wrench of the floor on each foot in the last step, N and N·m about the world's origin.
        reference : Reference
            Reference of the run.
        """


@dataclass(frozen=True)
class Simulation:
    """A robot in its world and what happens to it."""

    body: RobotBody  # Robot at the start of the run.
    reference: Reference  # Joint motion to track.
    fixtures: Sequence[Fixture] = ()  # All equipment of the world.
    grips: Sequence[Grip | EmptyHand] = ()  # One for each of `robot.hands`, or none.
    law: ControlLaw | None = None  # Law that the motors follow; PD with the robot's gains by default.
    balancer: Balancer | None = None  # Changes the reference online.
    pushes: Sequence[Push] = ()  # External forces on the pelvis.
    seat: Fixture | None = None  # Fixture that carries the robot's thighs.


@dataclass(frozen=True)
class LoopOptions:
    """How a simulation runs and when it ends."""

    log_every: int  # Steps between samples.
    # Height of the root, m, below which the robot has fallen: the run ends half a second later.
    fallen_height: float = -math.inf
    realtime: bool = False  # Whether to wait for the clock, for watching.
    # Called with the number of steps at every sample, and at the end.
    progress: Callable[[int, int], None] = field(default_factory=lambda: lambda done, total: None)
    # Asked before every step whether to end here.
    stop: Callable[[], bool] = field(default_factory=lambda: lambda: False)


def simulate(simulation: Simulation, recorder: Recorder, options: LoopOptions) -> None:
    """Track a reference with a robot, and fill `recorder`; if it ends early, that holds what came before.

    A sample at t holds the state and the reference at t, the commands given from t on, and the contact forces
    of the step that ended at t. Extremes of joint position and speed are taken at every step.

    If the physics diverges, the simulation ends, `recorder.divergence` says when and what first, and the
    samples are those before. `simulation`: robot, reference and everything that acts on the robot;
    `recorder`: filled with samples, events and times; `options`: sampling, end, and how the run is followed.
    """
    loop = Stepper(simulation, recorder, options)
    try:
        # What is compiled at its first call would count as the loop's.
        with compile_timer() as compile_time, contextlib.ExitStack() as stack:
            # Else Python's garbage collector searches all that was loaded before: 0.15 s each time.
            gc.freeze()
            stack.callback(gc.unfreeze)
            loop.compile_time = compile_time
            started = clock.perf_counter()
            try:
                # What diverges overflows before it is noticed.
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                    for _ in loop.pauses(0):
                        pass
                loop.take_extremes()
            except (*NUMERICAL_ERRORS, SimbenchError):
                loop.take_extremes(interrupted=True)
                if recorder.divergence is None:
                    raise
            except BaseException:
                loop.take_extremes()
                raise
            finally:
                recorder.wall_time = clock.perf_counter() - started - compile_time()
    finally:
        recorder.grips_lost = sum(grip.lost for grip in simulation.grips)
        derive_signals(recorder, simulation.body.robot)


class Stepper:
    """Advances a simulation step by step: sense, record, balance, control. `simulate` does it to the end.

    `simulation`: robot, reference and everything that acts on the robot; `recorder`: filled with samples,
    events and times; `options`: sampling, end, and how the run is followed.
    """

    def __init__(self, simulation: Simulation, recorder: Recorder, options: LoopOptions) -> None:
        body, reference = simulation.body, simulation.reference
        robot = body.robot
        self._simulation, self._recorder, self._options = simulation, recorder, options
        self._timestep = body.world.timestep
        self._seated = robot.thighs if simulation.seat else ()
        if robot.couplings:
            follow_couplings(robot.joint_names, robot.couplings, reference.position)
            for rates in (reference.velocity, reference.acceleration):
                follow_couplings(robot.joint_names, robot.couplings, rates, rates=True)
        self._controller = make_controller(body, simulation.law, self._seated)
        self.steps = self._end = len(reference.position)
        self.compile_time: Callable[[], float] = lambda: 0.0
        # The last states, whose extremes are taken together.
        self._last = empty_state(robot, _KEPT_STATES)
        self._states = [RobotState(q, v) for q, v in zip(self._last.q, self._last.v, strict=True)]
        # The names of everything that the robot can touch.
        names: dict[BodyHandle, tuple[str, Mapping[LinkHandle, str]]] = {body.world.floor: ("floor", {})}
        for fixture in simulation.fixtures:
            name = fixture.mechanism.name
            names[fixture.handle] = name, {link: part for part, link in fixture.links.items()}
            if fixture.furniture is not None:
                furniture = {link: part for part, link in fixture.furniture_links.items()}
                names[fixture.furniture] = name, furniture
        self._sensor = ContactSensor(body, names)
        recorder.events = self._sensor.events
        weight = GRAVITY * pin.computeTotalMass(robot.model)
        # A seated robot makes no steps.
        self._light_load = 0.0 if simulation.seat else _LIGHT_FRACTION * weight
        self._grounded_load = _GROUNDED_FRACTION * weight
        self._controller.hold_feet([True] * (len(self._seated) or len(robot.feet)))
        recorder["base_pose"][:] = body.root_pose()
        self._meter = None
        if "energy_residual" in recorder.signals:
            samples = [recorder[signal.name] for signal in ENERGY_SIGNALS]
            self._meter = EnergyMeter(body, simulation.fixtures, simulation.grips, samples)
            recorder.complete = self._meter.flush

    @property
    def fallen(self) -> bool:
        """Whether the root was below `LoopOptions.fallen_height` at a sample."""
        return self._end < self.steps

    def pauses(self, every: int) -> Iterator[tuple[RobotState, Array]]:
        """Simulate to the end, with pauses in which a control law can be told what to do.

        `every`: steps between two pauses, the first one before the first step; 0 for none. Yields `state`:
        state at the start of the step; `demand`: row of the law's `demand` for this step, after the balancer
        has changed the reference.
        """
        simulation, recorder, options = self._simulation, self._recorder, self._options
        body, grips, pushes = simulation.body, simulation.grips, simulation.pushes
        reference, balancer, seat = simulation.reference, simulation.balancer, simulation.seat
        timestep, states, log_every = self._timestep, self._states, options.log_every
        started = clock.perf_counter()
        sense_every = max(1, round(1.0 / (_SENSE_RATE * timestep)))
        balance_every = balancer.every if balancer else 0
        demand = self._controller.demand(
            reference.position, reference.velocity, reference.feedforward, reference.acceleration
        )
        holding = reference.grip.tolist()
        # Latches, springs and damping that differs by direction, which no engine's joints offer.
        resisting = [
            (index, fixture)
            for index, fixture in enumerate(simulation.fixtures)
            if fixture.mechanism.latches
            or any(
                joint.stiffness > 0.0 or joint.damping != joint.back_damping
                for joint in fixture.mechanism.joints
            )
        ]
        no_push, sensor = np.zeros(6), self._sensor
        held, light = [True] * len(body.robot.feet), False
        read_state, control, advance = body.read_state, self._controller.step, body.world.step
        stop, now, meter = options.stop, clock.perf_counter, self._meter
        for step in range(self.steps):
            if step >= self._end or recorder.divergence or stop():
                break
            state = states[step % _KEPT_STATES]
            read_state(state)
            sampling, sensing = step % log_every == 0, step % sense_every == 0 or light
            balancing = balance_every > 0 and step % balance_every == 0
            loads = apply_grips(grips, holding[step], sensing) if grips else []
            push = apply_pushes(body, pushes, step, loads) if pushes else no_push
            efforts = {index: resist(fixture) for index, fixture in resisting}
            if sampling or sensing or balancing:
                contacts = body.world.read_contacts()
                sensor.sample(step * timestep, contacts)
            if (sensing or balancing) and step > 0:
                # Tell the controller which feet, or thighs, are held.
                foot_loads: list[float] = sensor.foot_wrench[:, 2].tolist()
                held = [
                    (before and load > _HELD_FORCE) or load > self._grounded_load
                    for before, load in zip(held, foot_loads, strict=True)
                ]
                on_seat = held
                if seat is not None and self._seated:
                    press = contact_wrench(contacts, body.handle, seat.handle)[2]
                    on_seat = [press > self._grounded_load] * len(self._seated)
                self._controller.hold_feet(on_seat)
                light = any(
                    foot and load < self._light_load for foot, load in zip(held, foot_loads, strict=True)
                )
            if sampling:
                self._record(step, state, contacts, push)
            if balancing:
                # The balancer changes the reference until its next command.
                assert balancer is not None
                before = now() - self.compile_time()
                balancer.command(step, state, sensor.foot_wrench, reference)
                rows = slice(step, step + balancer.every)
                demand[rows] = self._controller.demand(
                    reference.position[rows],
                    reference.velocity[rows],
                    reference.feedforward[rows],
                    reference.acceleration[rows],
                )
                recorder.balance_time.append(now() - self.compile_time() - before)
            if every and step % every == 0:
                yield state, demand[step]
            command = control(state, demand[step], loads)
            recorder.saturated_steps += command.saturated
            if meter is not None:
                meter.note(state, command, push, efforts, recorder.count if sampling else -1)
            if sampling:
                recorder.record(recorder.command, command)
                recorder.count += 1
            before = now()
            advance()
            recorder.step_time += now() - before
            recorder.steps = step + 1
            if (step + 1) % _KEPT_STATES == 0:
                self.take_extremes(_KEPT_STATES)
            if options.realtime:
                clock.sleep(max(0.0, started + step * timestep - now()))
        options.progress(self.steps, self.steps)

    def _record(self, step: int, state: RobotState, contacts: Contacts, push: Array) -> None:
        """Take a sample of everything but the command, and notice a fall."""
        simulation, recorder, options = self._simulation, self._recorder, self._options
        recorder.time[recorder.count] = step * self._timestep
        recorder.record(recorder.contact, self._sensor)
        recorder.record(recorder.push, push)
        recorder.record(recorder.state, state)
        # The row of a step holds for its end.
        recorder.record(recorder.reference, simulation.reference.position[max(step - 1, 0)])
        if simulation.grips:
            recorder.record(recorder.grip, simulation.grips)
        robot = simulation.body
        for fixture, channels in zip(simulation.fixtures, recorder.fixtures, strict=True):
            wrench = contact_wrench(contacts, fixture.handle, robot.handle)
            recorder.record(channels, (fixture.read_state(), wrench))
        fallen = robot.robot.floating and not state.q[2] >= options.fallen_height
        if fallen and self._end == self.steps:
            self._end = step + round(_AFTER_FALL / self._timestep)
        options.progress(step, self.steps)

    def take_extremes(self, count: int | None = None, *, interrupted: bool = False) -> None:
        """Widen the extremes by the last states; end where the physics diverges, before any other extremes.

        `count`: number of steps whose states count; by default of those since the last call. `interrupted`:
        whether the last step ended after its state was read and before it counted.
        """
        simulation, recorder = self._simulation, self._recorder
        if recorder.divergence is not None:
            return
        if count is None:
            count = recorder.steps % _KEPT_STATES
        first = recorder.steps - count
        count += interrupted
        last = RobotState(self._last.q[:count], self._last.v[:count], self._last.root)
        robot = simulation.body.robot
        found = find_divergence(robot, last, simulation.fixtures, fallen=self._end < self.steps)
        if found is not None:
            count, cause = found
            time = round((first + count) * self._timestep, _DIGITS)
            recorder.divergence = Divergence(time, cause)
            recorder.end_at(time, first + count)
        if count:
            positions, speeds = last.q[:count, robot.root_q :], np.abs(last.v[:count, robot.root_v :])
            highest, lowest, fastest = (
                recorder.highest_position,
                recorder.lowest_position,
                recorder.highest_speed,
            )
            np.maximum(highest, np.maximum.reduce(positions), out=highest)
            np.minimum(lowest, np.minimum.reduce(positions), out=lowest)
            np.maximum(fastest, np.maximum.reduce(speeds), out=fastest)
