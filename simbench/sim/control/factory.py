"""The control law that a scenario asks for."""

from dataclasses import replace

from simbench.dynamics.model_library import explicit_model_of
from simbench.options import ControlSection
from simbench.robot.robot import Robot
from simbench.sim.control.explicit_law import ExplicitTorqueLaw
from simbench.sim.control.laws import LAWS, ControlLaw


def make_control_law(robot: Robot, description: str, control: ControlSection, timestep: float) -> ControlLaw:
    """Make the control law that a scenario's `control` section asks for.

    Parameters
    ----------
    robot : Robot
        Robot that the law drives.
    description : str
        Name of the robot, or path of its robot.yaml: an explicit model is derived from its table of rows.
    control : ControlSection
        Law, factors of the PD gains, bandwidth in Hz, model, and the rates in Hz of an explicit model.
    timestep : float
        Physics step, s.

    Returns
    -------
    ControlLaw
        Law that computes the joint torques of every physics step.

    Raises
    ------
    ScenarioError
        If the law does not suit the robot.
    RobotError
        If an explicit model is asked for, and the robot is no arm described by rows (`dh`).
    """
    motors = replace(
        robot.motors,
        stiffness=control.stiffness_scale * robot.motors.stiffness,
        damping=control.damping_scale * robot.motors.damping,
    )
    robot = replace(robot, motors=motors)
    if control.model == "own":
        return LAWS[control.law](robot, timestep, control.bandwidth_hz)
    model = explicit_model_of(description, abbreviated=control.model == "abbreviated")
    rate = control.torques_hz or 1.0 / timestep
    elements, torques = (round(1.0 / (each * timestep)) for each in (control.elements_hz or rate, rate))
    return ExplicitTorqueLaw(robot, timestep, control.bandwidth_hz, model, elements, torques)
