"""Samples of a run, allocated for the signals that its parts declare; what is computed from them; divergence.

Physics diverges where it reaches states that no motion of a robot or of equipment reaches.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim import energy, grasp, push, sensing
from simbench.sim.control import command
from simbench.sim.engine import Fixture
from simbench.sim.fixtures.mechanism import Mechanism, MechanismJoint
from simbench.sim.sensing import ContactEvent, count_foot_points
from simbench.sim.state import FixtureState, RobotState, Signal, Source

# What is logged of the reference, measured on a row of `Reference.position`.
REFERENCE_SIGNALS: tuple[Signal[Array], ...] = (
    Signal(
        "joint_reference",
        ("joint",),
        "rad",
        "Joint positions that the controller was to reach by now.",
        lambda position: position,
    ),
)

# What `derive_signals` computes from the samples after a run.
DERIVED_SIGNALS: tuple[Signal[None], ...] = (
    Signal("cog", ("xyz",), "m", "COG (centre of gravity) of the robot in the world."),
    Signal("cog_velocity", ("xyz",), "m/s", "Velocity of the COG in the world."),
    Signal("angular_momentum", ("xyz",), "N m s", "Angular momentum about the COG, in the world's axes."),
    Signal("palm_position", ("hand", "xyz"), "m", "Position of the palms in the world."),
    Signal(
        "foot_pose",
        ("foot", "pose"),
        "m",
        "Pose of the frames of the feet in the world: position (m), then quaternion x, y, z, w.",
    ),
)


# Signals that are measured on the same object: the array of each, and the function that measures it.
Channels = list[tuple[NDArray[Any], Callable[[Source], ArrayLike]]]


_SAME_TIME = 1e-9  # Difference of two times that are the same but for rounding, s.


# Speed of a joint or of the base that only an explosion reaches, rad/s or m/s.
#
# Bullet cuts all speeds off at 100, so that a state there is not a solution of the equations of motion.
SPEED_BOUND = 99.0
FARTHEST = 1000.0  # Distance of the base from the origin that only an explosion reaches, m.


class Divergence(NamedTuple):
    """When and where physics diverged."""

    time: float  # Time of the first state that is not a motion, s.
    cause: str  # What reached it first, and how: `joint LElbow (speed 100 rad/s)`.

    def __str__(self) -> str:
        """Say what happened in one line, with what to try."""
        return (
            f"physics diverged at {self.time:.3f} s: {self.cause} first; "
            "try a smaller simulation.timestep_s, lower gains, or a start without penetration"
        )


def find_divergence(
    robot: Robot, states: RobotState, fixtures: Sequence[Fixture] = (), *, fallen: bool = False
) -> tuple[int, str] | None:
    """Find the first of several states that no motion reaches, or a fixture whose present state is none.

    The impact of a fall drives light joints, such as wrists, to the speed where Bullet cuts them off: after a
    fall only what is not finite counts. `robot`: robot in these states; `states`: K states: q (K, nq) and v
    (K, nv); `fixtures`: all equipment of the world; `fallen`: whether the robot has fallen. Returns index of
    the state (0 for a fixture), and what reached it first; None if all states are motions.
    """
    q, v, bound = states.q, states.v, np.inf if fallen else SPEED_BOUND
    # The extremes of what contains NaN are NaN.
    suspect = len(q) > 0 and not all(
        np.maximum.reduce(values, axis=None) < limit and np.minimum.reduce(values, axis=None) > -limit
        for values, limit in ((v, bound), (q, FARTHEST))
    )
    if suspect:
        speed = np.where(np.isfinite(v), np.abs(v), np.inf)
        beyond = ~np.isfinite(q)
        if robot.floating:
            beyond[:, :3] |= np.abs(q[:, :3]) >= FARTHEST
        row = int(((speed >= bound).any(axis=1) | beyond.any(axis=1)).argmax())
        column = int(speed[row].argmax())
        if speed[row, column] >= bound:
            reached, unit = abs(float(v[row, column])), "m/s" if column < 3 else "rad/s"
            if column < robot.root_v:
                return row, f"the base (speed {reached:.3g} {unit})"
            name = robot.joint_names[column - robot.root_v]
            kind = robot.model.joints[robot.model.getJointId(name)].shortname()
            unit = "m/s" if kind.startswith("JointModelP") else "rad/s"
            return row, f"joint {name} (speed {reached:.3g} {unit})"
        if beyond[row].any():
            column = int(beyond[row].argmax())
            if column < robot.root_q:
                return row, f"the base (position {q[row, min(column, 2)]:.3g} m)"
            return row, f"joint {robot.joint_names[column - robot.root_q]} (position {q[row, column]:.3g})"
    for fixture in fixtures:
        position, velocity, stand = fixture.read_state()
        for joint, place, rate in zip(fixture.mechanism.joints, position, velocity, strict=True):
            if not (abs(rate) < SPEED_BOUND and np.isfinite(place)):
                of_fixture = f"joint {joint.name} of {fixture.mechanism.name}"
                return 0, f"{of_fixture} (speed {abs(rate):.3g} {joint.unit}/s)"
        if not (np.abs(np.asarray(stand)[:3]) < FARTHEST).all():
            return 0, f"{fixture.mechanism.name} (position {np.abs(np.asarray(stand)[:3]).max():.3g} m)"
    return None


# State of a fixture, and force (N) and moment about the world's origin (N·m) of the robot's contacts on it.
FixtureSample = tuple[FixtureState, list[float]]


def joint_signals(fixture: str, joint: MechanismJoint, column: int) -> tuple[Signal[FixtureSample], ...]:
    """Declare what is logged of one joint of a fixture, whose state is in a column of `FixtureState`."""
    name, unit = f"{fixture}_{joint.name}", joint.unit
    return (
        Signal(name, (), unit, "Position of the joint.", lambda sample: sample[0].position[column]),
        Signal(
            f"{name}_velocity",
            (),
            f"{unit}/s",
            "Velocity of the joint.",
            lambda sample: sample[0].velocity[column],
        ),
    )


class Recorder:
    """Preallocated samples of a run; `count` of them are filled. `recorder[name]` is the array of a signal.

    A new signal is one `Signal` beside the code that measures it; array and log variable follow from there.
    `samples`: largest number of samples, S; `mechanisms`: its fixtures, in the order in which the loop gets
    them; `energies`: whether energies are sampled.
    """

    def __init__(
        self, samples: int, robot: Robot, mechanisms: Sequence[Mechanism] = (), *, energies: bool = True
    ) -> None:
        joints = len(robot.joint_names)
        self.count = 0
        self.time = np.zeros(samples)
        self._samples, self._sizes = (
            samples,
            {
                "joint": len(robot.joint_names),
                "foot": len(robot.feet),
                "hand": len(robot.hands),
                "point": count_foot_points(robot),
                "xyz": 3,
                "xy": 2,
                "pose": 7,
                "axis6": 6,
            },
        )
        self.signals: dict[str, Signal[Any]] = {}
        self._values: dict[str, NDArray[Any]] = {}
        root_q, root_v, floating = robot.root_q, robot.root_v, robot.root_q > 0
        # A fixed base is not sampled: it stays as it was at the start.
        self.state: Channels[RobotState] = self._allocate(
            (
                Signal(
                    "joint_position", ("joint",), "rad", "Joint positions.", lambda state: state.q[root_q:]
                ),
                Signal(
                    "joint_velocity", ("joint",), "rad/s", "Joint velocities.", lambda state: state.v[root_v:]
                ),
                Signal(
                    "base_pose",
                    ("pose",),
                    "m; quaternion x y z w",
                    "Pose of the root link in the world.",
                    (lambda state: state.q[:7]) if floating else None,
                ),
                Signal(
                    "base_velocity",
                    ("axis6",),
                    "m/s, rad/s in the root frame",
                    "Linear and angular velocity of the root link.",
                    (lambda state: state.v[:6]) if floating else None,
                ),
            )
        )
        self.reference: Channels[Array] = self._allocate(REFERENCE_SIGNALS)
        self.command: Channels[command.Command] = self._allocate(command.COMMAND_SIGNALS)
        self._allocate(DERIVED_SIGNALS)
        if energies:
            self._allocate(energy.ENERGY_SIGNALS)
        # Writes the energies of all samples so far, which lag behind.
        self.complete: Callable[[], None] = lambda: None
        self.contact: Channels[sensing.ContactSensor] = self._allocate(sensing.CONTACT_SIGNALS)
        self.push: Channels[Array] = self._allocate(push.PUSH_SIGNALS)
        self.grip: Channels[Sequence[grasp.Grip | grasp.EmptyHand]] = self._allocate(grasp.GRIP_SIGNALS)
        self.fixtures: list[Channels[FixtureSample]] = []
        for fixture in mechanisms:
            declared = [
                signal
                for column, joint in enumerate(fixture.joints)
                for signal in joint_signals(fixture.name, joint, column)
            ]
            if fixture.standing:
                declared.append(
                    Signal(
                        f"{fixture.name}_stand",
                        ("pose",),
                        "m; quaternion x y z w",
                        "Pose of the fixture's frame in the world.",
                        lambda sample: sample[0].stand,
                    )
                )
            declared.append(
                Signal(
                    f"{fixture.name}_contact_wrench",
                    ("axis6",),
                    "N, N m about the world origin",
                    "Wrench of the robot's contacts on the fixture.",
                    lambda sample: sample[1],
                )
            )
            self.fixtures.append(self._allocate(declared))
        self.highest_position = np.full(joints, -np.inf)
        self.lowest_position = np.full(joints, np.inf)
        self.highest_speed = np.zeros(joints)
        self.saturated_steps = 0
        self.grips_lost = 0
        self.events: list[ContactEvent] = []
        self.wall_time = 0.0
        self.step_time = 0.0
        self.balance_time: list[float] = []
        self.steps = 0
        self.divergence: Divergence | None = None

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the samples of a signal, (S, ...), of which the first `count` are filled."""
        return self._values[name]

    def record(self, channels: Channels[Source], source: Source) -> None:
        """Take a sample of signals, in the row `count`.

        `channels`: one of this recorder's groups of signals; `source`: object that the signals are measured
        on.
        """
        row = self.count
        for values, measure in channels:
            values[row] = measure(source)

    def _allocate(self, signals: Sequence[Signal[Source]]) -> Channels[Source]:
        """Make the arrays of signals; return those that are measured during the run."""
        for signal in signals:
            shape = (self._samples, *(self._sizes[dim] for dim in signal.dims))
            self.signals[signal.name] = signal
            self._values[signal.name] = np.full(shape, signal.fill, signal.dtype)
        return [(self._values[each.name], each.measure) for each in signals if each.measure is not None]

    def copy_from(self, first: int) -> "Recorder":
        """Copy the samples from one on, as a recorder of their own.

        `first`: index of the first sample to copy. Returns recorder with the samples [first, count) and the
        extremes and events so far. It takes no further samples.
        """
        self.complete()
        part = copy.copy(self)
        rows = slice(first, self.count)
        part.time, part.count = self.time[rows].copy(), self.count - first
        part._values = {name: values[rows].copy() for name, values in self._values.items()}
        return part

    def end_at(self, time: float, steps: int) -> None:
        """Drop the samples and the events from a time on.

        `time`: time of the first sample that is dropped, s; `steps`: number of physics steps before it.
        """
        # The first sample is where the robot was put.
        self.count = max(1, min(self.count, int(np.searchsorted(self.time[: self.count], time - _SAME_TIME))))
        self.steps = steps
        self.events[:] = [event for event in self.events if event.start < time]


def derive_signals(recorder: Recorder, robot: Robot) -> None:
    """Compute the signals that follow from others: COG, angular momentum, palms, feet, external wrenches.

    `recorder`: recorder whose first `count` samples are used and completed. To be called once. `robot`: robot
    whose model has the world's frame as its universe.
    """
    recorder.complete()
    model, data = robot.model, robot.model.createData()
    palms = [model.getFrameId(robot.frames[role]) for role in robot.hands]
    feet = [model.getFrameId(robot.frames[role]) for role in robot.feet]
    base = recorder["base_pose"][:, : robot.root_q]
    base_velocity = recorder["base_velocity"][:, : robot.root_v]
    positions = np.concatenate([base, recorder["joint_position"]], axis=1)
    velocities = np.concatenate([base_velocity, recorder["joint_velocity"]], axis=1)
    cog, cog_velocity = recorder["cog"], recorder["cog_velocity"]
    angular_momentum, palm_position = recorder["angular_momentum"], recorder["palm_position"]
    foot_pose = recorder["foot_pose"]
    for row in range(recorder.count):
        momentum = pin.computeCentroidalMomentum(model, data, positions[row], velocities[row])
        cog[row], cog_velocity[row] = data.com[0], data.vcom[0]
        angular_momentum[row] = momentum.angular
        for column, frame in enumerate(palms):
            palm_position[row, column] = pin.updateFramePlacement(model, data, frame).translation
        for column, frame in enumerate(feet):
            foot_pose[row, column] = pin.SE3ToXYZQUAT(pin.updateFramePlacement(model, data, frame))
    used = slice(0, recorder.count)
    wrench, point = recorder["grip_wrench"][used], recorder["grip_point"][used]
    other = recorder["other_wrench"]
    # The grips' forces on the palms, and their moments about the world's origin.
    force, moment = wrench[:, :, :3], wrench[:, :, 3:] + np.cross(point, wrench[:, :, :3])
    grips = np.concatenate([force.sum(axis=1), moment.sum(axis=1)], axis=1)
    other[used] = other[used] + grips + recorder["push_wrench"][used]
