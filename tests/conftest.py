"""Robot, recordings and plans that several folders of tests share; a plan takes seconds to compute."""

import fcntl
import functools
import gc
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import followed_person
import hypothesis
import numpy as np
import pytest
import typer.main

from simbench.cli.main import main
from simbench.motion.human_motion import HandlePath, HumanMotion, resample
from simbench.motion.readers import read_motion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.imitation.imitation import Imitation, imitate
from simbench.retargeting.imitation.scaled_model import ScaledActor, calibrate
from simbench.retargeting.stand.standing_plan import MotionPlan, plan_motion
from simbench.robot.robot import Robot, load_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.runs.scenario.schema import Scenario
from simbench.sim.engine import is_installed
from simbench.sim.fixtures.mechanism import Mechanism, handle_poses

pytest_plugins = ["recorded_bodies"]
# Processes that run the tests side by side, one a core, inherit it: threads of theirs would wait for cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test cuts the power: what is written is read by processes that need nothing on the disk.
os.fsync = lambda descriptor: None
# Hundreds of command lines in one process: the tree of commands is made for the first one.
typer.main.get_command = functools.cache(typer.main.get_command)
# What a property test takes depends on the machine, and on what else runs on it.
hypothesis.settings.register_profile(
    "any_machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any_machine")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what tests PyBullet, or compares with it, where it is not installed."""
    if is_installed("bullet") or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if "import pybullet" in text or "simbench.sim.bullet" in text else None


def pytest_collection_finish() -> None:
    """Leave half a million objects of imports and tests out of every later search for garbage."""
    gc.freeze()


@dataclass(frozen=True)
class Planned:
    """A scenario, the motion of its actor, and the plan for the robot."""

    scenario: Scenario
    mechanism: Mechanism | None
    motion: HumanMotion
    plan: MotionPlan


@pytest.fixture(scope="session")
def romeo() -> Robot:
    return load_robot("romeo")


@pytest.fixture(scope="session")
def mahru() -> Robot:
    return load_robot("mahru")


@pytest.fixture(scope="session")
def dancing(mahru: Robot) -> JointTrajectory:
    return followed_person.dancing_robot(mahru)


@pytest.fixture(scope="session")
def person(mahru: Robot, dancing: JointTrajectory) -> HumanMotion:
    return followed_person.dancing_person(mahru, dancing)


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


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep plans in a folder of these tests, which all processes share, and not in the user's."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    os.environ["SIMBENCH_CACHE_DIR"] = str(folder / "cache")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], Any]], Any]:
    """Compute something once for all processes that run the tests: `made_once(name, make)`."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def once(name: str, make: Callable[[], Any]) -> Any:
        path = folder / f"{name}.pickle"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_bytes(pickle.dumps(make()))
        return pickle.loads(path.read_bytes())

    return once


def _plan(robot: Robot, scenario: Scenario, mechanisms: list[Mechanism]) -> tuple[HumanMotion, MotionPlan]:
    """Read the motion of a scenario and plan it, as a run does before the simulation."""
    motion = scenario_motion(scenario, mechanisms)
    handles = {}
    for mechanism in mechanisms:
        openings = np.linspace(0.0, mechanism.joints[0].highest, 61)
        handles = {
            side: HandlePath(poses) for side, poses in handle_poses(mechanism, openings[:, None]).items()
        }
    plan = plan_motion(robot, motion, scenario.robot, scenario.retarget, Equipment(handles), lambda *_: None)
    return motion, plan


@pytest.fixture(scope="session")
def plan_scenario(romeo: Robot, made_once: Callable[[str, Callable[[], Any]], Any]) -> Callable[..., Planned]:
    """Plan a scenario that ships with simbench, by its name, and with another timing if one is given."""

    def plan(name: str, timing: str | None = None) -> Planned:
        scenario = load_scenario(name, [f"retarget.timing={timing}"] if timing else [])
        mechanisms = scenario_mechanisms(scenario)
        key = f"{name}-{timing or 'own'}-plan"
        motion, made = made_once(key, lambda: _plan(romeo, scenario, mechanisms))
        return Planned(scenario, mechanisms[0] if mechanisms else None, motion, made)

    return plan


@pytest.fixture(scope="session")
def drawer_run(
    made_once: Callable[[str, Callable[[], Any]], Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Path]:
    """Find a run of `drawer` by the command line: the one that is named, else one made for all tests."""

    def make() -> Path:
        folder = tmp_path_factory.mktemp("drawer") / "run"
        assert main(["run", "drawer", "--out", str(folder)]) == 0
        return folder

    def find() -> Path:
        made = os.environ.get("SIMBENCH_DRAWER_RUN")
        return Path(made) if made else made_once("drawer-run", make)

    return find


@pytest.fixture(scope="session")
def drawer_planned(plan_scenario: Callable[..., Planned]) -> Planned:
    return plan_scenario("drawer")


@pytest.fixture(scope="session")
def dance_planned(plan_scenario: Callable[..., Planned]) -> Planned:
    return plan_scenario("dance")


@pytest.fixture(scope="session")
def slowed_dance_planned(plan_scenario: Callable[..., Planned]) -> Planned:
    """The dance slowed by one factor, all of its amplitude left."""
    return plan_scenario("dance", "uniform")
