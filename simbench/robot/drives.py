"""Motors, gains and friction of a robot's joints, and the rule of `gains: auto`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.collision_geometry import random_configurations
from simbench.robot.description import Bandwidth

GRAM_SQUARE_CENTIMETRE = 1e-7  # kg·m²

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Motors:
    """Drive and PD data of the actuated joints, arrays in the order of `Robot.joint_names`."""

    # (n,): inertia of the rotors as the joints feel it, reduction squared times rotor inertia, kg·m².
    reflected_inertia: Vector
    stiffness: Vector  # `stiffness`, `damping` (n,): PD gains, N·m/rad and N·m·s/rad.
    damping: Vector
    torque_limit: Vector  # (n,): largest torque of each drive, N·m.
    # (n,): revolutions of the motor for one revolution of the joint; 0 where it is not known.
    reduction: Vector


@dataclass(frozen=True)
class Friction:
    """Joint friction, arrays in the order of `Robot.joint_names`."""

    coulomb: Vector  # (n,): coulomb friction of a moving joint, N·m.
    viscous: Vector  # (n,): viscous friction coefficient of a moving joint, N·m·s/rad.
    breakaway: Vector  # (n,): largest friction that holds a joint at rest, N·m; at least `coulomb`.


_GRAVITY = 9.81  # Acceleration of gravity, m/s².
# Natural frequency of the standing body on its joints, as a multiple of its pendulum's √(g / h).
_STANCE_RATIO = 4.0
_SAMPLES = 64  # Configurations among which the largest inertia of a limb is looked for.
_ERROR_M = 0.01  # Position error at which the motor of a sliding joint may be at its limit, m.
# Eigenvalue of M⁻¹ (2 D Δt + 3 K Δt²) at which a leg under torques of the last step's state is unstable.
_BOUND = 4.0
_STIFFNESS_SHARE = 0.65  # Largest part of that bound that the stiffness alone may take.
_TOTAL_SHARE = 0.9  # Largest part of that bound that stiffness and damping may take together.
_HALVINGS = 50  # Halvings of the interval in which a factor is looked for.


def choose_gains(
    model: pin.Model,
    postures: Sequence[Vector],
    feet: Sequence[int],
    grips: Sequence[int],
    bandwidth: Bandwidth,
) -> tuple[Vector, Vector]:
    """Choose stiffness K and damping D of all joints from the robot's inertia, weight and motors.

    With J the inertia that a joint moves with its limb, rotor included (the largest in the postures and in
    64 configurations within the limits), ω = 2π `limb_hz`, ζ = `damping_ratio`, τ_max the torque limit:

    1. Every joint: K = J ω², the stiffness of a second-order system with this natural frequency.
    2. Joints between the root and one of n_f feet: at least K = m h² ω_s² / n_f, for the body above moves on
       them like a pendulum of mass m and COG height h over the soles. By default ω_s = 4 √(g / h): all feet
       together have 16 times the stiffness m g h with which gravity topples the body (m h² g / h = m g h).
    3. K ≤ τ_max / e with e = `saturation_error_rad`: an error of this size must not saturate the motor. Of a
       joint that closes a hand, e is its whole range, because a handle may stop it anywhere.
    4. D = 2 ζ √(K J): damping ratio ζ of the free limb. Of a joint that closes a hand at least K e / v_max:
       one that slips off a handle at e does not exceed its speed limit v_max.
    5. A foot that the ground only touches may count as held although it moves freely. Its torques are then
       those of the state one step (Δt = `timestep_s`) ago: q⁺ = q + Δt v⁺,
       M (v⁺ − v) = −Δt (K (q + Δt v) + D v), with M the joints' inertia, of the rotors only with the legs',
       which turn with their links in the engine, and all other joints free: the inverse of the leg's block of
       the inverse mass matrix of the whole robot. With x = e^{λt} at
       the edge of stability, −1, this is det(4 M − 2 D Δt − 3 K Δt²) = 0: the leg is stable if the
       eigenvalues of M⁻¹ (2 D Δt + 3 K Δt²) are below 4. K is reduced where they exceed 65 % of that with
       D = 0, and D where they exceed 90 %, each in proportion to Λ_i = 1 / (M⁻¹)_ii, the least inertia that
       joint i meets, by one common factor for each leg: strong joints of heavy links keep theirs.

    Sources: 1 and 4 are textbook PD (Siciliano et al., Robotics, 8.3); 2 is the linear inverted pendulum
    (Kajita et al. 2001); 5 is the Jury criterion of the discrete closed loop.

    `model`: model of the robot, with the reflected inertia in `model.armature`; `postures` sequence of (nq,)
    array: configurations; the first is that in which the robot stands; `feet`: indices of the frames of
    the feet; `grips`: indices of the joints that close the hands;
    `bandwidth`: natural frequencies, damping ratio, and the other numbers of the rule. Returns `stiffness`,
    `damping` (n,): PD gains, N·m/rad and N·m·s/rad, for sliding joints N/m and N·s/m, of the joints of one
    degree of freedom in the model's order without the root.
    """
    joints = [joint for joint in range(1, model.njoints) if model.joints[joint].nv == 1]
    columns = np.array([model.joints[joint].idx_v for joint in joints], dtype=int)
    # The largest inertia that each joint moves, rotor included.
    data, configurations = model.createData(), [*postures, *random_configurations(model, _SAMPLES)]
    limb = np.max([np.diag(pin.crba(model, data, q)) for q in configurations], axis=0)[columns]
    limit, fastest = model.effortLimit[columns], model.velocityLimit[columns]
    sliding = np.array(["JointModelP" in model.joints[joint].shortname() for joint in joints], dtype=bool)
    error = np.where(sliding, _ERROR_M, bandwidth.saturation_error_rad)
    closing = np.array([joint in grips for joint in joints], dtype=bool)
    coordinates = np.array([model.joints[joint].idx_q for joint in joints], dtype=int)
    travel = model.upperPositionLimit[coordinates] - model.lowerPositionLimit[coordinates]
    error[closing] = np.clip(travel[closing], error[closing], 2.0 * np.pi)

    stiffness = limb * (2.0 * np.pi * bandwidth.limb_hz) ** 2
    carriers = [model.supports[model.frames[foot].parentJoint] for foot in feet]
    legs = [np.array([n for n, joint in enumerate(joints) if joint in above]) for above in carriers]
    if legs:
        pin.framesForwardKinematics(model, data, postures[0])
        ground = np.mean([data.oMf[foot].translation[2] for foot in feet])
        height = pin.centerOfMass(model, data, postures[0])[2] - ground
        mass = pin.computeTotalMass(model)
        omega = _STANCE_RATIO * np.sqrt(_GRAVITY / max(height, 1e-3))
        if bandwidth.stance_hz is not None:
            omega = 2.0 * np.pi * bandwidth.stance_hz
        # Of the joints of a leg on which the body stands.
        stance = np.where(sliding, mass, mass * height**2) * omega**2 / len(feet)
        for leg in legs:
            stiffness[leg] = np.maximum(stiffness[leg], stance[leg])
    stiffness = np.minimum(stiffness, limit / error)
    inverse = _inverse_inertia(model, postures[0], [columns[leg] for leg in legs])[np.ix_(columns, columns)]
    for leg in legs:
        block = inverse[np.ix_(leg, leg)]
        scale = (3.0 / _BOUND) * bandwidth.timestep_s**2
        stiffness[leg] = _bounded(block, np.zeros(len(leg)), scale * stiffness[leg], _STIFFNESS_SHARE) / scale
    damping = 2.0 * bandwidth.damping_ratio * np.sqrt(stiffness * limb)
    damping[closing] = np.maximum(damping[closing], (stiffness * error / fastest)[closing])
    for leg in legs:
        block = inverse[np.ix_(leg, leg)]
        fixed = (3.0 / _BOUND) * bandwidth.timestep_s**2 * stiffness[leg]
        scale = (2.0 / _BOUND) * bandwidth.timestep_s
        damping[leg] = _bounded(block, fixed, scale * damping[leg], _TOTAL_SHARE) / scale
    return stiffness, damping


def light_foot_fraction(
    model: pin.Model, q: Vector, foot: int, gains: tuple[Vector, Vector], timestep: float
) -> float:
    """Compute how near the gains of a leg are to shaking a foot that the floor only touches.

    Largest eigenvalue of M⁻¹ (2 D Δt + 3 K Δt²) as a part of 4, as in rule 5 of `choose_gains`. `model`:
    model of the robot; `q` (nq,): configuration; `foot`: index of the frame of the foot; `gains` ((n,) , (n,)
    array): stiffness and damping of the joints in the model's order without the root, in SI units;
    `timestep`: physics step Δt, s. Returns the fraction; the leg is stable below 1.
    """
    supports = list(model.supports[model.frames[foot].parentJoint])[1:]
    leg = [joint for joint in supports if model.joints[joint].nv == 1]
    columns = np.array([model.joints[joint].idx_v for joint in leg])
    root = model.nv - len(gains[0])
    stiffness, damping = (each[columns - root] for each in gains)
    inverse = _inverse_inertia(model, q, [columns])[np.ix_(columns, columns)]
    scale = np.sqrt(2.0 * damping * timestep + 3.0 * stiffness * timestep**2)
    return float(np.linalg.eigvalsh(scale[:, None] * inverse * scale)[-1]) / _BOUND


def _inverse_inertia(model: pin.Model, q: Vector, legs: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Compute the inverse (nv, nv) of the mass matrix without rotors but those of the legs."""
    bare = model.copy()
    bare.armature = np.zeros(model.nv)
    for leg in legs:
        bare.armature[leg] = model.armature[leg]
    upper = np.triu(pin.computeMinverse(bare, bare.createData(), q))
    return np.asarray(upper + np.triu(upper, 1).T)


def _bounded(inverse: NDArray[np.float64], fixed: Vector, wanted: Vector, share: float) -> Vector:
    """Reduce `wanted` (k,) until the eigenvalues of inverse · diag(fixed + wanted) are at most `share`.

    Entry i becomes min(wanted_i, s Λ_i − fixed_i), at least zero, with the largest factor s that allows it.
    """
    least = 1.0 / np.diag(inverse)

    def reduced(factor: float) -> Vector:
        return np.clip(factor * least - fixed, 0.0, wanted)

    def largest(added: Vector) -> float:
        root = np.sqrt(fixed + added)
        return float(np.linalg.eigvalsh(root[:, None] * inverse * root)[-1])

    if largest(wanted) <= share:
        return wanted
    low, high = 0.0, float(np.max((wanted + fixed) / least))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if largest(reduced(middle)) <= share else (low, middle)
    return reduced(low)
