"""Torques of a serial arm as a matrix times its parameters: inverse dynamics is linear in them.

Of each link its inertia about the frame's origin, first moment m c and mass (Atkeson, An & Hollerbach 1986),
the inertia of its motor, viscous and Coulomb friction. A column is Newton-Euler of an arm with this parameter
alone.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simbench.dynamics.arm import Arm
from simbench.dynamics.newton_euler import link_torques
from simbench.kinematics.arrays import Array

TENSOR = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
MOMENT = ("mx", "my", "mz")
JOINT = ("motor", "viscous", "coulomb")


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
        about_origin = arm.inertia[i] + _shift(m, c)
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
        inertia[i] -= _shift(mass[i], centre[i])
    motor, viscous, coulomb = (
        np.array([given.get(f"{name}.{kind}", 0.0) for name in names]) for kind in JOINT
    )
    return replace(
        arm, mass=mass, centre=centre, inertia=inertia, motor=motor, viscous=viscous, coulomb=coulomb
    )


def torque_regressor(arm: Arm, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute the regressor Y of the joint torques, τ = Y(q, q̇, q̈) p.

    `arm`: arm whose table, gravity and choice of joints with a motor are used; its masses are not; `q` (...,
    n) _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities,
    rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n, p):
    columns in the order of `parameter_names`. Friction of a joint at rest contributes nothing, as it takes
    whatever value holds the joint.
    """
    q, velocity, acceleration = np.broadcast_arrays(
        *(np.asarray(each, dtype=float) for each in (q, velocity, acceleration))
    )
    n = arm.joints
    states = tuple([each[..., i] for i in range(n)] for each in (q, velocity, acceleration))

    def torques(mass: Array, centre: Array, inertia: Array) -> Array:
        links = replace(arm, mass=mass, centre=centre, inertia=inertia)
        return np.stack(np.broadcast_arrays(*link_torques(links, *states), q[..., 0])[:-1], axis=-1)

    columns = []
    none, still = np.zeros(n), np.zeros((n, 3, 3))
    for i in range(n):
        unit = np.eye(n)[i]
        for row, column in TENSOR.values():
            tensor = still.copy()
            tensor[i, row, column] = tensor[i, column, row] = 1.0
            columns.append(torques(none, np.zeros((n, 3)), tensor))
        alone = torques(unit, np.zeros((n, 3)), still)
        for axis in np.eye(3):
            # A unit mass off the origin, without inertia about the origin, has a first moment and a mass.
            centre, tensor = np.outer(unit, axis), still.copy()
            tensor[i] = -_shift(1.0, axis)
            columns.append(torques(unit, centre, tensor) - alone)
        columns.append(alone)
        if arm.motor[i] != 0.0:
            columns.append(acceleration * unit)
        columns += [velocity * unit, np.sign(velocity) * unit]
    return np.stack(columns, axis=-1)


def _shift(mass: float, centre: Array) -> Array:
    """Compute the inertia about the origin of a point mass at the centre."""
    return mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
