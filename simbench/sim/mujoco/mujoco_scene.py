"""The model and the state of a MuJoCo world, to which bodies are added one after the other."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.sim.engine import GRAVITY, BodyHandle, Contact, LinkHandle
from simbench.sim.vectors import Motion, Vector

FLOOR = BodyHandle(0)  # The floor, which is a shape of MuJoCo's world body.
NEAR = 1e-3  # Height above the floor, m, below which a point counts as a contact, without a force.
_MOST_BODIES = 31  # Bodies of a world, the floor included: each has a bit of MuJoCo's collision masks.
_ALL_BITS = (1 << _MOST_BODIES) - 1


class Hardness(NamedTuple):
    """How a constraint gives way."""

    # Part of its demand that it meets at once, where it begins and from a depth of 30 µm on; the load moves
    # it by the rest.
    impedance: tuple[float, float]
    # `stiffness`, `damping`: its demand: the parts of the depth, and of the speed, that a step is to remove.
    stiffness: float
    damping: float

    @property
    def solimp(self) -> tuple[float, float, float, float, float]:
        """The impedance as MuJoCo takes it."""
        return *self.impedance, 3e-5, 0.5, 2.0

    def solref(self, timestep: float) -> tuple[float, float]:
        """Convert the demand to MuJoCo's form.

        MuJoCo demands the acceleration -b v - k r; it takes -k d² and -b d with the impedance d in depth.
        Returns (2,): negative: stiffness and damping themselves, and no time constant and damping ratio.
        """
        d = self.impedance[1]
        return -self.stiffness * (d / timestep) ** 2, -self.damping * d / timestep


# Contacts. MuJoCo takes μ times a sliding speed for a parting speed: of what is as hard at its surface as in
# depth, feet that begin to slide lose the floor and hop, and fingers chatter on a handle.
CONTACT = Hardness(impedance=(0.5, 0.95), stiffness=0.1, damping=1.0)
# Friction with the floor, and of what stands freely: with more damping, what lands obliquely bounces more;
# with less, it slides on.
GROUND_FRICTION = Hardness(impedance=(0.5, 0.95), stiffness=1e-9, damping=0.4)
# End stops of joints, which light joints would push in.
END_STOP = Hardness(impedance=(0.95, 0.95), stiffness=0.3, damping=1.0)
# Friction in joints of equipment, which must not creep.
STICKING = Hardness(impedance=(0.9999, 0.9999), stiffness=1e-9, damping=0.5)
# Stiffness of friction over that of the normal direction: what stands on its feet creeps that much less.
_FRICTION_RATIO = 1000.0


@cache
def near_without_force() -> tuple[float, float]:
    """Find MuJoCo's margin and gap with which points within `NEAR` are contacts, but only touching ones push.

    What the two numbers mean has changed between versions: a ball just above a floor tells. Returns `margin`,
    `gap`: m.
    """
    spec = mujoco.MjSpec()
    kinds = mujoco.mjtGeom
    spec.worldbody.add_geom(type=kinds.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], gap=NEAR)
    ball = spec.worldbody.add_body(pos=[0.0, 0.0, 1.0 + 0.5 * NEAR])
    ball.add_freejoint()
    ball.add_geom(type=kinds.mjGEOM_SPHERE, size=[1.0, 0.0, 0.0])
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return (0.0, NEAR) if data.ncon else (NEAR, NEAR)


class MujocoScene:
    """A MuJoCo model that grows, and its state.

    MuJoCo compiles a description to a model of fixed size. The description is kept: what is added to it makes
    a new model when it is next needed, in which all that was there before keeps its indices and its state.
    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1.
    """

    def __init__(self, timestep: float, floor_friction: float) -> None:
        self.timestep, self.floor_friction = timestep, floor_friction
        self.standing: set[BodyHandle] = set()  # Equipment that nothing fixes to the world.
        # Principal moments (3,), kg·m², by name, of bodies whose own MuJoCo does not compile.
        self.exact_inertia: dict[str, Array] = {}
        self.spec = mujoco.MjSpec()
        self.spec.compiler.degree = False
        option = self.spec.option
        option.timestep, option.gravity = timestep, [0.0, 0.0, -GRAVITY]
        option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        # Coulomb's cone: MuJoCo's usual pyramid has more friction along its edges than across its faces.
        option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, _FRICTION_RATIO
        # MuJoCo would put a state that diverges back to the start, and go on.
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self._count = 1
        self._owners: list[BodyHandle] = [FLOOR]
        self._compiled: tuple[Any, Any] | None = None
        self._before: Any = None
        self._poses_known = False
        # Work of contacts and end stops, and of friction and damping in joints of equipment, J, so far.
        self.contact_work = self.rubbing_work = 0.0
        self.sums_works = False
        floor = self.spec.worldbody.add_geom(
            name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0]
        )
        floor.margin, floor.gap = near_without_force()
        self.make_solid(floor, FLOOR, floor_friction, priority=1)

    @property
    def model(self) -> Any:
        """MuJoCo's model of all that was added so far."""
        return self._compiled[0] if self._compiled else self._compile()[0]

    @property
    def data(self) -> Any:
        """MuJoCo's state and results."""
        return self._compiled[1] if self._compiled else self._compile()[1]

    def new_body(self) -> BodyHandle:
        """Name a body that is about to be added.

        Returns its name; that of its links in MuJoCo begins with `prefix` of it.
        """
        if self._count == _MOST_BODIES:
            raise RunError(f"a world in MuJoCo has at most {_MOST_BODIES - 1} robots and pieces of equipment")
        self._count += 1
        self._compiled_state_is_old()
        return BodyHandle(self._count - 1)

    def own_new_links(self, body: BodyHandle) -> None:
        """Note that all links that were added last belong to a body."""
        self._compiled_state_is_old()
        self._owners += [body] * (self.model.nbody - len(self._owners))

    def owner(self, link: int) -> BodyHandle:
        """Find the body that a link belongs to. `link`: MuJoCo's index of the link."""
        return self._owners[link]

    def make_solid(self, shape: Any, body: BodyHandle, friction: float, priority: int) -> None:
        """Let a shape collide with the shapes of all other bodies, as hard as MuJoCo can.

        `shape`: shape in the description; `body`: body that it belongs to: two of its shapes do not collide;
        `friction`: coulomb coefficient against a body of less priority; `priority`: of two shapes, that of
        higher priority gives the coefficient.
        """
        shape.contype, shape.conaffinity = 1 << body, _ALL_BITS ^ (1 << body)
        shape.condim, shape.priority = 3, priority
        shape.friction = [friction, 0.0, 0.0]
        shape.solref, shape.solimp = CONTACT.solref(self.timestep), CONTACT.solimp

    def add_pair(self, first: str, second: str, friction: float, *, ground: bool = False) -> None:
        """Let two shapes collide, with a friction of their own.

        `first`, `second`: names of the shapes; `friction`: coulomb coefficient; `ground`: whether one stands
        on the other: friction is then `GROUND_FRICTION`.
        """
        pair = self.spec.add_pair(geomname1=first, geomname2=second, condim=3)
        pair.friction = [friction, friction, 0.0, 0.0, 0.0]
        pair.solref, pair.solimp = CONTACT.solref(self.timestep), CONTACT.solimp
        if ground:
            pair.solreffriction = GROUND_FRICTION.solref(self.timestep)
        if "floor" in (first, second):
            pair.margin, pair.gap = near_without_force()
        self._compiled_state_is_old()

    def exclude(self, first: LinkHandle, second: LinkHandle) -> None:
        """Let two links pass through each other."""
        names = [self.model.body(link).name for link in (first, second)]
        self.spec.add_exclude(bodyname1=names[0], bodyname2=names[1])
        self._compiled_state_is_old()

    def step(self) -> None:
        """Advance by one time step; external forces end with it.

        Of MuJoCo's constraints friction in joints comes first, for there are no equalities here; then end
        stops and contacts. Damping acts with the speed at the end of the step: MuJoCo solves it implicitly.
        """
        model, data = self._compiled or self._compile()
        if self.sums_works:
            before = data.qvel.copy()
            mujoco.mj_step(model, data)
            mean = 0.5 * (before + data.qvel)
            if data.nefc:
                speed, force, rubbing = np.empty(data.nefc), data.efc_force, data.nf
                mujoco.mj_mulJacVec(model, data, speed, mean)
                self.rubbing_work += self.timestep * float(force[:rubbing] @ speed[:rubbing])
                self.contact_work += self.timestep * float(force[rubbing:] @ speed[rubbing:])
            if self._damped:
                self.rubbing_work -= self.timestep * float((self._damping * data.qvel) @ mean)
        else:
            mujoco.mj_step(model, data)
        data.qfrc_applied[:] = 0.0
        data.xfrc_applied[:] = 0.0
        self._poses_known = False

    def state_changed(self) -> None:
        """Note that the state was changed by hand."""
        self._poses_known = False

    def locate_links(self) -> Any:
        """Compute the poses and velocities of all links for the present state.

        Contacts stay those of the last step.
        """
        model, data = self._compiled or self._compile()
        if not self._poses_known:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            self._poses_known = True
        return data

    def _compiled_state_is_old(self) -> None:
        """Have the model compiled anew when it is next needed."""
        if self._compiled is not None:
            self._before, self._compiled = self._compiled[1], None

    def _compile(self) -> tuple[Any, Any]:
        """Compile the description, and take over the state of what was there before."""
        model = self.spec.compile()
        data = mujoco.MjData(model)
        if self.exact_inertia:
            for name, moments in self.exact_inertia.items():
                model.body(name).inertia[:] = moments
            mujoco.mj_setConst(model, data)
        if self._before is not None:
            for name in ("qpos", "qvel", "qacc_warmstart"):
                kept = getattr(self._before, name)
                getattr(data, name)[: len(kept)] = kept
        self._compiled, self._poses_known = (model, data), False
        # From MuJoCo 4 on it is a polynomial of the velocity.
        self._damping = np.atleast_2d(model.dof_damping.T)[0].copy()
        self._damped = bool(self._damping.any())
        return self._compiled


class MujocoBody:
    """A body in one of MuJoCo's worlds."""

    scene: MujocoScene
    handle: BodyHandle  # Number of the body in its world.
    links: Mapping[str, LinkHandle]  # Link name to MuJoCo's index.

    def link_motions(self, links: Sequence[LinkHandle]) -> list[Motion]:
        """Compute the poses and velocities of links for the present joint positions.

        Returns one for each link, in world axes.
        """
        data, model, motions = self.scene.locate_links(), self.scene.model, []
        for link in links:
            # MuJoCo has the velocity at the centre of mass of the whole tree.
            wx, wy, wz, vx, vy, vz = data.cvel[link].tolist()
            com = data.xipos[link].tolist()
            (cx, cy, cz), (rx, ry, rz) = com, data.subtree_com[model.body_rootid[link]].tolist()
            x, y, z = cx - rx, cy - ry, cz - rz
            w, *vector = data.xquat[link].tolist()
            linear = (vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x)
            origin = tuple(data.xpos[link].tolist())
            motions.append((tuple(com), origin, (*vector, w), linear, (wx, wy, wz)))
        return motions

    def apply_force(self, link: LinkHandle, force: Vector, point: Vector) -> None:
        """Apply a force to a link during the next step.

        `link`: link that the force acts on; `force` (3,): force, world axes, N; `point` (3,): point of
        application, world frame, m.
        """
        self.apply_wrench(link, force, (0.0, 0.0, 0.0), point)

    def apply_wrench(self, link: LinkHandle, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply a force and a torque to a link during the next step.

        `link`: link that the wrench acts on; `force`, `torque` (3,): force (N) and torque (N·m), world axes;
        `point` (3,): point of application of the force, world frame, m.
        """
        apply_at(self.scene, link, force, torque, point)


def apply_at(scene: MujocoScene, link: int, force: Vector, torque: Vector, point: Vector) -> None:
    """Add a force and a torque to those of the next step; MuJoCo takes them about the link's centre of mass.

    `scene`: world of the link; `link`: MuJoCo's index of the link; `force`, `torque` (3,): force (N) and
    torque (N·m), world axes; `point` (3,): point of application of the force, world frame, m.
    """
    data = scene.locate_links()
    (cx, cy, cz), (fx, fy, fz), (tx, ty, tz) = data.xipos[link].tolist(), force, torque
    x, y, z = point[0] - cx, point[1] - cy, point[2] - cz
    data.xfrc_applied[link] += (fx, fy, fz, tx + y * fz - z * fy, ty + z * fx - x * fz, tz + x * fy - y * fx)


def free_pose(qpos: Array) -> Array:
    """Convert the position coordinates of a free joint to a pose.

    `qpos` (7,): MuJoCo's coordinates: x, y, z (m), quaternion w, x, y, z. Returns (7,): position x, y, z (m)
    and quaternion x, y, z, w.
    """
    return np.concatenate([qpos[:3], qpos[4:7], qpos[3:4]])


def free_coordinates(pose: Array) -> Array:
    """Convert a pose to the position coordinates of a free joint.

    `pose` (7,): position x, y, z (m) and quaternion x, y, z, w. Returns (7,): MuJoCo's coordinates: x, y, z
    (m), quaternion w, x, y, z.
    """
    return np.concatenate([pose[:3], pose[6:7], pose[3:6]])


class MujocoContacts:
    """All contact points of a world's last step.

    MuJoCo reports a contact in the middle between the two surfaces, with a normal from the first shape to the
    second, and its force in the axes of the contact.
    """

    __slots__ = ("_points",)

    def __init__(self, scene: MujocoScene) -> None:
        data, found = scene.data, []
        if data.ncon:
            contact = data.contact
            links = scene.model.geom_bodyid[contact.geom]
            # Of each contact a normal force and two of friction; one that is only near has none of them.
            forces = np.append(data.efc_force, (0.0, 0.0, 0.0))
            rows = np.where(contact.efc_address < 0, data.nefc, contact.efc_address)
            local = forces[rows[:, None] + np.arange(3)]
            axes = contact.frame.reshape(-1, 3, 3)
            world = np.einsum("ci,cij->cj", local, axes)
            half = 0.5 * contact.dist[:, None] * axes[:, 0]
            found = list(
                zip(
                    links.tolist(),
                    (contact.pos - half).tolist(),
                    (contact.pos + half).tolist(),
                    contact.dist.tolist(),
                    local[:, 0].tolist(),
                    world.tolist(),
                    strict=True,
                )
            )
        self._points = [
            (scene.owner(first), scene.owner(second), first, second, *rest)
            for (first, second), *rest in found
        ]

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        `body`: body that feels the contacts. Yields A contact of the body with itself appears once, as one of
        its two links feels it.
        """
        for owner, other, first, second, at_first, at_second, distance, normal, (x, y, z) in self._points:
            if owner == body:
                yield LinkHandle(first), other, LinkHandle(second), at_first, distance, normal, (-x, -y, -z)
            elif other == body:
                yield LinkHandle(second), owner, LinkHandle(first), at_second, distance, normal, (x, y, z)
