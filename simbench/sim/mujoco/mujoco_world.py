"""A MuJoCo world: floor, equipment, bodies and stepping. Worlds can coexist."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from simbench.errors import RunError
from simbench.files.storage import scratch_folder
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.engine import BodyHandle, LinkHandle, RobotBody
from simbench.sim.fixtures.body_file import FRICTION
from simbench.sim.fixtures.mechanism import Mechanism, MechanismJoint, Part
from simbench.sim.fixtures.shapes import collision_shape, compute_inertia
from simbench.sim.mujoco.mujoco_robot import MujocoRobot
from simbench.sim.mujoco.mujoco_scene import (
    END_STOP,
    FLOOR,
    STICKING,
    MujocoBody,
    MujocoContacts,
    MujocoScene,
    apply_at,
    free_coordinates,
    free_pose,
)
from simbench.sim.state import FixtureState
from simbench.sim.vectors import Quaternion, Vector


class MujocoFixture(MujocoBody):
    """A piece of equipment in one of MuJoCo's worlds, in its initial state.

    Furniture does not give way: it is fixed to the world, as is a mechanism that does not stand freely.
    Coulomb friction of a joint is a constraint that its force at most reaches, so the joint sticks. Parts of
    one mechanism do not collide with each other, since its joints guide them, except for one that stands
    freely with what carries it; all collide with everything else.
    """

    mechanism: Mechanism

    def __init__(self, scene: MujocoScene, mechanism: Mechanism) -> None:
        handle, links = _add_parts(scene, mechanism, mechanism.parts, free=mechanism.standing)
        furniture: BodyHandle | None = None
        furniture_links: Mapping[str, LinkHandle] = {}
        if mechanism.furniture:
            furniture, furniture_links = _add_parts(scene, mechanism, mechanism.furniture, free=False)
        if mechanism.standing:
            scene.standing.add(handle)
        _rub_against_surroundings(scene, [handle] if furniture is None else [handle, furniture])
        model = scene.model
        joints = [model.joint(f"{handle}/{joint.name}") for joint in mechanism.joints]
        free = model.joint(f"{handle}/") if mechanism.standing else None
        self.scene, self.handle, self.links, self.mechanism = scene, handle, links, mechanism
        self.position_columns = np.array([joint.qposadr[0] for joint in joints], dtype=np.int64)
        # Indices (J,) of the joints among MuJoCo's coordinates.
        self.velocity_columns = np.array([joint.dofadr[0] for joint in joints], dtype=np.int64)
        # First indices of the root of a fixture that stands freely.
        self.root_columns = None if free is None else (int(free.qposadr[0]), int(free.dofadr[0]))
        # Furniture that carries a fixture that stands freely, and its parts' names to MuJoCo's indices.
        self.furniture, self.furniture_links = furniture, furniture_links
        self._initial_pose = np.asarray(pin.SE3ToXYZQUAT(mechanism.pose))
        self.explicit_damping = np.zeros(len(joints))  # MuJoCo's damping is implicit.
        self.place(mechanism.start, self._initial_pose)

    def read_state(self) -> FixtureState:
        """Read joint positions and velocities and the pose of the fixture.

        Returns state after the last step.
        """
        data = self.scene.data
        position, velocity = data.qpos[self.position_columns], data.qvel[self.velocity_columns]
        if self.root_columns is None:
            return FixtureState(position, velocity, self._initial_pose)
        at = self.root_columns[0]
        return FixtureState(position, velocity, free_pose(data.qpos[at : at + 7]))

    def read_motion(self) -> tuple[Array, Array, float]:
        """Read positions and velocities of the joints; their friction is in `MujocoWorld.solved_forces`."""
        data = self.scene.data
        return data.qpos[self.position_columns], data.qvel[self.velocity_columns], 0.0

    def joint_state(self, column: int) -> tuple[float, float]:
        """Read the position and the velocity of one joint.

        `column`: index of the joint in `mechanism.joints`. Returns `position`, `velocity`: m and m/s, or rad
        and rad/s.
        """
        data = self.scene.data
        at, speed = self.position_columns[column], self.velocity_columns[column]
        return float(data.qpos[at]), float(data.qvel[speed])

    def apply_joint_effort(self, column: int, effort: float) -> None:
        """Apply a force or torque to one joint during the next step, beside its friction.

        `column`: index of the joint in `mechanism.joints`; `effort`: force (N) of a prismatic joint, torque
        (N·m) of a revolute one.
        """
        self.scene.data.qfrc_applied[self.velocity_columns[column]] = effort

    def place(self, position: Array, stand: Array | None = None) -> None:
        """Set the joint positions and the pose of the fixture, at rest.

        `position` (J,): joint positions, m or rad; `stand` (7,): pose of the fixture's frame: x, y, z (m),
        quaternion x, y, z, w; unchanged by default.
        """
        data = self.scene.data
        data.qpos[self.position_columns] = position
        data.qvel[self.velocity_columns] = 0.0
        if self.root_columns is not None and stand is not None:
            at, speed = self.root_columns
            data.qpos[at : at + 7] = free_coordinates(np.asarray(stand, dtype=float))
            data.qvel[speed : speed + 6] = 0.0
        self.scene.state_changed()


def _add_parts(
    scene: MujocoScene, mechanism: Mechanism, parts: Sequence[Part], *, free: bool
) -> tuple[BodyHandle, dict[str, LinkHandle]]:
    """Add parts as a body, each on what carries it; return its handle and those of the links."""
    handle = scene.new_body()
    joints = {joint.name: joint for joint in mechanism.joints}
    pose = pin.SE3ToXYZQUAT(mechanism.pose)
    root = scene.spec.worldbody.add_body(name=f"{handle}/{parts[0].name}", pos=pose[:3])
    root.quat = np.roll(pose[3:], 1)
    if free:
        root.add_freejoint(name=f"{handle}/")
    bodies, origins = {parts[0].name: root}, {parts[0].name: np.zeros(3)}
    # Each after the one that carries it, in their own order otherwise.
    for part in sorted(parts, key=lambda part: len(mechanism.chain(part.name)[1:]) if part.joint else 0):
        if part is not parts[0]:
            # On the first part, or on the one that the joint's parent carries.
            parent = joints[part.joint].parent if part.joint else None
            carrier = next((each.name for each in parts if parent and each.joint == parent), parts[0].name)
            origins[part.name] = np.array(joints[part.joint].origin) if part.joint else np.zeros(3)
            bodies[part.name] = bodies[carrier].add_body(
                name=f"{handle}/{part.name}", pos=origins[part.name] - origins[carrier]
            )
        body, origin = bodies[part.name], origins[part.name]
        if part.joint:
            _add_joint(scene, body, handle, joints[part.joint])
        total = compute_inertia(part.shapes, part.mass)
        tensor = total.inertia
        body.explicitinertial, body.mass, body.ipos = True, total.mass, total.lever - origin
        body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        for number, shape in enumerate(part.shapes):
            _add_shape(scene, body, handle, f"{part.name}/{number}", collision_shape(shape), origin)
    scene.own_new_links(handle)
    return handle, {part.name: LinkHandle(scene.model.body(f"{handle}/{part.name}").id) for part in parts}


def _add_joint(scene: MujocoScene, body: Any, handle: BodyHandle, joint: MechanismJoint) -> None:
    """Add the joint that carries a part, with its friction, damping and end stops."""
    kinds = mujoco.mjtJoint
    added = body.add_joint(
        name=f"{handle}/{joint.name}",
        type=kinds.mjJNT_SLIDE if joint.kind == "slide" else kinds.mjJNT_HINGE,
        axis=joint.axis,
    )
    if joint.lowest is not None and joint.highest is not None:
        added.limited, added.range = True, [joint.lowest, joint.highest]
    # Springs and damping that differs by direction are applied as efforts at every step (`equipment.resist`).
    damping = joint.damping if joint.damping == joint.back_damping else 0.0
    # From MuJoCo 4 on it is a polynomial of the velocity.
    added.damping = [damping, 0.0, 0.0] if np.ndim(added.damping) else damping
    added.frictionloss = joint.friction
    added.solref_limit, added.solimp_limit = END_STOP.solref(scene.timestep), END_STOP.solimp
    added.solref_friction, added.solimp_friction = STICKING.solref(scene.timestep), STICKING.solimp


def _add_shape(
    scene: MujocoScene, body: Any, handle: BodyHandle, name: str, shape: Any, origin: Array
) -> None:
    """Add a box, a cylinder or a convex hull to a part."""
    kinds, half = mujoco.mjtGeom, 0.5 * np.array(shape.size)
    geom = body.add_geom(name=f"{handle}/{name}", pos=shape.pose.translation - origin)
    geom.quat = np.roll(pin.Quaternion(shape.pose.rotation).coeffs(), 1)
    if shape.kind == "box":
        geom.type, geom.size = kinds.mjGEOM_BOX, half
    elif shape.kind == "hull":
        mesh = scene.spec.add_mesh(name=f"{handle}/{name}")
        mesh.uservert = shape.corners.ravel()
        geom.type, geom.meshname = kinds.mjGEOM_MESH, mesh.name
    else:
        geom.type, geom.size = kinds.mjGEOM_CYLINDER, [shape.size[0], half[1], 0.0]
    scene.make_solid(geom, handle, FRICTION, priority=2)


def _rub_against_surroundings(scene: MujocoScene, handles: Sequence[BodyHandle]) -> None:
    """Let bodies that stand freely rub against floor and equipment with the product of both coefficients.

    MuJoCo takes one of them instead. Robots have friction 1, so that the other's is the product.
    """
    if not scene.standing:
        return
    model = scene.model
    owners = [scene.owner(link) for link in model.geom_bodyid]
    environment = [index for index in range(model.ngeom) if model.geom_priority[index] > 0]
    for own in (index for index in environment if owners[index] in handles):
        for other in environment:
            pair = {owners[own], owners[other]}
            if (owners[other] in handles and other <= own) or len(pair) == 1 or not pair & scene.standing:
                continue
            friction = FRICTION * (scene.floor_friction if FLOOR in pair else FRICTION)
            scene.add_pair(model.geom(own).name, model.geom(other).name, friction, ground=True)


_NO_WINDOW = "--gui: engine mujoco has no window; allowed: --view, or engine bullet"
# Thickness, m, by which Bullet's hulls of meshes and its cylinders exceed their shapes: what is near there is
# near here.
_SKIN = 1e-3
_THICKER = [int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_CYLINDER)]


class MujocoWorld:
    """A physics world with a floor at z = 0.

    `scene`: MuJoCo's model and state; `scratch`: directory for files, removed with the world.
    """

    def __init__(self, scene: MujocoScene, scratch: Path) -> None:
        self.scene, self.scratch, self.timestep, self.floor = scene, scratch, scene.timestep, FLOOR

    def step(self) -> None:
        """Advance the physics by one time step."""
        self.scene.step()

    def add_robot(self, robot: Robot, base: Array, positions: Array) -> MujocoRobot:
        """Put a robot into the world, at rest.

        `base` (7,): pose of the root link: x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint
        positions in the order of `robot.joint_names`, rad.
        """
        return MujocoRobot(self, self.scene, robot, base, positions)

    def add_fixture(self, mechanism: Mechanism) -> MujocoFixture:
        """Build a mechanism in the world, in its initial state.

        `mechanism`: description of the equipment. Returns the equipment in this world.
        """
        return MujocoFixture(self.scene, mechanism)

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

    def solved_forces(self) -> tuple[None, tuple[float, float]]:
        """Tell the works of contacts and end stops, and of friction and damping in joints of equipment, J."""
        self.scene.sums_works = True
        return None, (self.scene.contact_work, self.scene.rubbing_work)

    def are_links_near(
        self, first: tuple[BodyHandle, LinkHandle], second: tuple[BodyHandle, LinkHandle], distance: float
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


class MujocoRigidBody:
    """A single rigid body that moves freely. `scene`: world of the body; `link`: MuJoCo's index of it."""

    def __init__(self, scene: MujocoScene, link: int) -> None:
        self.scene, self.link = scene, link

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
    with scratch_folder() as scratch, contextlib.ExitStack() as stack:
        # Else MuJoCo writes warnings of states that diverge, which the run tells of, into a file here.
        stack.callback(mujoco.set_mju_user_warning, mujoco.get_mju_user_warning())
        mujoco.set_mju_user_warning(lambda warning: None)
        yield MujocoWorld(MujocoScene(timestep, floor_friction), scratch)
