"""A PyBullet world: client, floor and stepping. Every call names its client: worlds can coexist."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.robot.native_output import quiet_native_output
from simbench.robot.robot import Robot
from simbench.robot.urdf.mesh_files import mesh_points
from simbench.sim.bullet.bullet_bodies import BulletContacts, BulletFixture, BulletRobot, bullet
from simbench.sim.engine import BodyHandle, LinkHandle, RobotBody, UnreadableShapeError
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.vectors import Quaternion, Vector

# Iterations of Bullet's constraint solver in a step (`scripts/studies/solver_iterations.py`).
SOLVER_ITERATIONS = 50


@dataclass(frozen=True, eq=False)
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
        return BulletRobot(self, self.client, robot, base, positions)

    def add_fixture(self, mechanism: Mechanism) -> BulletFixture:
        """Build a mechanism in the world, in its initial state.

        `mechanism`: description of the equipment. Returns the equipment in this world.
        """
        return BulletFixture(self, self.client, mechanism)

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
            bullet.GEOM_MESH, fileName=str(mesh), rgbaColor=[grey, grey, grey, 1.0], physicsClientId=client
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
        # The window has one colour per link, the last shape's: give links that of their first.
        for shape in reversed(bullet.getVisualShapeData(body.handle, physicsClientId=client)):
            handle, link, *_, colour = shape[:8]
            bullet.changeVisualShape(handle, link, rgbaColor=colour, physicsClientId=client)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 1, physicsClientId=client)

    def read_contacts(self) -> BulletContacts:
        """Read all contacts of the last step. Returns contact points of all bodies."""
        return BulletContacts(bullet.getContactPoints(physicsClientId=self.client))

    def solved_forces(self) -> tuple[BulletContacts, tuple[float, float]]:
        """Tell the contacts of the last step; Bullet sums up no works."""
        return self.read_contacts(), (0.0, 0.0)

    def are_links_near(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle], distance: float
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


class BulletRigidBody:
    """A single rigid body that moves freely. `client`, `handle`: PyBullet's ids of client and body."""

    def __init__(self, client: int, handle: int) -> None:
        self.client, self.handle = client, handle

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


# TinyRenderer's light at the height of ours: as bright as the engine's window.
AMBIENT, DIFFUSE = 0.693, 0.35

_KEYS = {
    "space": ord(" "),
    "left": bullet.B3G_LEFT_ARROW,
    "right": bullet.B3G_RIGHT_ARROW,
    "r": ord("r"),
    "l": ord("l"),
    "q": ord("q"),
}


class BulletStage(BulletWorld):
    """A world for pictures, without a floor: its body is no longer there."""

    def tint(self, body: RobotBody, colour: Sequence[float]) -> None:
        """Give all links of a robot one colour.

        `body`: robot in this world; `colour`: red, green, blue and opacity, 0..1; only Bullet's window draws
        it less than opaque.
        """
        for link in body.links.values():
            bullet.changeVisualShape(body.handle, link, rgbaColor=colour, physicsClientId=self.client)

    def measure_shapes(self, body: BodyHandle, like: BodyHandle) -> "BulletShapeBoxes":
        """Measure the visible shapes of a body.

        `body`: body whose pose the boxes follow; `like`: body loaded from the same files, whose shapes are
        measured: Bullet forgets the files of what is loaded a second time. Returns boxes that follow the
        body. Raises UnreadableShapeError if a shape cannot be measured.
        """
        return BulletShapeBoxes(self.client, body, like)

    def draw(
        self, view: Array, projection: Array, light: Array, width: int, height: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Draw the world.

        `view` (4, 4): transform from the world to the camera's axes: x right, y up, -z along the view;
        `projection` (4, 4): openGL's perspective matrix; `light` (3,): vector from the world's origin to the
        light, m; `width`, `height`: size of the picture, pixels. Returns `colours`
        (height, width, 4) of uint8: red, green, blue and alpha; `depth` (height, width) of float32: depth
        buffer, 0..1.
        """
        image = bullet.getCameraImage(
            width,
            height,
            view.T.ravel().tolist(),
            projection.T.ravel().tolist(),
            lightDirection=light.tolist(),
            lightAmbientCoeff=AMBIENT,
            lightDiffuseCoeff=DIFFUSE,
            # TinyRenderer's shadows cost three times the picture.
            shadow=0,
            renderer=bullet.ER_TINY_RENDERER,
            flags=bullet.ER_NO_SEGMENTATION_MASK,
            physicsClientId=self.client,
        )
        # Arrays or, where Bullet was built without NumPy, tuples.
        colours, depth = np.asarray(image[2], np.uint8), np.asarray(image[3], np.float32)
        return colours.reshape(height, width, 4), depth.reshape(height, width)

    def pressed_keys(self) -> set[str]:
        """Read which keys were pressed in the window since the last call.

        Returns among `space`, `left`, `right`, `r`, `l`, `q`; a closed window counts as `q`.
        """
        if not bullet.isConnected(self.client):
            return {"q"}
        with quiet_native_output():
            try:
                events = bullet.getKeyboardEvents(physicsClientId=self.client)
            except bullet.error:
                return {"q"}
        return {name for name, code in _KEYS.items() if events.get(code, 0) & bullet.KEY_WAS_TRIGGERED}


class BulletShapeBoxes:
    """Bounding boxes of the visible shapes of a body, fixed in the frames of their links.

    `client`: PyBullet's client id; `body`: body whose pose the boxes follow; `like`: body loaded from the
    same files, whose shapes are measured.
    """

    def __init__(self, client: int, body: BodyHandle, like: BodyHandle) -> None:
        data = bullet.getVisualShapeData(like, physicsClientId=client)
        inertial = bullet.getDynamicsInfo(body, -1, physicsClientId=client)[3:5]
        self._client, self._body = client, body
        self._inertial_root = bullet.invertTransform(*inertial)
        self._links = list(range(bullet.getNumJoints(body, physicsClientId=client)))
        # The root is link -1: it comes first.
        self._rows = np.array([1 + shape[1] for shape in data])
        self._local = np.array([_box(shape) for shape in data])

    def corners(self) -> Array:
        """Compute where the boxes are for the present pose of the body.

        Returns (S, 8, 3): corners of the box of each shape, world frame, m.
        """
        base = bullet.getBasePositionAndOrientation(self._body, physicsClientId=self._client)
        poses = [bullet.multiplyTransforms(*base, *self._inertial_root)]
        states = bullet.getLinkStates(
            self._body, self._links, computeForwardKinematics=True, physicsClientId=self._client
        )
        poses += [state[4:6] for state in states]
        position = np.array([pose[0] for pose in poses])[self._rows]
        rotation = Rotation.from_quat([pose[1] for pose in poses]).as_matrix()[self._rows]
        return np.asarray(np.einsum("sij,skj->ski", rotation, self._local) + position[:, None])


def _box(shape: tuple[Any, ...]) -> Array:
    """Corners (8, 3) of the bounding box of one entry of Bullet's visual shape data, in the link's frame."""
    _, _, kind, dimensions, file_name, position, quaternion, *_ = shape
    size = np.array(dimensions)
    if not size.any():
        raise UnreadableShapeError(file_name)
    if kind == bullet.GEOM_MESH:
        # Not before: where there is no file, Bullet gives any bytes.
        path = Path(file_name.decode())
        points = mesh_points(path)
        if points is None:
            raise UnreadableShapeError(path)
        bounds = np.array([points.min(axis=0), points.max(axis=0)]) * size
    else:
        # Whatever the numbers mean for this shape, none is farther from the middle.
        bounds = np.outer([-1.0, 1.0], np.full(3, size.max()))
    corners = np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)
    return np.asarray(Rotation.from_quat(quaternion).apply(corners) + position)
