"""The simulation loop: sense, control and step at every time step; record at a chosen rate."""

import contextlib
import gc
import math
import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pinocchio as pin

from simbench.errors import SimbenchError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_timer
from simbench.retargeting.reference.reference import Reference
from simbench.sim.control.controller import make_controller
from simbench.sim.control.laws import ControlLaw
from simbench.sim.engine import GRAVITY, Contacts, Fixture, RobotBody
from simbench.sim.equipment import resist
from simbench.sim.grasp import EmptyHand, Grip, apply_grips
from simbench.sim.push import Push, apply_pushes
from simbench.sim.recorder import (
    Divergence,
    Recorder,
    derive_signals,
    find_divergence,
    find_fixture_divergence,
)
from simbench.sim.sensing import ContactSums, contact_wrench, watch_contacts
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
# Exceptions with which controllers answer to states that are not finite.
NUMERICAL_ERRORS = (ArithmeticError, ValueError, IndexError, RuntimeError)


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
                loop.finish_extremes()
            except (*NUMERICAL_ERRORS, SimbenchError):
                loop.finish_extremes(interrupted=True)
                if recorder.divergence is None:
                    raise
            except BaseException:
                loop.finish_extremes()
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
        self._controller = make_controller(body, simulation.law, self._seated)
        self.steps = self._end = len(reference.position)
        self.compile_time: Callable[[], float] = lambda: 0.0
        # The last states, whose extremes are taken together.
        self._last = empty_state(robot, _KEPT_STATES)
        self._states = [RobotState(q, v) for q, v in zip(self._last.q, self._last.v, strict=True)]
        self._sensor = watch_contacts(body, simulation.fixtures)
        recorder.events = self._sensor.events
        self._sums = ContactSums.empty(len(robot.feet))
        self._contacts: Contacts = body.world.read_contacts()
        weight = GRAVITY * pin.computeTotalMass(robot.model)
        # A seated robot makes no steps.
        self._light_load = 0.0 if simulation.seat else _LIGHT_FRACTION * weight
        self._grounded_load = _GROUNDED_FRACTION * weight
        self._held = [True] * len(robot.feet)
        self._light = False
        self._controller.hold_feet([True] * (len(self._seated) or len(robot.feet)))
        self._demand = np.empty((0, 0))
        recorder["base_pose"][:] = body.root_pose()

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
        timestep, states, log_every = self._timestep, self._states, options.log_every
        started = clock.perf_counter()
        sense_every = max(1, round(1.0 / (_SENSE_RATE * timestep)))
        balance_every = simulation.balancer.every if simulation.balancer else 0
        self._demand = demand = self._demand_of(slice(None))
        holding = simulation.reference.grip.tolist()
        resisting = [fixture for fixture in simulation.fixtures if fixture.mechanism.resists]
        no_push = np.zeros(6)
        read_state, control, advance = body.read_state, self._controller.step, body.world.step
        stop, now = options.stop, clock.perf_counter
        for step in range(self.steps):
            if step >= self._end or recorder.divergence or stop():
                break
            state = states[step % _KEPT_STATES]
            read_state(state)
            sampling, sensing = step % log_every == 0, step % sense_every == 0 or self._light
            balancing = balance_every > 0 and step % balance_every == 0
            loads = apply_grips(grips, holding[step], sensing) if grips else []
            push = apply_pushes(body, pushes, step, loads) if pushes else no_push
            for fixture in resisting:
                resist(fixture)
            if sampling or sensing or balancing:
                self._sense(step, hold_feet=(sensing or balancing) and step > 0)
            if sampling:
                self._record(step, state, push)
            if balancing:
                self._balance(step, state)
            if every and step % every == 0:
                yield state, demand[step]
            command = control(state, demand[step], loads)
            recorder.saturated_steps += command.saturated
            if sampling:
                recorder.record(recorder.command, command)
                recorder.count += 1
            before = now()
            advance()
            recorder.step_time += now() - before
            recorder.steps = step + 1
            if (step + 1) % _KEPT_STATES == 0:
                self._take_extremes(step + 1 - _KEPT_STATES, _KEPT_STATES)
            if options.realtime:
                clock.sleep(max(0.0, started + step * timestep - now()))
        options.progress(self.steps, self.steps)

    def finish_extremes(self, *, interrupted: bool = False) -> None:
        """Take the extremes of the last states, fewer than are taken at once.

        `interrupted`: whether the last step ended after its state was read and before it counted.
        """
        count = self._recorder.steps % _KEPT_STATES
        if self._recorder.divergence is None:
            self._take_extremes(self._recorder.steps - count, count + interrupted)

    def _sense(self, step: int, *, hold_feet: bool) -> None:
        """Sum up the contacts of the last step, and tell the controller which feet are held."""
        simulation = self._simulation
        self._contacts = simulation.body.world.read_contacts()
        self._sensor.sample(step * self._timestep, self._contacts, self._sums)
        if not hold_feet:
            return
        loads: list[float] = self._sums.foot_wrench[:, 2].tolist()
        held = [
            (before and load > _HELD_FORCE) or load > self._grounded_load
            for before, load in zip(self._held, loads, strict=True)
        ]
        self._held = held
        if simulation.seat is not None and self._seated:
            press = contact_wrench(self._contacts, simulation.body.handle, simulation.seat.handle)[2]
            self._controller.hold_feet([press > self._grounded_load] * len(self._seated))
        else:
            self._controller.hold_feet(held)
        self._light = any(foot and load < self._light_load for foot, load in zip(held, loads, strict=True))

    def _record(self, step: int, state: RobotState, push: Array) -> None:
        """Take a sample of everything but the command, and notice a fall."""
        simulation, recorder, options = self._simulation, self._recorder, self._options
        recorder.time[recorder.count] = step * self._timestep
        recorder.record(recorder.contact, self._sums)
        recorder.record(recorder.push, push)
        recorder.record(recorder.state, state)
        # The row of a step holds for its end.
        recorder.record(recorder.reference, simulation.reference.position[max(step - 1, 0)])
        if simulation.grips:
            recorder.record(recorder.grip, simulation.grips)
        robot = simulation.body
        for fixture, (states, contacts) in zip(simulation.fixtures, recorder.fixtures, strict=True):
            recorder.record(states, fixture.read_state())
            wrench = contact_wrench(self._contacts, fixture.handle, robot.handle)
            recorder.record(contacts, wrench)
        fallen = robot.robot.floating and not state.q[2] >= options.fallen_height
        if fallen and self._end == self.steps:
            self._end = step + round(_AFTER_FALL / self._timestep)
        options.progress(step, self.steps)

    def _balance(self, step: int, state: RobotState) -> None:
        """Let the balancer change the reference until its next command."""
        balancer = self._simulation.balancer
        assert balancer is not None
        before = clock.perf_counter() - self.compile_time()
        balancer.command(step, state, self._sums.foot_wrench, self._simulation.reference)
        rows = slice(step, step + balancer.every)
        self._demand[rows] = self._demand_of(rows)
        self._recorder.balance_time.append(clock.perf_counter() - self.compile_time() - before)

    def _demand_of(self, rows: slice) -> Array:
        """Compute the law's demand for steps of the reference."""
        reference = self._simulation.reference
        return self._controller.demand(
            reference.position[rows],
            reference.velocity[rows],
            reference.feedforward[rows],
            reference.acceleration[rows],
        )

    def _take_extremes(self, first: int, count: int) -> None:
        """Widen the extremes by `count` states from step `first` on; end where the physics diverges."""
        simulation, recorder = self._simulation, self._recorder
        last = RobotState(self._last.q[:count], self._last.v[:count], self._last.root)
        robot = simulation.body.robot
        found = find_divergence(robot, last, fallen=self._end < self.steps)
        if found is None:
            cause = find_fixture_divergence(simulation.fixtures)
            found = None if cause is None else (0, cause)
        if found is not None:
            count, cause = found
            time = round((first + count) * self._timestep, _DIGITS)
            recorder.divergence = Divergence(time, cause)
            recorder.end_at(time, first + count)
        positions, velocities = last.q[:count, robot.root_q :], last.v[:count, robot.root_v :]
        recorder.take_extremes(positions, velocities)
