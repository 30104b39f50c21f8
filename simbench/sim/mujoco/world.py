"""A MuJoCo world: floor, bodies and stepping. Worlds can coexist."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from simbench.errors import RunError
from simbench.files.storage import scratch_folder
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
    """A physics world with a floor at z = 0."""

    scene: MujocoScene  # MuJoCo's model and state.
    scratch: Path  # Directory for files, removed with the world.
    floor: BodyHandle = FLOOR  # Number of the floor.

    @property
    def timestep(self) -> float:
        """Duration of a step, s."""
        return self.scene.timestep

    def step(self) -> None:
        """Advance the physics by one time step."""
        self.scene.step()

    def add_robot(self, robot: Robot, base: Array, positions: Array) -> MujocoRobot:
        """Put a robot into the world, at rest.

        `base` (7,): pose of the root link: x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint
        positions in the order of `robot.joint_names`, rad.
        """
        return load_robot(self, self.scene, robot, base, positions)

    def add_fixture(self, mechanism: Mechanism) -> MujocoFixture:
        """Build a mechanism in the world, in its initial state.

        `mechanism`: description of the equipment. Returns the equipment in this world.
        """
        return build_fixture(self.scene, mechanism)

    def add_rigid_body(self, mass: float, moments: Array, rotation: Quaternion) -> "MujocoRigidBody":
        """Add a rigid body without shape at the origin, at rest.

        `mass`: kg; `moments` (3,): principal moments of inertia about the centre of mass, kg·m²; `rotation`
        (4,): quaternion x, y, z, w of the principal axes in the world.
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

        `mesh`: wavefront OBJ file; `grey`: grey level; `center`: position on the ground, m; `texture`:
        picture file that covers the mesh.
        """
        raise RunError(_NO_WINDOW)

    def show_window(
        self, body: RobotBody, target: Vector, distance: float, angles: tuple[float, float]
    ) -> None:
        """Refuse: there is no window.

        `target` (3,): point in the middle of the window, world frame, m; `distance`: distance of the camera
        from the target, m; `angles`: yaw and pitch of the camera, degrees.
        """
        raise RunError(_NO_WINDOW)

    def read_contacts(self) -> MujocoContacts:
        """Read all contacts of the last step. Returns contact points of all bodies."""
        return MujocoContacts(self.scene)

    def are_links_near(
        self,
        first: tuple[BodyHandle, LinkHandle],
        second: tuple[BodyHandle, LinkHandle],
        distance: float,
    ) -> bool:
        """Tell whether two links are within a distance, whether or not they can collide.

        `distance`: largest distance between their surfaces, m. Returns true if they are as near as that.
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
        """Let two links pass through each other."""
        self.scene.exclude(first[1], second[1])


@dataclass(frozen=True)
class MujocoRigidBody:
    """A single rigid body that moves freely."""

    scene: MujocoScene  # World of the body.
    link: int  # MuJoCo's index of it.

    def pose(self) -> tuple[Vector, Array]:
        """Read the pose of the body.

        Returns `position` (3,): centre of mass, world frame, m; `rotation` (3, 3): rotation matrix of the
        principal axes in the world.
        """
        data = self.scene.locate_links()
        return tuple(data.xpos[self.link].tolist()), data.xmat[self.link].reshape(3, 3).copy()

    def apply_force(self, force: Vector, point: Vector) -> None:
        """Apply a force during the next step.

        `force` (3,): force, world axes, N; `point` (3,): point of application, world frame, m.
        """
        apply_at(self.scene, self.link, force, (0.0, 0.0, 0.0), point)


@contextlib.contextmanager
def make_world(timestep: float, *, floor_friction: float) -> Iterator[MujocoWorld]:
    """Open a world with gravity 9.81 m/s² along -z and a floor.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1.
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
