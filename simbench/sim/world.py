"""A PyBullet world: client, floor, robot and stepping. Every call names its client: worlds can coexist."""

import contextlib
import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RunError
from simbench.robot.robot import Robot, placed_robot
from simbench.sim.vectors import Quaternion, Vector, inverse, product, rotated


@contextlib.contextmanager
def quiet_native_output() -> Iterator[None]:
    """Hide what Bullet's C++ prints (build time, renderer banner), which would mix with our own output."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


with quiet_native_output():
    import pybullet as bullet

__all__ = [
    "GRAVITY",
    "RobotBody",
    "World",
    "add_robot",
    "bullet",
    "open_world",
    "place_robot",
    "quiet_native_output",
    "require_display",
]

GRAVITY = 9.81


@dataclass(frozen=True)
class World:
    """A physics client with a floor at z = 0.

    Parameters
    ----------
    client : int
        PyBullet's client id.
    timestep : float
        s.
    floor : int
        Body id of the floor.
    scratch : Path
        Directory for files that Bullet must read, removed with the world.
    """

    client: int
    timestep: float
    floor: int
    scratch: Path

    def step(self) -> None:
        """Advance the physics by one time step."""
        bullet.stepSimulation(physicsClientId=self.client)


@dataclass(frozen=True)
class RobotBody:
    """A robot in a world.

    Parameters
    ----------
    world : World
    robot : Robot
        Placed: the world of its model is this one.
    body : int
        PyBullet's body id.
    joints : tuple of int, length n
        Bullet's joint indices in the order of `robot.joint_names`.
    links : mapping of str to int
        Link name to Bullet's index (root: -1).
    root_inertial : tuple of (3,) and (4,) floats
        Position (m) and quaternion of Bullet's inertial frame in the root link's frame.
    inertial_turn : (4,) floats
        The inverse of that quaternion.
    """

    world: World
    robot: Robot
    body: int
    joints: tuple[int, ...]
    links: Mapping[str, int]
    root_inertial: tuple[Vector, Quaternion]
    inertial_turn: Quaternion


def require_display(asking: str = "--gui", instead: str = "--video") -> None:
    """Refuse where Bullet's window cannot open: Bullet itself would end the process without a word.

    Parameters
    ----------
    asking, instead : str
        What needs the window, and what does not.

    Raises
    ------
    RunError
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise RunError(f"{asking} needs a screen: DISPLAY is not set; use {instead} instead")


@contextlib.contextmanager
def open_world(timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False) -> Iterator[World]:
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    Parameters
    ----------
    timestep : float
        s.
    floor_friction : float
        Coulomb coefficient between the floor and a body of friction 1.
    gui : bool
        Show Bullet's window.

    Yields
    ------
    World
    """
    with quiet_native_output():
        client = bullet.connect(bullet.GUI if gui else bullet.DIRECT)
    try:
        with tempfile.TemporaryDirectory(prefix="simbench-") as scratch:
            bullet.setGravity(0, 0, -GRAVITY, physicsClientId=client)
            # Bullet would stop solving contacts at a residual of 1e-7: standing feet then creep, and jump.
            bullet.setPhysicsEngineParameter(
                fixedTimeStep=timestep,
                numSubSteps=0,
                numSolverIterations=50,
                solverResidualThreshold=0.0,
                deterministicOverlappingPairs=1,
                physicsClientId=client,
            )
            shape = bullet.createCollisionShape(
                bullet.GEOM_PLANE, planeNormal=[0, 0, 1], physicsClientId=client
            )
            floor = bullet.createMultiBody(0, shape, physicsClientId=client)
            bullet.changeDynamics(floor, -1, lateralFriction=floor_friction, physicsClientId=client)
            yield World(client, timestep, floor, Path(scratch))
    finally:
        with quiet_native_output():
            bullet.disconnect(physicsClientId=client)


def add_robot(
    world: World, robot: Robot, base: NDArray[np.float64], positions: NDArray[np.float64]
) -> RobotBody:
    """Put a robot into the world, at rest. Only a robot whose description says so has a fixed root.

    Bullet's default motors and its artificial damping (0.04 on every link) are switched off; inertia is
    the description's own; only the self-collision pairs that the robot lists are active.

    Parameters
    ----------
    world : World
    robot : Robot
    base : (7,) array
        Pose of the root link: x, y, z (m), quaternion x, y, z, w.
    positions : (n,) array
        Joint positions in the order of `robot.joint_names`, rad.

    Returns
    -------
    RobotBody
    """
    client, robot = world.client, placed_robot(robot, base)
    flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_USE_SELF_COLLISION
    source = world.scratch / f"{robot.name}.urdf"
    source.write_text(robot.urdf_text, encoding="utf-8")
    with quiet_native_output():
        body = bullet.loadURDF(
            str(source),
            base[:3],
            base[3:],
            useFixedBase=not robot.floating,
            flags=flags,
            physicsClientId=client,
        )
    count = bullet.getNumJoints(body, physicsClientId=client)
    infos = [bullet.getJointInfo(body, i, physicsClientId=client) for i in range(count)]
    links = {info[12].decode(): info[0] for info in infos}
    links[bullet.getBodyInfo(body, physicsClientId=client)[0].decode()] = -1
    index = {info[1].decode(): info[0] for info in infos}
    joints = tuple(index[name] for name in robot.joint_names)

    for link in range(-1, count):
        bullet.changeDynamics(
            body,
            link,
            linearDamping=0.0,
            angularDamping=0.0,
            jointDamping=0.0,
            lateralFriction=1.0,
            physicsClientId=client,
        )
    _restore_inertia(world, body, links, robot.urdf_text)
    movable = [info[0] for info in infos if info[2] != bullet.JOINT_FIXED]
    bullet.setJointMotorControlArray(
        body, movable, bullet.VELOCITY_CONTROL, forces=[0.0] * len(movable), physicsClientId=client
    )
    allowed = {frozenset((links[a], links[b])) for a, b in robot.self_collision_pairs}
    for first in range(-1, count):
        for second in range(first + 1, count):
            enable = frozenset((first, second)) in allowed
            bullet.setCollisionFilterPair(body, body, first, second, int(enable), physicsClientId=client)
    dynamics = bullet.getDynamicsInfo(body, -1, physicsClientId=client)
    inertial = (dynamics[3], dynamics[4])
    placed = RobotBody(world, robot, body, joints, links, inertial, inverse(dynamics[4]))
    place_robot(placed, base, positions)
    return placed


def _restore_inertia(world: World, body: int, links: Mapping[str, int], urdf: str) -> None:
    """Give back the principal moments of links that Bullet took for impossible and made points of."""
    for element in ET.fromstring(urdf).iter("link"):
        inertia = element.find("inertial/inertia")
        if inertia is None or element.get("name") not in links:
            continue
        link = links[str(element.get("name"))]
        mass, _, taken, *_ = bullet.getDynamicsInfo(body, link, physicsClientId=world.client)
        moments = [float(inertia.get(axis, "0")) for axis in ("ixx", "iyy", "izz")]
        if mass > 0.0 and any(moments) and not any(taken):
            bullet.changeDynamics(body, link, localInertiaDiagonal=moments, physicsClientId=world.client)


def place_robot(body: RobotBody, base: NDArray[np.float64], positions: NDArray[np.float64]) -> None:
    """Set the pose of a robot, at rest.

    Parameters
    ----------
    body : RobotBody
    base : (7,) array
        Pose of the root link: x, y, z (m), quaternion x, y, z, w.
    positions : (n,) array
        Joint positions, rad.
    """
    client = body.world.client
    place, turn = body.root_inertial
    root: Quaternion = tuple(base[3:].tolist())
    offset, turned = rotated(root, place), product(root, turn)
    com = [float(start) + way for start, way in zip(base[:3], offset, strict=True)]
    bullet.resetBasePositionAndOrientation(body.body, com, turned, physicsClientId=client)
    bullet.resetBaseVelocity(body.body, [0, 0, 0], [0, 0, 0], physicsClientId=client)
    bullet.resetJointStatesMultiDof(
        body.body, list(body.joints), [[value] for value in positions.tolist()], physicsClientId=client
    )
