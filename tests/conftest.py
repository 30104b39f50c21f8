"""Robot, recordings and plans that several folders of tests share; the plans take seconds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from simbench.equipment import fixture_design
from simbench.motion.handles import Handle
from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.readers import read_motion
from simbench.plan import MotionPlan, plan_motion
from simbench.recording import scenario_motion
from simbench.retarget.imitation import Imitation, imitate
from simbench.retarget.initial_configuration import ScaledActor, calibrate
from simbench.robot.robot import Robot, load_robot
from simbench.scenario import Scenario, load_scenario
from simbench.sim.fixtures import DrawerDesign, handle_poses

SIDES = ("left", "right")


@dataclass(frozen=True)
class Planned:
    """A scenario, what its actor did, and the plan for the robot."""

    scenario: Scenario
    design: DrawerDesign | None
    motion: HumanMotion
    plan: MotionPlan


@pytest.fixture(scope="session")
def romeo() -> Robot:
    return load_robot("romeo")


@pytest.fixture(scope="session")
def drawer_motion() -> HumanMotion:
    return read_motion("actor:drawer")


@pytest.fixture(scope="session")
def dance_motion() -> HumanMotion:
    return resample(read_motion("deepmimic:humanoid3d_dance_b"), 200.0)


@pytest.fixture(scope="session")
def drawer_actor(romeo: Robot, drawer_motion: HumanMotion) -> ScaledActor:
    return calibrate(romeo, drawer_motion)


@pytest.fixture(scope="session")
def dance_actor(romeo: Robot, dance_motion: HumanMotion) -> ScaledActor:
    return calibrate(romeo, dance_motion)


@pytest.fixture(scope="session")
def drawer_imitation(drawer_actor: ScaledActor, drawer_motion: HumanMotion) -> Imitation:
    return imitate(drawer_actor, drawer_motion)


@pytest.fixture(scope="session")
def dance_imitation(dance_actor: ScaledActor, dance_motion: HumanMotion) -> Imitation:
    return imitate(dance_actor, dance_motion)


@pytest.fixture(scope="session")
def plan_scenario(romeo: Robot) -> Callable[[Scenario], Planned]:
    """Read the motion of a scenario and plan it, as a run does before it simulates."""

    def plan(scenario: Scenario) -> Planned:
        designs = [fixture_design(section) for section in scenario.fixtures]
        motion = scenario_motion(scenario, designs)
        handles = {}
        for design in designs:
            poses = [handle_poses(design, opening) for opening in np.linspace(0.0, design.travel_m, 61)]
            handles = {side: Handle(np.array([pose[side].homogeneous for pose in poses])) for side in SIDES}
        made = plan_motion(
            romeo, motion, scenario.robot, scenario.retarget, handles, lambda stage, done, total: None
        )
        return Planned(scenario, designs[0] if designs else None, motion, made)

    return plan


@pytest.fixture(scope="session")
def drawer_planned(plan_scenario: Callable[[Scenario], Planned]) -> Planned:
    return plan_scenario(load_scenario("drawer"))


@pytest.fixture(scope="session")
def dance_planned(plan_scenario: Callable[[Scenario], Planned]) -> Planned:
    return plan_scenario(load_scenario("dance"))
