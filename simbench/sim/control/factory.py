"""The control law that a scenario asks for."""

from pathlib import Path

from simbench.dynamics.model_library import explicit_model_of
from simbench.errors import PluginError
from simbench.kinematics.arrays import Array
from simbench.options import CONTROL_LAWS, ControlSection, PolicySection
from simbench.plugins.declarations import plugin_maker
from simbench.robot.robot import Robot
from simbench.sim.control.explicit_law import ExplicitTorqueLaw
from simbench.sim.control.gains import apply_gains
from simbench.sim.control.laws import LAWS, ControlLaw
from simbench.sim.control.policy.contract import read_contract
from simbench.sim.control.policy.law import PolicyLaw
from simbench.sim.control.policy.model import load_callable, load_onnx
from simbench.sim.control.torque_law import PluggedLaw


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
        return _plugged_law(robot, control, timestep)
    if control.policy is not None:
        return _policy_law(robot, control.policy, timestep, posture)
    robot = apply_gains(robot, control)
    if control.model == "own":
        return LAWS[control.law](robot, timestep, control.bandwidth_hz)
    model = explicit_model_of(description, abbreviated=control.model == "abbreviated")
    rate = control.torques_hz or 1.0 / timestep
    elements, torques = (round(1.0 / (each * timestep)) for each in (control.elements_hz or rate, rate))
    return ExplicitTorqueLaw(robot, timestep, control.bandwidth_hz, model, elements, torques)


def _policy_law(robot: Robot, policy: PolicySection, timestep: float, posture: Array | None) -> PolicyLaw:
    """Make the law of a policy; everything that can be compared before a run is."""
    contract = read_contract(Path(policy.contract))
    law = PolicyLaw(robot, contract, timestep, policy.contract, posture)
    if policy.model is not None:
        law.use(load_onnx(Path(policy.model), law))
    else:
        law.use(load_callable(str(policy.callable), robot))
    return law


def _plugged_law(robot: Robot, control: ControlSection, timestep: float) -> ControlLaw:
    """Make the law of a plug-in: a function from measurements to torques, or a law as simbench's own."""
    law = plugin_maker("control_laws", control.law, control.options)(robot, timestep)
    if all(hasattr(law, name) for name in ("demand", "torque", "implicit", "gain", "rate_gain")):
        made: ControlLaw = law
        return made
    if not callable(law):
        raise PluginError(
            f"{control.law}: makes a value of type {type(law).__name__}; "
            "allowed: a function of ControlInputs, or a ControlLaw"
        )
    return PluggedLaw(control.law, law, robot, timestep)
