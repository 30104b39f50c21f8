"""Forward dynamics of an arm driven by a feedback law, several motions at once (Ohtsuki's "animation")."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.dynamics.arm import Arm, parameter_names, parameter_vector
from simbench.kinematics.arrays import Array
from simbench.robot.dh import table_model

Scheme = Callable[[Callable[[Array, Array], Array], Array, Array, float], tuple[Array, Array]]

_ORDER = ("m", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")
"""Order of Pinocchio's dynamic parameters."""


def forward_dynamics(arm: Arm, law: Feedback) -> Callable[[Array, Array, Array], Array]:
    """Make the function that gives the joints' accelerations under a feedback law.

    (A − k_a E) q̈ = k_p (θ* − q) + k_v q̇ − h − D q̇ − f_c sgn q̇, solved by the articulated-body algorithm
    (Featherstone 1983) of Pinocchio. `arm`: the arm that moves, with its motors and friction; `law`: feedback
    law that drives every joint. Returns function of target, q and velocity, each (k, n), rad and rad/s, that
    returns accelerations (k, n), rad/s².
    """
    about_origin = dict(zip(parameter_names(arm), parameter_vector(arm), strict=True))
    # By its parameters, not by centre and inertia: those of a calibrated arm need not be physically possible.
    links = {
        joint.name: pin.Inertia.FromDynamicParameters(
            np.array([about_origin[f"{joint.name}.{kind}"] for kind in _ORDER])
        )
        for joint in arm.table.joints
    }
    model = table_model(arm.table, links)
    model.armature[:] = arm.motor - law.acceleration
    model.gravity.linear = arm.gravity
    data = model.createData()

    def change(target: Array, q: Array, velocity: Array) -> Array:
        torque = law.position * (target - q) + law.velocity * velocity
        torque = torque - arm.viscous * velocity - arm.coulomb * np.sign(velocity)
        return np.array([pin.aba(model, data, *state) for state in zip(q, velocity, torque, strict=True)])

    return change


def runge_kutta(
    change: Callable[[Array, Array], Array], q: Array, velocity: Array, step: float
) -> tuple[Array, Array]:
    """Advance position and velocity together by one Runge-Kutta step of fourth order.

    `change`: acceleration (k, n), rad/s², as a function of position and velocity; `q` (k, n): joint positions
    of k motions, rad; `velocity` (k, n): joint velocities, rad/s; `step`: time step, s. Returns `q` (k, n):
    positions one step later, rad; `velocity` (k, n): velocities one step later, rad/s.
    """
    v1, a1 = velocity, change(q, velocity)
    v2 = velocity + step / 2 * a1
    a2 = change(q + step / 2 * v1, v2)
    v3 = velocity + step / 2 * a2
    a3 = change(q + step / 2 * v2, v3)
    v4 = velocity + step * a3
    a4 = change(q + step * v3, v4)
    after = velocity + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q + step / 6 * (v1 + 2 * v2 + 2 * v3 + v4), after


def runge_kutta_then_euler(
    change: Callable[[Array, Array], Array], q: Array, velocity: Array, step: float
) -> tuple[Array, Array]:
    """Advance one step as the paper does (Ohtsuki, §7).

    The velocity advances by Runge-Kutta with the position held, then the position by Euler with the new
    velocity. `change`: acceleration (k, n), rad/s², as a function of position and velocity; `q` (k, n): joint
    positions of k motions, rad; `velocity` (k, n): joint velocities, rad/s; `step`: time step, s. Returns `q`
    (k, n): positions one step later, rad; `velocity` (k, n): velocities one step later, rad/s.
    """
    k1 = step * change(q, velocity)
    k2 = step * change(q, velocity + k1 / 2)
    k3 = step * change(q, velocity + k2 / 2)
    k4 = step * change(q, velocity + k3)
    after = velocity + (k1 + 2 * k2 + 2 * k3 + k4) / 6
    return q + step * after, after


def simulate_law(
    arm: Arm,
    law: Feedback,
    start: ArrayLike,
    target: ArrayLike,
    step: float,
    steps: int,
    scheme: Scheme = runge_kutta,
) -> tuple[Array, Array]:
    """Simulate an arm that starts at rest and is driven by a feedback law, several motions at once.

    `arm`: the arm that moves; `law`: feedback law that drives every joint; `start` (k, n) _like: initial
    joint positions of each motion, rad; `target` (k, n) _like: joint positions that the law drives each
    motion to, rad; `step`: time step, s; `steps`: number of time steps; `scheme`: integration scheme:
    `runge_kutta`, or the paper's `runge_kutta_then_euler`. Returns `q`, `velocity` (steps + 1, k, n): joint
    positions, rad, and velocities, rad/s, of every motion at every step; row 0 is the start.
    """
    aim = np.asarray(target, dtype=float)
    q = np.empty((steps + 1, *aim.shape))
    velocity = np.zeros_like(q)
    q[0] = start

    acceleration = forward_dynamics(arm, law)

    def change(position: Array, rate: Array) -> Array:
        return acceleration(aim, position, rate)

    for i in range(steps):
        q[i + 1], velocity[i + 1] = scheme(change, q[i], velocity[i], step)
    return q, velocity


def simulate_motions(
    arm: Arm, law: Feedback, start: ArrayLike, target: ArrayLike, step: float, steps: int
) -> list[ArmMotion]:
    """Simulate motions as `simulate_law` does and return them as recordings for calibration.

    `arm`: the arm that moves; `law`: feedback law that drives every joint; `start` (k, n) _like: initial
    joint positions of each motion, rad; `target` (k, n) _like: joint positions that the law drives each
    motion to, rad; `step`: time step and sampling period of the recordings, s; `steps`: number of time steps.
    Returns one noise-free recording for each motion.
    """
    aim = np.asarray(target, dtype=float)
    q, velocity = simulate_law(arm, law, start, aim, step, steps)
    acceleration = forward_dynamics(arm, law)
    motions = []
    for i, goal in enumerate(aim):
        goals = np.broadcast_to(goal, q[:, i].shape)
        change = acceleration(goals, q[:, i], velocity[:, i])
        motions.append(ArmMotion(1.0 / step, q[:, i], velocity[:, i], change, goals))
    return motions
