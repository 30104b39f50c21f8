"""A MuJoCo world: floor, bodies and stepping. Worlds can coexist."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from simbench.errors import RunError
from simbench.files.storage.scratch import scratch_folder
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.engine import BodyHandle, LinkHandle, RobotBody
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.mujoco.body import apply_at
from simbench.sim.mujoco.contacts import MujocoContacts
from simbench.sim.mujoco.fixture import MujocoFixture, build_fixture
from simbench.sim.mujoco.robot import MujocoRobot, load_robot
from simbench.sim.mujoco.scene import FLOOR, MujocoScene
from simbench.sim.vectors import Quaternion, Vector

_NO_WINDOW = "--gui: engine mujoco has no window; allowed: --view, or engine bullet"
_SKIN = 1e-3
"""Thickness, m, by which Bullet's hulls of meshes and its cylinders exceed their shapes: what is near there
is near here."""
_THICKER = [int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_CYLINDER)]


@dataclass(frozen=True)
class MujocoWorld:
    """A physics world with a floor at z = 0.

    Parameters
    ----------
    scene : MujocoScene
        MuJoCo's model and state.
    scratch : Path
        Directory for files, removed with the world.
    floor : BodyHandle
        Number of the floor.
    """

    scene: MujocoScene
    scratch: Path
    floor: BodyHandle = FLOOR

    @property
    def timestep(self) -> float:
        """Duration of a step, s."""
        return self.scene.timestep

    def step(self) -> None:
        """Advance the physics by one time step."""
        self.scene.step()

    def add_robot(self, robot: Robot, base: Array, positions: Array) -> MujocoRobot:
        """Put a robot into the world, at rest.

        Parameters
        ----------
        robot : Robot
            Robot to add.
        base : (7,) array
            Pose of the root link: x, y, z (m), quaternion x, y, z, w.
        positions : (n,) array
            Joint positions in the order of `robot.joint_names`, rad.

        Returns
        -------
        MujocoRobot
            The robot in this world.
        """
        return load_robot(self, self.scene, robot, base, positions)

    def add_fixture(self, mechanism: Mechanism) -> MujocoFixture:
        """Build a mechanism in the world, in its initial state.

        Parameters
        ----------
        mechanism : Mechanism
            Description of the equipment.

        Returns
        -------
        MujocoFixture
            The equipment in this world.
        """
        return build_fixture(self.scene, mechanism)

    def add_rigid_body(self, mass: float, moments: Array, rotation: Quaternion) -> "MujocoRigidBody":
        """Add a rigid body without shape at the origin, at rest.

        Parameters
        ----------
        mass : float
            kg.
        moments : (3,) array
            Principal moments of inertia about the centre of mass, kg·m².
        rotation : (4,) floats
            Quaternion x, y, z, w of the principal axes in the world.

        Returns
        -------
        MujocoRigidBody
            The body in this world.
        """
        handle = self.scene.new_body()
        body = self.scene.spec.worldbody.add_body(name=f"{handle}/", quat=np.roll(rotation, 1))
        body.explicitinertial, body.mass, body.inertia = True, mass, moments
        body.ipos, body.iquat = [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
        body.add_freejoint()
        self.scene.own_new_links(handle)
        return MujocoRigidBody(self.scene, int(self.scene.model.body(f"{handle}/").id))

    def add_surface(self, mesh: Path, grey: float, center: Sequence[float], texture: Path | None) -> None:
        """Refuse: nothing is drawn here.

        Parameters
        ----------
        mesh : Path
            Wavefront OBJ file.
        grey : float
            Grey level.
        center : two floats
            Position on the ground, m.
        texture : Path or None
            Picture file that covers the mesh.

        Raises
        ------
        RunError
            Always.
        """
        raise RunError(_NO_WINDOW)

    def show_window(
        self, body: RobotBody, target: Vector, distance: float, angles: tuple[float, float]
    ) -> None:
        """Refuse: there is no window.

        Parameters
        ----------
        body : RobotBody
            Robot in this world.
        target : (3,) floats
            Point in the middle of the window, world frame, m.
        distance : float
            Distance of the camera from the target, m.
        angles : two floats
            Yaw and pitch of the camera, degrees.

        Raises
        ------
        RunError
            Always.
        """
        raise RunError(_NO_WINDOW)

    def read_contacts(self) -> MujocoContacts:
        """Read all contacts of the last step.

        Returns
        -------
        MujocoContacts
            Contact points of all bodies.
        """
        return MujocoContacts(self.scene)

    def are_links_near(
        self,
        first: tuple[BodyHandle, LinkHandle],
        second: tuple[BodyHandle, LinkHandle],
        distance: float,
    ) -> bool:
        """Tell whether two links are within a distance, whether or not they can collide.

        Parameters
        ----------
        first, second : (BodyHandle, LinkHandle)
            The two links, each with its body.
        distance : float
            Largest distance between their surfaces, m.

        Returns
        -------
        bool
            True if they are as near as that.
        """
        data, model = self.scene.locate_links(), self.scene.model
        ours, theirs = (
            range(start, start + model.body_geomnum[link])
            for link in (first[1], second[1])
            for start in [model.body_geomadr[link]]
        )
        # MuJoCo returns the distance that it was to look within where the shapes are farther apart.
        farthest = 2.0 * (distance + 2.0 * _SKIN)
        return any(
            mujoco.mj_geomDistance(model, data, one, other, farthest, None)
            <= distance + _SKIN * sum(model.geom_type[each] in _THICKER for each in (one, other))
            for one in ours
            for other in theirs
        )

    def disable_collision(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle]
    ) -> None:
        """Let two links pass through each other.

        Parameters
        ----------
        first, second : (BodyHandle, LinkHandle)
            The two links, each with its body.
        """
        self.scene.exclude(first[1], second[1])


@dataclass(frozen=True)
class MujocoRigidBody:
    """A single rigid body that moves freely.

    Parameters
    ----------
    scene : MujocoScene
        World of the body.
    link : int
        MuJoCo's index of it.
    """

    scene: MujocoScene
    link: int

    def pose(self) -> tuple[Vector, Array]:
        """Read the pose of the body.

        Returns
        -------
        position : (3,) floats
            Centre of mass, world frame, m.
        rotation : (3, 3) array
            Rotation matrix of the principal axes in the world.
        """
        data = self.scene.locate_links()
        return tuple(data.xpos[self.link].tolist()), data.xmat[self.link].reshape(3, 3).copy()

    def apply_force(self, force: Vector, point: Vector) -> None:
        """Apply a force during the next step.

        Parameters
        ----------
        force : (3,) floats
            Force, world axes, N.
        point : (3,) floats
            Point of application, world frame, m.
        """
        apply_at(self.scene, self.link, force, (0.0, 0.0, 0.0), point)


@contextlib.contextmanager
def make_world(timestep: float, *, floor_friction: float) -> Iterator[MujocoWorld]:
    """Open a world with gravity 9.81 m/s² along -z and a floor.

    Parameters
    ----------
    timestep : float
        Duration of a step, s.
    floor_friction : float
        Coulomb coefficient between the floor and a body of friction 1.

    Yields
    ------
    MujocoWorld
    """
    with scratch_folder() as scratch, _without_log_file():
        yield MujocoWorld(MujocoScene(timestep, floor_friction), scratch)


@contextlib.contextmanager
def _without_log_file() -> Iterator[None]:
    """Keep MuJoCo from writing warnings of states that diverge, which the run tells of, into a file here."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_say_nothing)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _say_nothing(warning: str) -> None:
    """Leave a warning of MuJoCo's out."""
