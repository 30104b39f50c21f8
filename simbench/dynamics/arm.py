"""Serial arms given by a Denavit-Hartenberg table: their parameters, inverse dynamics and its regressor.

Torque is linear in the parameters: of each link its inertia about the frame's origin, first moment m c and
mass (Atkeson, An & Hollerbach 1986), the inertia of its motor, viscous and Coulomb friction.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import BASE, DhJoint, DhRow, DhTable, HayatiRow, Sigma, row_end, table_model
from simbench.robot.robot import load_robot
from simbench.robot.robot_sources import describe_robot, find_robot

TENSOR = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
MOMENT = ("mx", "my", "mz")
JOINT = ("motor", "viscous", "coulomb")
# Order of Pinocchio's dynamic parameters.
_PINOCCHIO = ("m", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")


@dataclass(frozen=True)
class Arm:
    """A serial arm with its inertial parameters.

    Raises RobotError if the table is not a chain of moving joints, or an array has another shape.
    """

    table: DhTable  # Denavit-Hartenberg table: a chain of joints, all of them moving.
    mass: Array  # (n,): mass of each link, kg.
    # (n, 3): centre of mass in the frame of the link's row, m. A `HayatiRow` has its frame at the link's far
    # end.
    centre: Array
    inertia: Array  # (n, 3, 3): about the centre of mass, in the row's axes, kg·m².
    # (n,): reflected inertia of each motor and drive at its joint, kg·m²: it is on the diagonal of A and
    # nowhere else.
    motor: Array
    viscous: Array  # (n,): viscous friction of each joint, N·m·s/rad.
    coulomb: Array  # (n,): coulomb friction of each moving joint, N·m.
    gravity: Array  # (3,): gravitational acceleration in the base's axes, m/s².

    def __post_init__(self) -> None:
        before = BASE
        for joint in self.table.joints:
            where = f"arm, joint `{joint.name}`"
            if joint.parent != before:
                raise RobotError(f"{where}: hangs on `{joint.parent}`; allowed in a chain: `{before}`")
            if joint.sigma == Sigma.FIXED:
                raise RobotError(
                    f"{where}: is fixed; allowed: joints that move, its link joined to the one before"
                )
            before = joint.name
        n = len(self.table.joints)
        shapes = {"mass": (n,), "centre": (n, 3), "inertia": (n, 3, 3), "gravity": (3,)}
        shapes |= {name: (n,) for name in ("motor", "viscous", "coulomb")}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise RobotError(f"arm, {name}: shape {getattr(self, name).shape}; allowed: {shape}")

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.table.joints)

    @property
    def rows(self) -> tuple[DhRow | HayatiRow, ...]:
        """DhRow of the Denavit-Hartenberg table of each joint."""
        return tuple(joint.row for joint in self.table.joints)


def read_arm(name_or_path: str | Path) -> Arm:
    """Read an arm's Denavit-Hartenberg table and inertial parameters from its `robot.yaml`.

    `name_or_path`: name of a robot, such as `puma560`, or the path of a `robot.yaml`. Returns the arm in
    standard gravity, the base's z axis up. Raises RobotError if the robot cannot be loaded, or is not a chain
    of joints placed by rows (`dh`).
    """
    robot = load_robot(name_or_path)
    file, description = describe_robot(find_robot(name_or_path))
    rows = []
    for name in robot.joint_names:
        described = description.joints.get(name)
        if described is None or described.dh is None:
            raise RobotError(
                f"{file.path}: joints.{name}: has no row; allowed in an arm by its table: joints with `dh`"
            )
        rows.append(described.dh)
    children = [description.joints[name].child for name in robot.joint_names]
    joints = []
    for name, row in zip(robot.joint_names, rows, strict=True):
        carrier = description.joints[name].parent
        # Whatever the root link is called, it is the table's base.
        parent = robot.joint_names[children.index(carrier)] if carrier in children else BASE
        joints.append(DhJoint(name, parent, row))
    links = [description.links[child] for child in children]
    tensors = np.array([link.inertia for link in links])
    return Arm(
        table=DhTable(tuple(joints)),
        mass=np.array([link.mass for link in links]),
        centre=np.array([link.cog for link in links]),
        # The description gives xx, yy, zz, xy, xz, yz.
        inertia=tensors[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3),
        motor=robot.motors.reflected_inertia,
        viscous=robot.friction.viscous,
        coulomb=robot.friction.coulomb,
        gravity=np.array([0.0, 0.0, -9.81]),
    )


def arm_model(arm: Arm) -> pin.Model:
    """Build the arm's Pinocchio model, with its motors (`armature`) and without friction.

    Returns one joint for each row of the table.
    """
    inertias: dict[str, pin.Inertia] = {}
    for joint, mass, centre, inertia in zip(arm.table.joints, arm.mass, arm.centre, arm.inertia, strict=True):
        # Attribute by attribute: the constructor refuses those of a calibrated arm, which need not be
        # physically possible.
        body = inertias[joint.name] = pin.Inertia.Zero()
        body.mass, body.lever, body.inertia = mass, centre, inertia
    model = table_model(arm.table, inertias)
    model.armature[:] = arm.motor
    model.gravity.linear = arm.gravity
    return model


def inverse_dynamics(arm: Arm, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute the joint torques of a motion, with motors and the friction of moving joints.

    τ = A(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q) + D q̇ + f_c sgn q̇ (Armstrong 1986, eq. 1; Ohtsuki). The
    friction of a joint at rest takes whatever value holds it, up to breakaway, and is left out. `q` (..., n)
    _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities, rad/s,
    or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n): joint
    torques, N·m, or forces, N. Raises RobotError if an array does not have n columns.
    """
    model = arm_model(arm)
    data = model.createData()
    _, velocity, _ = states = joint_states(arm.joints, q, velocity, acceleration)
    torque = for_each_state(states, (arm.joints,), lambda *state: pin.rnea(model, data, *state))
    return torque + arm.viscous * velocity + arm.coulomb * np.sign(velocity)


def torque_regressor(arm: Arm, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute the regressor Y of the joint torques, τ = Y(q, q̇, q̈) p.

    `arm`: arm whose table, gravity and choice of joints with a motor are used; its masses are not; `q` (...,
    n) _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities,
    rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n, p):
    columns in the order of `parameter_names`. Friction of a joint at rest contributes nothing, as it takes
    whatever value holds the joint.
    """
    model, n = arm_model(arm), arm.joints
    data = model.createData()
    _, velocity, acceleration = states = joint_states(n, q, velocity, acceleration)
    links = for_each_state(
        states, (n, 10 * n), lambda *state: pin.computeJointTorqueRegressor(model, data, *state)
    )
    unit, columns = np.eye(10), []
    order = [_PINOCCHIO.index(kind) for kind in (*TENSOR, *MOMENT, "m")]
    for i, row in enumerate(arm.rows):
        # Pinocchio's parameters are about the joint's frame, ours about the row's, which may be further out.
        # A body without mass has no parameters there: each is added to a unit mass.
        bodies = [pin.Inertia.FromDynamicParameters(unit[0] + each) for each in (0.0 * unit[0], *unit[1:])]
        moved = np.array([row_end(row).act(body).toDynamicParameters() for body in bodies])
        moved[1:] -= moved[0]
        columns.append(links[..., 10 * i : 10 * (i + 1)] @ moved[order].T)
        joint = [acceleration] if arm.motor[i] != 0.0 else []
        joint += [velocity, np.sign(velocity)]
        columns.append(np.stack([each * np.eye(n)[i] for each in joint], axis=-1))
    return np.concatenate(columns, axis=-1)


def joint_states(
    joints: int, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> tuple[Array, Array, Array]:
    """Check positions, velocities and accelerations and broadcast them to one shape.

    `joints`: number of joints n; `q` (..., n) _like: joint positions, rad, or m; `velocity` (..., n) _like:
    joint velocities, rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s².
    Returns tuple of three (..., n) arrays: the same, broadcast. Raises RobotError if an array does not have n
    columns.
    """
    states = []
    for name, given in (("q", q), ("velocity", velocity), ("acceleration", acceleration)):
        state = np.asarray(given, dtype=float)
        if state.ndim == 0 or state.shape[-1] != joints:
            raise RobotError(f"{name} of shape {state.shape}; allowed: (..., {joints})")
        states.append(state)
    first, second, third = np.broadcast_arrays(*states)
    return first, second, third


def for_each_state(
    states: tuple[Array, Array, Array], shape: tuple[int, ...], compute: Callable[..., Array]
) -> Array:
    """Compute an array of some shape for every state of joint positions, velocities and accelerations."""
    result = np.empty((*states[0].shape[:-1], *shape))
    flat = result.reshape(-1, *shape)
    for k, state in enumerate(zip(*(each.reshape(-1, each.shape[-1]) for each in states), strict=True)):
        flat[k] = compute(*state)
    return result


def parameter_names(arm: Arm) -> tuple[str, ...]:
    """Name the parameters of an arm, `joint.parameter`, in the order of the regressor's columns.

    Inertia about the origin of the link's frame, kg·m²; first moment, kg·m; mass, kg; motor inertia, kg·m²,
    where there is one: a motor without gears is part of the links; friction, N·m·s/rad and N·m. `arm`: arm
    whose joints are named; a joint without motor inertia has no `motor` parameter.
    """
    names = []
    for joint, motor in zip(arm.table.joints, arm.motor, strict=True):
        kinds = [*TENSOR, *MOMENT, "m", *(kind for kind in JOINT if kind != "motor" or motor != 0.0)]
        names += [f"{joint.name}.{kind}" for kind in kinds]
    return tuple(names)


def parameter_vector(arm: Arm) -> Array:
    """Compute the parameters of a known arm in the order of `parameter_names`.

    Returns (p,): parameters in the units given there.
    """
    values: dict[str, float] = {}
    for i, joint in enumerate(arm.table.joints):
        m, c = arm.mass[i], arm.centre[i]
        about_origin = arm.inertia[i] + _point_inertia(m, c)
        values |= {f"{joint.name}.{kind}": about_origin[at] for kind, at in TENSOR.items()}
        values |= {f"{joint.name}.{kind}": m * component for kind, component in zip(MOMENT, c, strict=True)}
        values |= {f"{joint.name}.m": m}
        values |= {f"{joint.name}.{kind}": getattr(arm, kind)[i] for kind in JOINT}
    return np.array([values[name] for name in parameter_names(arm)])


def with_parameters(arm: Arm, values: ArrayLike) -> Arm:
    """Return an arm with other inertial parameters and friction.

    `arm`: arm whose table and gravity are kept; `values` (p,) _like: parameters in the order of
    `parameter_names`; no mass may be zero. Returns the changed arm.
    """
    given = dict(zip(parameter_names(arm), np.asarray(values, dtype=float).tolist(), strict=True))
    names = [joint.name for joint in arm.table.joints]
    mass = np.array([given[f"{name}.m"] for name in names])
    centre = np.array([[given[f"{name}.{kind}"] for kind in MOMENT] for name in names]) / mass[:, None]
    inertia = np.empty_like(arm.inertia)
    for i, name in enumerate(names):
        for kind, (row, column) in TENSOR.items():
            inertia[i, row, column] = inertia[i, column, row] = given[f"{name}.{kind}"]
        inertia[i] -= _point_inertia(mass[i], centre[i])
    motor, viscous, coulomb = (
        np.array([given.get(f"{name}.{kind}", 0.0) for name in names]) for kind in JOINT
    )
    return replace(
        arm, mass=mass, centre=centre, inertia=inertia, motor=motor, viscous=viscous, coulomb=coulomb
    )


def _point_inertia(mass: float, centre: Array) -> Array:
    """Compute the inertia about the origin of a point mass at the centre."""
    return mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
