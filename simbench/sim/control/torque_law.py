"""The control law that a scenario asks for; a plug-in's is a function from measurements to torques."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from simbench.dynamics.explicit_model import explicit_model_of
from simbench.errors import PluginError, ScenarioError, closest_name
from simbench.kinematics.arrays import Array
from simbench.options import CONTROL_LAWS, ControlSection
from simbench.plugins.declarations import call_plugin, plugin_maker
from simbench.robot.robot import Robot
from simbench.sim.control.laws import LAWS, ControlLaw, ExplicitTorqueLaw, RowsLaw
from simbench.sim.control.policy_contract import read_contract
from simbench.sim.control.policy_law import PolicyLaw, load_callable, load_onnx
from simbench.sim.state import RobotState, empty_state


def apply_gains(robot: Robot, control: ControlSection) -> Robot:
    """Give a robot's motors the gains of a scenario: K = s_K K₀ and D = s_D D₀ of each joint.

    `robot`: robot with gains of its own; `control`: gains K₀ and D₀ instead of these, in N·m/rad and
    N·m·s/rad (N/m and N·s/m of a sliding joint), and factors s_K and s_D. Returns the same robot with these
    gains. Raises ScenarioError if the robot has no joint or group of a name.
    """
    motors, ones = robot.motors, np.ones(len(robot.joint_names))
    usual = {"stiffness": motors.stiffness, "damping": motors.damping}
    usual |= {"stiffness_scale": ones, "damping_scale": ones}
    known, values = {*robot.joint_names, *robot.groups}, dict(usual)
    for key in usual:
        # Of each joint its own value, else that of the last group it is in, else the usual one.
        given: float | Mapping[str, float] | None = getattr(control, key)
        if given is None:
            continue
        if not isinstance(given, Mapping):
            values[key] = np.full(len(robot.joint_names), given)
            continue
        for name in given:
            if name not in known:
                hint = closest_name(name, known)
                groups = ", ".join(name for name, joints in robot.groups.items() if joints)
                raise ScenarioError(
                    f"control.{key}.{name}: {robot.name} has no such joint or group{hint}; "
                    f"allowed: a joint, or one of {groups or 'no group'}"
                )
        values[key] = usual[key].copy()
        for name in sorted(given, key=lambda name: name in robot.joint_names):
            joints = (name,) if name in robot.joint_names else robot.groups[name]
            values[key][[robot.joint_names.index(joint) for joint in joints]] = given[name]
    gains = replace(
        motors,
        stiffness=values["stiffness_scale"] * values["stiffness"],
        damping=values["damping_scale"] * values["damping"],
    )
    return replace(robot, motors=gains)


@dataclass
class ControlInputs:
    """What a torque law knows at the start of a physics step; n actuated joints in the robot's order.

    Its arrays are overwritten by the next step.

    Parameters
    ----------
    time : float
        Time, s.
    position, velocity : (n,) array
        Measured joint positions and velocities, rad and rad/s (m and m/s of a sliding joint).
    state : RobotState
        Measured state with the base: configuration (nq,) and velocity (nv,) of the robot's Pinocchio model.
    reference_position, reference_velocity, reference_acceleration : (n,) array
        Reference at the end of the step, rad, rad/s and rad/s².
    feedforward : (n,) array
        Feed-forward torque of the plan (`control.feedforward`), N·m.
    """

    time: float
    position: Array
    velocity: Array
    state: RobotState
    reference_position: Array
    reference_velocity: Array
    reference_acceleration: Array
    feedforward: Array


# Gives the torques (n,) that the motors are asked for, N·m (N of a sliding joint), limited afterwards.
#
# An attribute `implicit` (n,), if it has one, is by how much each motor gives less per acceleration of its
# joint in this step, kg·m²: D dt + K dt² makes stiffness K and damping D act at the end of the step, which is
# stable at gains for which a torque of the state at its start is not.
TorqueLaw = Callable[[ControlInputs], Array]


class ControlLawPlugin(Protocol):
    """A plug-in of group `simbench.control_laws`: a section with keys that has this method."""

    def control_law(self, robot: Robot, timestep: float) -> TorqueLaw | ControlLaw:
        """Make the law of a run.

        Parameters
        ----------
        robot : Robot
            Robot that the law drives.
        timestep : float
            Physics step, s.

        Returns
        -------
        TorqueLaw or ControlLaw
            Function from measurements and reference to torques; or a law as those of `sim.control.laws`.
        """


class PluggedLaw(RowsLaw):
    """A torque law as a control law.

    `reference`: how the scenario names it, for messages; `law`: the function; `robot`: robot that it drives;
    `timestep`: physics step, s. Raises PluginError if `implicit` of the law has another shape.
    """

    def __init__(self, reference: str, law: TorqueLaw, robot: Robot, timestep: float) -> None:
        count = len(robot.joint_names)
        self._reference, self._law, self._timestep, self._step = reference, law, timestep, 0
        self._names = robot.joint_names
        implicit = np.asarray(getattr(law, "implicit", np.zeros(count)), dtype=float)
        if implicit.shape != (count,) or not np.isfinite(implicit).all():
            raise PluginError(f"{reference}: implicit of shape {implicit.shape}; allowed: ({count},), finite")
        self.implicit = implicit
        # The state is subtracted by the law itself, not by the controller.
        self.gain = self.rate_gain = np.zeros(count)
        self._root = robot.root_q, robot.root_v
        at, speed, *rows = np.zeros((6, count))
        self._inputs = ControlInputs(0.0, at, speed, empty_state(robot), rows[0], rows[1], rows[2], rows[3])

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Ask the law.

        `state`: state at the start of the step; `demand` (4 n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        given, root = self._inputs, self._root
        given.time = self._step * self._timestep
        given.state.q[:], given.state.v[:] = state.q, state.v
        given.position[:], given.velocity[:] = state.q[root[0] :], state.v[root[1] :]
        rows = demand.reshape(4, -1)
        given.reference_position[:], given.reference_velocity[:] = rows[0], rows[1]
        given.reference_acceleration[:], given.feedforward[:] = rows[2], rows[3]
        self._step += 1
        torque = np.asarray(call_plugin(self._reference, self._law, given))
        if torque.shape != out.shape:
            raise PluginError(
                f"{self._reference}: torques of shape {torque.shape}; "
                f"allowed: ({len(out)},), one for each joint"
            )
        if not np.isfinite(torque).all():
            joint = self._names[int(np.argmin(np.isfinite(torque)))]
            raise PluginError(
                f"{self._reference}: torque of {joint} is no finite number at {given.time:.4g} s"
            )
        out[:] = torque


def make_control_law(
    robot: Robot, description: str, control: ControlSection, timestep: float, posture: Array | None = None
) -> ControlLaw:
    """Make the control law that a scenario's `control` section asks for.

    `robot`: robot that the law drives; `description`: name of the robot, or path of its robot.yaml: an
    explicit model is derived from its table of rows; `control`: law, its options if a plug-in has it, PD
    gains and their factors, bandwidth in Hz, model, and the rates in Hz of an explicit model; `timestep`:
    physics step, s; `posture` (n,): joint positions of the scenario's posture, rad: a policy's default ones
    where its contract has none. Returns law that computes the joint torques of every physics step. Raises
    ScenarioError if the law does not suit the robot. Raises PolicyError if a policy or its contract cannot be
    read, or does not suit the robot. Raises PluginError if the law is a plug-in's, and it cannot be made.
    Raises RobotError if an explicit model is asked for, and the robot is no arm described by rows (`dh`).
    """
    if control.law not in CONTROL_LAWS:
        made: Any = plugin_maker("control_laws", control.law, control.options)(robot, timestep)
        if all(hasattr(made, name) for name in ("demand", "torque", "implicit", "gain", "rate_gain")):
            return cast(ControlLaw, made)
        if not callable(made):
            raise PluginError(
                f"{control.law}: makes a value of type {type(made).__name__}; "
                "allowed: a function of ControlInputs, or a ControlLaw"
            )
        return PluggedLaw(control.law, made, robot, timestep)
    if control.policy is not None:
        policy = control.policy
        law = PolicyLaw(robot, read_contract(Path(policy.contract)), timestep, policy.contract, posture)
        # Everything that can be compared before a run is.
        if policy.model is not None:
            law.use(load_onnx(Path(policy.model), law))
        else:
            law.use(load_callable(str(policy.callable), robot))
        return law
    robot = apply_gains(robot, control)
    if control.model == "own":
        return LAWS[control.law](robot, timestep, control.bandwidth_hz)
    model = explicit_model_of(description, abbreviated=control.model == "abbreviated")
    rate = control.torques_hz or 1.0 / timestep
    elements, torques = (round(1.0 / (each * timestep)) for each in (control.elements_hz or rate, rate))
    return ExplicitTorqueLaw(robot, timestep, control.bandwidth_hz, model, elements, torques)
