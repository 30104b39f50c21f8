"""A PyBullet world: client, floor and stepping. Every call names its client: worlds can coexist."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simbench.files.storage import scratch_folder
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.bullet.client import bullet, hidden_native_stdout, quiet_native_output
from simbench.sim.bullet.contacts import BulletContacts
from simbench.sim.bullet.fixture import BulletFixture, build_fixture
from simbench.sim.bullet.robot import BulletRobot, load_robot
from simbench.sim.engine import GRAVITY, BodyHandle, LinkHandle, RobotBody
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.vectors import Quaternion, Vector

SOLVER_ITERATIONS = 50
"""Iterations of Bullet's constraint solver in a step (`scripts/studies/solver_iterations.py`)."""


@dataclass(frozen=True)
class BulletWorld:
    """A physics client with a floor at z = 0."""

    client: int  # PyBullet's client id.
    timestep: float  # Duration of a step, s.
    floor: BodyHandle  # Body id of the floor.
    scratch: Path  # Directory for files that Bullet must read, removed with the world.

    def step(self) -> None:
        """Advance the physics by one time step."""
        bullet.stepSimulation(physicsClientId=self.client)

    def add_robot(self, robot: Robot, base: Array, positions: Array) -> BulletRobot:
        """Put a robot into the world, at rest.

        `base` (7,): pose of the root link: x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint
        positions in the order of `robot.joint_names`, rad.
        """
        return load_robot(self, self.client, robot, base, positions)

    def add_fixture(self, mechanism: Mechanism) -> BulletFixture:
        """Build a mechanism in the world, in its initial state.

        `mechanism`: description of the equipment. Returns the equipment in this world.
        """
        return build_fixture(self, self.client, mechanism)

    def add_rigid_body(self, mass: float, moments: Array, rotation: Quaternion) -> "BulletRigidBody":
        """Add a rigid body without shape at the origin, at rest and without Bullet's artificial damping.

        `mass`: kg; `moments` (3,): principal moments of inertia about the centre of mass, kg·m²; `rotation`
        (4,): quaternion x, y, z, w of the principal axes in the world.
        """
        body = bullet.createMultiBody(mass, -1, -1, [0, 0, 0], rotation, physicsClientId=self.client)
        bullet.changeDynamics(
            body,
            -1,
            linearDamping=0.0,
            angularDamping=0.0,
            localInertiaDiagonal=moments.tolist(),
            physicsClientId=self.client,
        )
        return BulletRigidBody(self.client, body)

    def add_surface(self, mesh: Path, grey: float, center: Sequence[float], texture: Path | None) -> None:
        """Add a visible surface that nothing collides with.

        `mesh`: wavefront OBJ file with texture coordinates and normals, m; `grey`: grey level that the
        texture is multiplied by, 0..1; `center`: position of the mesh's origin on the ground, world frame, m;
        `texture`: picture file that covers the mesh.
        """
        client = self.client
        shape = bullet.createVisualShape(
            bullet.GEOM_MESH,
            fileName=str(mesh),
            rgbaColor=[grey, grey, grey, 1.0],
            physicsClientId=client,
        )
        surface = bullet.createMultiBody(
            0.0, baseVisualShapeIndex=shape, basePosition=[*center, 0.0], physicsClientId=client
        )
        if texture is not None:
            image = bullet.loadTexture(str(texture), physicsClientId=client)
            bullet.changeVisualShape(surface, -1, textureUniqueId=image, physicsClientId=client)

    def show_window(
        self, body: RobotBody, target: Vector, distance: float, angles: tuple[float, float]
    ) -> None:
        """Let Bullet's window, which shows nothing yet, show the world.

        The floor's body is no longer seen: `add_surface` is there to show one. `target` (3,): point in the
        middle of the window, world frame, m; `distance`: distance of the camera from the target, m; `angles`:
        yaw and pitch of the camera, degrees.
        """
        client = self.client
        # Bullet's own keys would act beside ours; its side panels hide half of the window.
        for panel in (bullet.COV_ENABLE_KEYBOARD_SHORTCUTS, bullet.COV_ENABLE_GUI):
            bullet.configureDebugVisualizer(panel, 0, physicsClientId=client)
        bullet.resetDebugVisualizerCamera(distance, *angles, target, physicsClientId=client)
        self._colour_links(body)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 1, physicsClientId=client)

    def _colour_links(self, body: RobotBody) -> None:
        """Give links the colour of their first shape: the window has one per link, the last shape's."""
        for shape in reversed(bullet.getVisualShapeData(body.handle, physicsClientId=self.client)):
            handle, link, *_, colour = shape[:8]
            bullet.changeVisualShape(handle, link, rgbaColor=colour, physicsClientId=self.client)

    def read_contacts(self) -> BulletContacts:
        """Read all contacts of the last step. Returns contact points of all bodies."""
        return BulletContacts(self.client)

    def are_links_near(
        self,
        first: tuple[BodyHandle, LinkHandle],
        second: tuple[BodyHandle, LinkHandle],
        distance: float,
    ) -> bool:
        """Tell whether two links are within a distance, whether or not they can collide.

        `distance`: largest distance between their surfaces, m. Returns true if they are as near as that.
        """
        (body, link), (other, other_link) = first, second
        client = self.client
        return bool(bullet.getClosestPoints(body, other, distance, link, other_link, physicsClientId=client))

    def disable_collision(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle]
    ) -> None:
        """Let two links pass through each other."""
        (body, link), (other, other_link) = first, second
        bullet.setCollisionFilterPair(body, other, link, other_link, 0, physicsClientId=self.client)


@dataclass(frozen=True)
class BulletRigidBody:
    """A single rigid body that moves freely."""

    client: int  # PyBullet's client id.
    handle: int  # PyBullet's body id.

    def pose(self) -> tuple[Vector, Array]:
        """Read the pose of the body.

        Returns `position` (3,): centre of mass, world frame, m; `rotation` (3, 3): rotation matrix of the
        principal axes in the world.
        """
        position, quaternion = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=self.client)
        return position, np.reshape(bullet.getMatrixFromQuaternion(quaternion), (3, 3))

    def apply_force(self, force: Vector, point: Vector) -> None:
        """Apply a force during the next step.

        `force` (3,): force, world axes, N; `point` (3,): point of application, world frame, m.
        """
        bullet.applyExternalForce(
            self.handle, -1, force, point, bullet.WORLD_FRAME, physicsClientId=self.client
        )


@contextlib.contextmanager
def connect_world(timestep: float, *, floor_friction: float, gui: bool) -> Iterator[BulletWorld]:
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1; `gui`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    # The window's thread prints whenever it likes.
    quiet = hidden_native_stdout() if gui else contextlib.nullcontext()
    with quiet, _connection(gui) as client, scratch_folder() as scratch:
        if gui:
            # Every call would wait for a picture, of a world that is not whole yet.
            bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 0, physicsClientId=client)
        bullet.setGravity(0, 0, -GRAVITY, physicsClientId=client)
        # Bullet would stop solving contacts at a residual of 1e-7: standing feet then creep, and jump.
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=timestep,
            numSubSteps=0,
            numSolverIterations=SOLVER_ITERATIONS,
            solverResidualThreshold=0.0,
            deterministicOverlappingPairs=1,
            physicsClientId=client,
        )
        shape = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=[0, 0, 1], physicsClientId=client)
        floor = bullet.createMultiBody(0, shape, physicsClientId=client)
        bullet.changeDynamics(floor, -1, lateralFriction=floor_friction, physicsClientId=client)
        if gui:
            hidden = [1.0, 1.0, 1.0, 0.0]
            bullet.changeVisualShape(floor, -1, rgbaColor=hidden, physicsClientId=client)
        yield BulletWorld(client, timestep, floor, scratch)


@contextlib.contextmanager
def _connection(gui: bool) -> Iterator[int]:
    """Connect to a physics server of our own, with or without a window."""
    with quiet_native_output():
        client = bullet.connect(bullet.GUI if gui else bullet.DIRECT)
    try:
        yield client
    finally:
        with quiet_native_output():
            bullet.disconnect(physicsClientId=client)
