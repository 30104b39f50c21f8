"""Scenes with a closed form in any engine: what a simulation measures, and what the formula says."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.special import ellipk

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce" / "armstrong1986"))
from inertia_measurements import measure_on_two_wires

from simbench.kinematics.arrays import Array
from simbench.sim.engine import GRAVITY, Fixture, World, open_engine
from simbench.sim.fixtures.body_file import FRICTION
from simbench.sim.fixtures.mechanism import Mechanism, MechanismJoint, Part
from simbench.sim.fixtures.shapes import IRON, Board, compute_inertia

FLOOR_FRICTION = 0.8
"""Coulomb coefficient of the floor against a body of friction 1."""
_MASS = 2.0
_BLOCK = Board((-0.2, -0.2, 0.0), (0.2, 0.2, 0.04), IRON)
_CARRIAGE = Board((-0.2, -0.2, 0.6), (0.2, 0.2, 0.64), IRON)
_FALL_TIME = 0.5
_PUSH_TIME = 0.2
_DROP, _FORWARD = 0.03, 1.0
"""Height, m, from which a block lands, and its forward speed, m/s: about those of a foot."""
_SWING = 1.0
"""Amplitude of the pendulum, rad: a quarter of its period's difference from that of a small one is 1.6 %."""
_SWINGS = 3
_SPIN_TIME = 1.0
_SPIN = np.array([0.6, 0.0, 8.0])
"""Angular velocity of the spinning body at the start, rad/s."""
_MOMENTS = np.array([0.02, 0.02, 0.03])
_HUNG = pin.Inertia(3.0, np.zeros(3), np.diag([0.02, 0.03, 0.05]))
_LOAD_TIME = 0.5
_JOINT_FRICTION = 10.0
_BELOW, _ABOVE = 0.98, 1.02
"""Loads in parts of the break-away force."""


class SceneResult(NamedTuple):
    """What a scene measured, and what its closed form says."""

    quantity: str
    unit: str  # Its unit; empty for a plain number.
    measured: float  # `measured`, `expected`: the same quantity in the simulation and by the closed form.
    expected: float

    @property
    def error(self) -> float:
        """Difference between measured and expected, without sign, in `unit`."""
        return abs(self.measured - self.expected)


def free_fall(engine: str, timestep: float) -> list[SceneResult]:
    """Let a body fall from rest: z = -g t² / 2.

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns height after
    half a second.
    """
    with open_engine(engine).open_world(timestep) as world:
        body = world.add_rigid_body(_MASS, _MOMENTS, (0.0, 0.0, 0.0, 1.0))
        for _ in range(round(_FALL_TIME / timestep)):
            world.step()
        height = body.pose()[0][2]
    return [SceneResult("height after 0.5 s of fall", "m", height, -0.5 * GRAVITY * _FALL_TIME**2)]


def sliding_block(engine: str, timestep: float) -> list[SceneResult]:
    """Push a block on the floor, and let it slide until friction stops it.

    With the push F for a time T and the deceleration µ g: x = a T² / 2 + (a T)² / (2 µ g), a = F / m − µ g.
    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns distance that
    it slides.
    """
    limit = FRICTION * FLOOR_FRICTION * GRAVITY
    acceleration = 2.0 * limit
    with open_engine(engine).open_world(timestep, floor_friction=FLOOR_FRICTION) as world:
        block = world.add_fixture(_block())
        _rest(world)
        start = block.read_state().stand[0]
        push = _MASS * (acceleration + limit)
        _pull(world, block, push, _PUSH_TIME)
        for _ in range(round(1.2 * acceleration * _PUSH_TIME / limit / timestep)):
            world.step()
        distance = float(block.read_state().stand[0] - start)
    speed = acceleration * _PUSH_TIME
    expected = 0.5 * acceleration * _PUSH_TIME**2 + speed**2 / (2.0 * limit)
    return [SceneResult("distance of a block that slides to rest", "m", distance, expected)]


def landing_block(engine: str, timestep: float) -> list[SceneResult]:
    """Let a block that moves forward fall on the floor: friction takes μ times what stops its fall.

    Of the forward speed v, what lands with the speed w keeps v − μ w, and loses μ g t in the time t after it.
    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns forward speed
    a little after landing, and how high the block bounces.
    """
    friction = FRICTION * FLOOR_FRICTION
    with open_engine(engine).open_world(timestep, floor_friction=FLOOR_FRICTION) as world:
        block = world.add_fixture(_block())
        block.place(np.zeros(0), np.array([0.0, 0.0, _DROP, 0.0, 0.0, 0.0, 1.0]))
        [(com, *_)] = block.link_motions([block.links["block"]])
        block.apply_force(block.links["block"], (_MASS * _FORWARD / timestep, 0.0, 0.0), com)
        places = np.empty((round(1.5 * np.sqrt(2.0 * _DROP / GRAVITY) / timestep), 3))
        for row in range(len(places)):
            world.step()
            places[row] = block.read_state().stand[:3]
    landing = np.sqrt(2.0 * _DROP / GRAVITY)
    around = np.array([0.01, 0.02])
    first, last = np.round((landing + around) / timestep).astype(int)
    speed = float((places[last, 0] - places[first, 0]) / ((last - first) * timestep))
    expected = _FORWARD - friction * (GRAVITY * landing + GRAVITY * around.mean())
    bounce = float(places[first:, 2].max())
    return [
        SceneResult("speed of a block after an oblique landing", "m/s", speed, float(expected)),
        SceneResult("its bounce", "m", max(bounce, 0.0), 0.0),
    ]


def pendulum(engine: str, timestep: float) -> list[SceneResult]:
    """Let a board swing on a hinge: T = 4 √(I / (m g l)) K(sin² θ₀/2), K the complete elliptic integral.

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns period, and
    how far it swings back after three of them.
    """
    board = Board((-0.02, -0.05, -0.6), (0.02, 0.05, 0.0), IRON)
    hinge = MechanismJoint("swing", "turn", (0.0, 1.0, 0.0), start=_SWING)
    mechanism = Mechanism(
        "pendulum",
        pin.SE3(np.eye(3), np.array([0.0, 0.0, 2.0])),
        (
            Part("support", (Board((-0.1, -0.1, 0.1), (0.1, 0.1, 0.12), IRON),), 1.0),
            Part("board", (board,), _MASS, "swing"),
        ),
        (hinge,),
    )
    inertia = compute_inertia((board,), _MASS)
    lever = float(-inertia.lever[2])
    about_hinge = float(inertia.inertia[1, 1]) + _MASS * lever**2
    expected = 4.0 * np.sqrt(about_hinge / (_MASS * GRAVITY * lever)) * ellipk(np.sin(0.5 * _SWING) ** 2)
    steps = round((_SWINGS + 0.2) * expected / timestep)
    angle = np.empty(steps)
    with open_engine(engine).open_world(timestep) as world:
        swinging = world.add_fixture(mechanism)
        for step in range(steps):
            angle[step] = swinging.joint_state(0)[0]
            world.step()
    down = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    crossed = timestep * (down + angle[down] / (angle[down] - angle[down + 1]))
    period = float(np.diff(crossed).mean())
    return [
        SceneResult("period of a pendulum", "s", period, float(expected)),
        SceneResult("amplitude after three periods", "rad", float(angle[steps // 2 :].max()), _SWING),
    ]


def spinning_body(engine: str, timestep: float) -> list[SceneResult]:
    """Let a body of revolution spin without a torque: its axis turns about the momentum L by |L| / I₁.

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns angle by
    which the axis has turned about the momentum after a second, and its angle with it.
    """
    momentum = _MOMENTS * _SPIN
    size = float(np.linalg.norm(momentum))
    along = momentum / size
    with open_engine(engine).open_world(timestep) as world:
        body = world.add_rigid_body(_MASS, _MOMENTS, (0.0, 0.0, 0.0, 1.0))
        # Two forces a metre apart are a couple, whose impulse in one step is the momentum.
        force = np.cross(momentum / timestep, _across(along))
        for side in (0.5, -0.5):
            at = side * _across(along)
            body.apply_force(tuple((2.0 * side * force).tolist()), tuple(at.tolist()))
        steps = round(_SPIN_TIME / timestep)
        axes = np.empty((steps, 3))
        for step in range(steps):
            world.step()
            axes[step] = body.pose()[1][:, 2]
    first = _across(along)
    second = np.cross(along, first)
    phase = np.unwrap(np.arctan2(axes @ second, axes @ first))
    turned = float(phase[-1] - phase[0])
    expected = size / _MOMENTS[0] * timestep * (steps - 1)
    tilt = float(np.arccos(np.clip(axes[-1] @ along, -1.0, 1.0)))
    return [
        SceneResult("precession of a spinning body", "rad", turned, float(expected)),
        SceneResult("its angle with its momentum", "rad", tilt, float(np.arccos(along[2]))),
    ]


def two_wires(engine: str, timestep: float) -> list[SceneResult]:
    """Measure the inertia of a body that twists on two wires (Armstrong 1986, figure 1).

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns the three
    moments of inertia.
    """
    measured = measure_on_two_wires(_HUNG, engine, timestep)
    return [
        SceneResult(f"I{axis}{axis} by two wires", "kg·m²", float(found), float(true))
        for axis, found, true in zip("xyz", measured, np.diag(_HUNG.inertia), strict=True)
    ]


def block_breaks_away(engine: str, timestep: float) -> list[SceneResult]:
    """Pull a block on the floor by a little less and a little more than friction holds.

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns way in half a
    second under 98 % and 102 % of the break-away force.
    """
    limit = FRICTION * FLOOR_FRICTION * _MASS * GRAVITY
    ways = []
    for part in (_BELOW, _ABOVE):
        with open_engine(engine).open_world(timestep, floor_friction=FLOOR_FRICTION) as world:
            block = world.add_fixture(_block())
            _rest(world)
            start = block.read_state().stand[0]
            _pull(world, block, part * limit, _LOAD_TIME)
            ways.append(float(block.read_state().stand[0] - start))
    return _break_away(ways, limit, "block")


def joint_breaks_away(engine: str, timestep: float) -> list[SceneResult]:
    """Load a sliding joint by a little less and a little more than its friction holds.

    `engine`: physics engine, one of `sim.engine.ENGINES`; `timestep`: physics step, s. Returns way in half a
    second under 98 % and 102 % of the break-away force.
    """
    slide = MechanismJoint(
        "travel", "slide", (1.0, 0.0, 0.0), lowest=-1.0, highest=1.0, friction=_JOINT_FRICTION
    )
    rail = Part("rail", (Board((-0.5, -0.1, 0.5), (0.5, 0.1, 0.55), IRON),), 5.0)
    mechanism = Mechanism(
        "slide", pin.SE3.Identity(), (rail, Part("carriage", (_CARRIAGE,), _MASS, "travel")), (slide,)
    )
    ways = []
    for part in (_BELOW, _ABOVE):
        with open_engine(engine).open_world(timestep) as world:
            sliding = world.add_fixture(mechanism)
            for _ in range(round(_LOAD_TIME / timestep)):
                sliding.apply_joint_effort(0, part * _JOINT_FRICTION)
                world.step()
            ways.append(sliding.joint_state(0)[0])
    return _break_away(ways, _JOINT_FRICTION, "joint")


SCENES: Mapping[str, Callable[[str, float], list[SceneResult]]] = {
    "free fall": free_fall,
    "sliding block": sliding_block,
    "oblique landing": landing_block,
    "pendulum": pendulum,
    "spinning body": spinning_body,
    "two wires": two_wires,
    "break-away of a block": block_breaks_away,
    "break-away of a joint": joint_breaks_away,
}
"""Every scene by its name: a function of the engine's name and the time step, s."""


def _break_away(ways: list[float], limit: float, what: str) -> list[SceneResult]:
    """Results of a load below the break-away force, under which nothing moves, and one above."""
    beyond = 0.5 * (_ABOVE - 1.0) * limit / _MASS * _LOAD_TIME**2
    return [
        SceneResult(f"way of a {what} at {_BELOW:.0%} of break-away", "m", ways[0], 0.0),
        SceneResult(f"way of a {what} at {_ABOVE:.0%} of break-away", "m", ways[1], beyond),
    ]


def _block() -> Mechanism:
    """Describe a block that lies on the floor."""
    return Mechanism("block", pin.SE3.Identity(), (Part("block", (_BLOCK,), _MASS),), standing=True)


def _rest(world: World) -> None:
    """Let a body settle for a tenth of a second."""
    for _ in range(round(0.1 / world.timestep)):
        world.step()


def _pull(world: World, block: Fixture, force: float, duration: float) -> None:
    """Pull a block along x, at the height at which its friction acts."""
    for _ in range(round(duration / world.timestep)):
        x, y, *_ = block.read_state().stand.tolist()
        block.link_motions([block.links["block"]])
        block.apply_force(block.links["block"], (force, 0.0, 0.0), (x, y, 0.0))
        world.step()


def _across(axis: Array) -> Array:
    """Find a unit vector at right angles to an axis that is not y."""
    across = np.cross([0.0, 1.0, 0.0], axis)
    return np.asarray(across / np.linalg.norm(across))
