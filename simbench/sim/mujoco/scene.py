"""The model and the state of a MuJoCo world, to which bodies are added one after the other."""

from functools import cache
from typing import Any, NamedTuple

import mujoco

from simbench.errors import RunError
from simbench.sim.engine import GRAVITY, BodyHandle, LinkHandle

FLOOR = BodyHandle(0)
"""The floor, which is a shape of MuJoCo's world body."""
NEAR = 1e-3
"""Height above the floor, m, below which a point counts as a contact, without a force."""
_MOST_BODIES = 31
"""Bodies of a world, the floor included: each has a bit of MuJoCo's collision masks."""
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


CONTACT = Hardness(impedance=(0.5, 0.95), stiffness=0.1, damping=1.0)
"""Contacts. MuJoCo takes μ times a sliding speed for a parting speed: of what is as hard at its surface as in
depth, feet that begin to slide lose the floor and hop, and fingers chatter on a handle."""
GROUND_FRICTION = Hardness(impedance=(0.5, 0.95), stiffness=1e-9, damping=0.4)
"""Friction with the floor, and of what stands freely: with more damping, what lands obliquely bounces more;
with less, it slides on."""
END_STOP = Hardness(impedance=(0.95, 0.95), stiffness=0.3, damping=1.0)
"""End stops of joints, which light joints would push in."""
STICKING = Hardness(impedance=(0.9999, 0.9999), stiffness=1e-9, damping=0.5)
"""Friction in joints of equipment, which must not creep."""
_FRICTION_RATIO = 1000.0
"""Stiffness of friction over that of the normal direction: what stands on its feet creeps that much less."""


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
        self.standing: set[BodyHandle] = set()
        """Equipment that nothing fixes to the world."""
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
        """Advance by one time step; external forces end with it."""
        model, data = self._compiled or self._compile()
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
        if self._before is not None:
            for name in ("qpos", "qvel", "qacc_warmstart"):
                kept = getattr(self._before, name)
                getattr(data, name)[: len(kept)] = kept
        self._compiled, self._poses_known = (model, data), False
        return self._compiled
