"""The controller that suits a robot, and the one of an arm whose root is fixed: a step in one compiled call.

The prediction of `simbench.sim.control.joint_controller` for a robot whose root is fixed. Its inertia matrix
A and bias torque h are computed once a step: they serve the law (computed torque: A a* + h), the prediction,
and in the next step the contacts that are unknown to the controller. Bullet steps an arm in so little time
that the same from Python, call by call, takes longer.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.least_squares import factorise, substitute
from simbench.kinematics.task_matrix import (
    BodyMasses,
    add_subtrees,
    bias_torque,
    body_masses,
    body_moments,
    couple,
    momentum,
)
from simbench.kinematics.tree import KinematicTree, joint_axes, kinematic_tree, place_bodies
from simbench.robot.robot import Robot
from simbench.sim.control.command import Command, Load
from simbench.sim.control.joint_controller import add_friction, deliver
from simbench.sim.control.laws import ControlLaw
from simbench.sim.engine import GRAVITY, RobotBody
from simbench.sim.state import RobotState

# Structured, (1,): one argument, where each array would cost its part of the time that a call takes.
Record = NDArray[np.void]


def arm_constants(
    robot: Robot, law: ControlLaw, timestep: float, gravity: float, *, has_armature: bool
) -> Record:
    """Collect the constants that `arm_step` reads.

    `robot`: robot with a fixed root; `law`: law that the motors follow; `timestep`: physics step, s;
    `gravity`: gravitational acceleration along -z, m/s²; `has_armature`: whether the engine gives the joints
    their reflected inertia. Returns (1,) structured array: kinematic tree, masses, gains, motors and
    friction.
    """
    tree, motors, friction = kinematic_tree(robot.model), robot.motors, robot.friction
    rubbing = np.flatnonzero(friction.breakaway > 0.0)
    # Padded to the length of the others, whatever the number of joints with friction.
    padded = np.zeros_like(robot.model.idx_vs[1:])
    padded[: len(rubbing)] = rubbing
    return _record(
        {
            **tree._asdict(),
            "sliding": tree.sliding.astype(np.uint8),
            **body_masses(robot.model)._asdict(),
            "gain": law.gain,
            "rate_gain": law.rate_gain,
            "by_model": np.uint8(law.by_model),
            "implicit": law.implicit,
            "limit": motors.torque_limit,
            "reflected": motors.reflected_inertia,
            "delivered": np.zeros_like(motors.reflected_inertia)
            if has_armature
            else motors.reflected_inertia,
            "viscous": friction.viscous,
            "rubbing": padded,
            "rubbing_count": np.int64(len(rubbing)),
            "coulomb": friction.coulomb,
            "breakaway": friction.breakaway,
            "timestep": np.float64(timestep),
            "gravity": np.float64(gravity),
        }
    )


def arm_memory(joints: int) -> Record:
    """Allocate the memory that `arm_step` writes.

    `joints`: number of joints, n. Returns (1,) structured array: `load` (n + 1, 6) is to be set: force and
    moment on each body in its joint's frame, N and N·m. `requested`, `motor`, `joint`, `friction` (n,) are
    those of a `Command`.
    """
    n, bodies = np.zeros(joints), joints + 1
    return _record(
        {
            **{name: n for name in ("requested", "motor", "joint", "friction", "asked", "limited")},
            **{name: n for name in ("contact", "external", "bias", "speed", "rest", "acceleration")},
            "inertia": np.zeros((joints, joints)),
            "factor": np.zeros((joints, joints)),
            "response": np.zeros((joints, joints)),
            "rotation": np.tile(np.eye(3), (bodies, 1, 1)),
            "position": np.zeros((bodies, 3)),
            "axes": np.zeros((joints, 6)),
            "moment": np.zeros((bodies, 10)),
            "twist": np.zeros((bodies, 12)),
            "effort": np.zeros((bodies, 6)),
            "load": np.zeros((bodies, 6)),
            "started": np.uint8(0),
        }
    )


def _record(values: dict[str, NDArray[np.generic] | np.generic]) -> Record:
    """Make a structured array of arrays and numbers."""
    fields = ((name, np.asarray(each).dtype, np.shape(each)) for name, each in values.items())
    record = np.zeros(1, _structure(*fields))
    for name, each in values.items():
        record[name] = each
    return record


@cache
def _structure(*fields: tuple[str, np.dtype[np.generic], tuple[int, ...]]) -> np.dtype[np.void]:
    """Make one type for all arms of as many joints: a call with another takes numba long to recognise."""
    return np.dtype(list(fields), align=True)


@compiled_entry("q (n), v (n), demand (n), constants[0].gain (n), memory[0].motor (n)")
def arm_step(constants: Record, memory: Record, q: Array, v: Array, demand: Array) -> int:
    """Compute the torques of an arm's motors and joints for this step.

    `memory`: from `arm_memory`; remembers the last step; `q`, `v` (n,): joint positions and velocities at the
    start of the step, rad and rad/s; `demand` (n,): demand of the law for this step. Returns number of motors
    at their limit.
    """
    c, m = constants[0], memory[0]
    n = len(q)
    if m["started"]:
        _feel(c, m, v, 1.0 / c["timestep"])
    m["started"] = 1
    for i in range(n):
        m["speed"][i] = v[i]
    _weigh(c, m, q)
    for i in range(n):
        m["asked"][i] = demand[i] - c["gain"][i] * q[i] - c["rate_gain"][i] * v[i]
    if c["by_model"]:
        for i in range(n):
            target = m["asked"][i]
            m["limited"][i] = m["bias"][i] + c["reflected"][i] * target
            for k in range(n):
                m["limited"][i] += m["inertia"][i, k] * m["asked"][k]
        for i in range(n):
            m["asked"][i] = m["limited"][i]
    for i in range(n):
        m["rest"][i] = c["implicit"][i]
    saturated = _predict(c, m, m["requested"])
    if saturated:
        # A saturated motor no longer follows the law: predict again with its torque fixed at the limit.
        for i in range(n):
            if m["motor"][i] != m["requested"][i]:
                m["asked"][i], m["rest"][i] = m["motor"][i], 0.0
        _predict(c, m, m["limited"])
    return saturated


@compiled
def _feel(c: np.void, m: np.void, v: Array, rate: float) -> None:
    """Write the torque that the last step's motion needed minus the received one: unknown contacts."""
    for i in range(len(v)):
        m["acceleration"][i] = (v[i] - m["speed"][i]) * rate
    for i in range(len(v)):
        needed = m["bias"][i] - m["external"][i] - m["joint"][i]
        needed += (c["reflected"][i] - c["delivered"][i]) * m["acceleration"][i]
        for k in range(len(v)):
            needed += m["inertia"][i, k] * m["acceleration"][k]
        m["contact"][i] = needed


@compiled
def _weigh(c: np.void, m: np.void, q: Array) -> None:
    """Write inertia, bias torque and the torque of known loads at the joints."""
    n = len(q)
    tree = KinematicTree(c["parent"], c["rotation"], c["translation"], c["axis"], c["sliding"])
    rotation, position, axes, moment = m["rotation"], m["position"], m["axes"], m["moment"]
    origin = position[0]
    place_bodies(tree, q, rotation, position)
    joint_axes(tree, rotation, position, origin, axes)
    body_moments(BodyMasses(c["mass"], c["centre"], c["inertia"]), rotation, position, origin, moment)
    bias_torque(tree, axes, moment, m["speed"], c["gravity"], m["twist"], m["effort"], m["bias"])
    add_subtrees(tree, moment)
    for k in range(n):
        for j in range(k):
            m["inertia"][k, j] = 0.0
        s = axes[k]
        couple(tree, axes, k, momentum(moment[k + 1], s[0], s[1], s[2], s[3], s[4], s[5]), m["inertia"][k])
        for j in range(k):
            m["inertia"][j, k] = m["inertia"][k, j]
        m["external"][k] = 0.0
    for k in range(n):
        _bear(tree, m, k)


@compiled
def _bear(tree: KinematicTree, m: np.void, k: int) -> None:
    """Add Jᵀ f of the load on a joint's body to the joints that carry it."""
    load, r, p = m["load"][k + 1], m["rotation"][k + 1], m["position"][k + 1]
    if not load.any():
        return
    fx = r[0, 0] * load[0] + r[0, 1] * load[1] + r[0, 2] * load[2]
    fy = r[1, 0] * load[0] + r[1, 1] * load[1] + r[1, 2] * load[2]
    fz = r[2, 0] * load[0] + r[2, 1] * load[1] + r[2, 2] * load[2]
    x, y, z = p[0] - m["position"][0, 0], p[1] - m["position"][0, 1], p[2] - m["position"][0, 2]
    tx = r[0, 0] * load[3] + r[0, 1] * load[4] + r[0, 2] * load[5] + y * fz - z * fy
    ty = r[1, 0] * load[3] + r[1, 1] * load[4] + r[1, 2] * load[5] + z * fx - x * fz
    tz = r[2, 0] * load[3] + r[2, 1] * load[4] + r[2, 2] * load[5] + x * fy - y * fx
    body = k + 1
    while body > 0:
        j = body - 1
        s = m["axes"][j]
        m["external"][j] += s[0] * fx + s[1] * fy + s[2] * fz + s[3] * tx + s[4] * ty + s[5] * tz
        body = tree.parent[j]


@compiled
def _predict(c: np.void, m: np.void, requested: Array) -> int:
    """Write torques and friction of this step, and the motor torques that are requested."""
    n, dt, acceleration, factor = len(requested), c["timestep"], m["acceleration"], m["factor"]
    for i in range(n):
        for k in range(i + 1):
            factor[i, k] = m["inertia"][i, k]
        factor[i, i] += c["reflected"][i] + m["rest"][i] + c["viscous"][i] * dt
        drive = m["asked"][i] + m["contact"][i] - c["viscous"][i] * m["speed"][i]
        acceleration[i] = drive + m["external"][i] - m["bias"][i]
        m["friction"][i] = 0.0
    factorise(factor, n)
    substitute(factor, acceleration, n)
    rubbing, response = c["rubbing"][: c["rubbing_count"]], m["response"]
    if len(rubbing):
        for joint in rubbing:
            # Row by row: the inverse of a symmetric matrix.
            for k in range(n):
                response[joint, k] = 0.0
            response[joint, joint] = 1.0
            substitute(factor, response[joint], n)
        coulomb, breakaway = c["coulomb"], c["breakaway"]
        add_friction(acceleration, response, m["speed"], dt, rubbing, coulomb, breakaway, m["friction"])
    motors = c["limit"], c["delivered"], c["viscous"]
    torques = requested, m["motor"], m["friction"], m["joint"]
    return deliver(acceleration, m["speed"], dt, m["asked"], m["rest"], motors, torques)


class ArmController:
    """Drives the joints of an arm by a law, as `JointController` does, but in one compiled call.

    `body`: robot with a fixed root; `law`: law that the motors follow.
    """

    def __init__(self, body: RobotBody, law: ControlLaw) -> None:
        joints = len(body.robot.joint_names)
        self._apply = body.apply_joint_torques
        self._constants = arm_constants(
            body.robot, law, body.world.timestep, GRAVITY, has_armature=body.has_armature
        )
        self._memory = arm_memory(joints)
        # Views: what a step writes is in them.
        requested, motor, joint, friction, self._load = (
            self._memory[name][0] for name in ("requested", "motor", "joint", "friction", "load")
        )
        self._loaded: list[int] = []
        self.demand = law.demand
        self._law_of_step = law if law.beside_step else None
        self._law_torque = np.zeros(joints)
        self.command = Command(requested, motor, joint, friction)

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Do nothing: an arm has no feet. `held`: ignored."""

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to the engine.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `loads`: known
        external forces. Returns torques of this step; overwritten by the next step.
        """
        for joint in self._loaded:
            self._load[joint] = 0.0
        self._loaded.clear()
        for joint, wrench in loads:
            self._load[joint] = wrench
            self._loaded.append(joint)
        if self._law_of_step is not None:
            self._law_of_step.torque(state, demand, self._law_torque)
            demand = self._law_torque
        command = self.command
        command.saturated = arm_step(self._constants, self._memory, state.q, state.v, demand)
        self._apply(command.joint)
        return command
