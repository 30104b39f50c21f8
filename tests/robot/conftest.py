"""The robots, where their frames are, and one alone in a PyBullet world."""

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pybullet
import pytest
from numpy.typing import NDArray

from simbench.robot.robot import Robot, load_robot

SCRIPT = Path(__file__).parents[2] / "scripts" / "tools" / "build_robots.py"


@pytest.fixture(scope="session")
def romeo() -> Robot:
    return load_robot("romeo")


@pytest.fixture(scope="session")
def mahru() -> Robot:
    return load_robot("mahru")


@pytest.fixture(scope="session", params=["romeo", "mahru"])
def humanoid(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


@pytest.fixture(scope="session", params=["puma560", "direct_drive_arm"])
def arm(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


@pytest.fixture(scope="session")
def placed() -> Callable[[Robot, NDArray[np.float64]], dict[str, pin.SE3]]:
    """All frames of a robot at joint positions, its root at the origin."""

    def place(robot: Robot, positions: NDArray[np.float64]) -> dict[str, pin.SE3]:
        data = robot.model.createData()
        pin.framesForwardKinematics(
            robot.model, data, np.concatenate([pin.neutral(robot.model)[:7], positions])
        )
        return {frame.name: data.oMf[i] for i, frame in enumerate(robot.model.frames)}

    return place


@pytest.fixture(scope="session")
def build_robots() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_robots", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


class Bullet:
    """A robot alone in a PyBullet world, with free base, 2 m up."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.client = pybullet.connect(pybullet.DIRECT)
        self.body = pybullet.loadURDF(
            str(robot.urdf), [0, 0, 2], flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=self.client
        )
        infos = [
            pybullet.getJointInfo(self.body, i, physicsClientId=self.client)
            for i in range(pybullet.getNumJoints(self.body, physicsClientId=self.client))
        ]
        root = pybullet.getBodyInfo(self.body, physicsClientId=self.client)[0].decode()
        self.joints = {info[1].decode(): info[0] for info in infos}
        self.links = {root: -1} | {info[12].decode(): info[0] for info in infos}
        # Every finger at the limit that is farther from open, which is 0.
        limits = {info[1].decode(): (info[8], info[9]) for info in infos}
        self.closed = {
            joint: max(limits[joint], key=abs) for hand in robot.hands.values() for joint in hand.joints
        }

    def pose(self, positions: dict[str, float]) -> None:
        for joint, index in self.joints.items():
            pybullet.resetJointState(self.body, index, positions.get(joint, 0.0), physicsClientId=self.client)

    def add(self, shape: int, at: NDArray[np.float64], rpy: list[float]) -> int:
        """Put a massless body of a collision shape into the world."""
        body = pybullet.createMultiBody(0, shape, physicsClientId=self.client)
        turn = pybullet.getQuaternionFromEuler(rpy)
        pybullet.resetBasePositionAndOrientation(body, at, turn, physicsClientId=self.client)
        return int(body)

    def gap(self, link: str, other_link: str, body: int | None = None) -> float:
        """Smallest distance of two links, 1 m at most; of a link and another body if one is given."""
        points = pybullet.getClosestPoints(
            self.body,
            self.body if body is None else body,
            1.0,
            self.links[link],
            self.links[other_link] if body is None else -1,
            physicsClientId=self.client,
        )
        return min((point[8] for point in points), default=1.0)


@contextlib.contextmanager
def in_bullet(robot: Robot) -> Iterator[Bullet]:
    world = Bullet(robot)
    yield world
    pybullet.disconnect(world.client)


@pytest.fixture
def bullet(humanoid: Robot) -> Iterator[Bullet]:
    with in_bullet(humanoid) as world:
        yield world


@pytest.fixture
def romeo_in_bullet(romeo: Robot) -> Iterator[Bullet]:
    with in_bullet(romeo) as world:
        yield world


@pytest.fixture
def mahru_in_bullet(mahru: Robot) -> Iterator[Bullet]:
    with in_bullet(mahru) as world:
        yield world


@pytest.fixture
def arm_in_bullet(arm: Robot) -> Iterator[Bullet]:
    world = Bullet(arm)
    yield world
    pybullet.disconnect(world.client)


@pytest.fixture
def load_text(tmp_path: Path) -> Iterator[Callable[..., tuple[int, int]]]:
    """Load URDF text into PyBullet, from a file in a folder of its own; gives body and client."""
    client = pybullet.connect(pybullet.DIRECT)
    count = iter(range(1000))

    def load(text: str, **options: object) -> tuple[int, int]:
        path = tmp_path / f"loaded{next(count)}" / "scratch.urdf"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        return pybullet.loadURDF(str(path), flags=flags, physicsClientId=client, **options), client

    yield load
    pybullet.disconnect(client)
