"""Torque limits and gains of joints, from the actuators of an MJCF."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

# As integers: MuJoCo's enumerations do not equal NumPy's integers in every order.
_OF_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_FIXED = int(mujoco.mjtGain.mjGAIN_FIXED)
_NONE, _AFFINE = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)


def joint_armature(model: Any, joint: int) -> float:
    """Sum the inertias of a joint's drives as the joint feels them, its own and its actuators', kg·m²."""
    # Actuators have inertia since MuJoCo 4.
    inertias = getattr(model, "actuator_armature", np.zeros(model.nu))
    own = float(model.dof_armature[model.jnt_dofadr[joint]])
    return own + sum(float(inertias[number]) * gear**2 for number, gear in _actuators(model, joint))


def _actuators(model: Any, joint: int) -> Iterator[tuple[int, float]]:
    """Yield the actuators that drive a joint, and their gears."""
    for number in range(model.nu):
        if model.actuator_trntype[number] in _OF_JOINTS and model.actuator_trnid[number, 0] == joint:
            yield number, float(model.actuator_gear[number, 0])


def torque_limit(model: Any, joint: int) -> float | None:
    """Find the largest torque of a joint's actuators, N·m, or force, N; None if nothing limits it.

    An actuator is limited by `forcerange`, a motor by `ctrlrange` times gain, each times gear; the joint by
    `actuatorfrcrange`. Of a range that is not symmetric the larger side counts.
    """
    total, driven = 0.0, False
    for number, gear in _actuators(model, joint):
        driven, largest = True, np.inf
        if model.actuator_forcelimited[number]:
            largest = float(np.abs(model.actuator_forcerange[number]).max())
        is_motor = model.actuator_gaintype[number] == _FIXED and model.actuator_biastype[number] == _NONE
        if is_motor and model.actuator_ctrllimited[number]:
            gain = abs(float(model.actuator_gainprm[number, 0]))
            largest = min(largest, gain * float(np.abs(model.actuator_ctrlrange[number]).max()))
        total += largest * abs(gear)
    if model.jnt_actfrclimited[joint]:
        bound = float(np.abs(model.jnt_actfrcrange[joint]).max())
        total, driven = (min(total, bound) if driven else bound), True
    return total if driven and 0.0 < total < np.inf else None


def joint_gains(model: Any, joint: int) -> tuple[float, float] | None:
    """Read stiffness (N·m/rad) and damping (N·m·s/rad) of a joint's only actuator, at the joint.

    None if it has none or several, or one that is not a position servo.
    """
    found = list(_actuators(model, joint))
    if len(found) != 1:
        return None
    number, gear = found[0]
    stiffness = float(model.actuator_gainprm[number, 0])
    _, position, speed = map(float, model.actuator_biasprm[number, :3])
    is_servo = model.actuator_gaintype[number] == _FIXED and model.actuator_biastype[number] == _AFFINE
    if not is_servo or stiffness <= 0.0 or position != -stiffness or speed > 0.0:
        return None
    return stiffness * gear**2, -speed * gear**2
