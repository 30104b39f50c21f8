"""The control law that a scenario asks for."""

from simbench.dynamics.model_library import explicit_model_of
from simbench.robot.robot import Robot
from simbench.runs.scenario.schema import Scenario
from simbench.sim.control.explicit_law import ExplicitTorqueLaw
from simbench.sim.control.laws import LAWS, ControlLaw


def chosen_law(scenario: Scenario, robot: Robot) -> ControlLaw:
    """Make the law of a scenario's `control`.

    Parameters
    ----------
    scenario : Scenario
    robot : Robot

    Returns
    -------
    ControlLaw

    Raises
    ------
    ScenarioError
        If the law does not suit the robot.
    RobotError
        If an explicit model is asked for of what is no arm by rows (`dh`).
    """
    control, timestep = scenario.control, scenario.simulation.timestep_s
    if control.model == "own":
        return LAWS[control.law](robot, timestep, control.bandwidth_hz)
    model = explicit_model_of(scenario.robot.name, abbreviated=control.model == "abbreviated")
    rate = control.torques_hz or 1.0 / timestep
    elements, torques = (round(1.0 / (each * timestep)) for each in (control.elements_hz or rate, rate))
    return ExplicitTorqueLaw(robot, timestep, control.bandwidth_hz, model, elements, torques)
