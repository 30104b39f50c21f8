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


def torque_limit(model: Any, joint: int) -> tuple[float | None, float]:
    """Find the largest torque of a joint's actuators, N·m, or force, N.

    The joint is limited by `actuatorfrcrange`, each actuator by `forcerange` times gear. Only where there is
    neither, `ctrlrange` times gain times gear of a motor counts: many models have controls from -1 to 1
    beside limits in N·m. Of a range that is not symmetric the larger side counts. Returns the limit, None if
    there is none, and that by `ctrlrange`, infinite if there is none.
    """
    by_force, by_control, driven = 0.0, 0.0, False
    for number, gear in _actuators(model, joint):
        driven, force, control = True, np.inf, np.inf
        if model.actuator_forcelimited[number]:
            force = float(np.abs(model.actuator_forcerange[number]).max())
        is_motor = model.actuator_gaintype[number] == _FIXED and model.actuator_biastype[number] == _NONE
        if is_motor and model.actuator_ctrllimited[number]:
            gain = abs(float(model.actuator_gainprm[number, 0]))
            control = gain * float(np.abs(model.actuator_ctrlrange[number]).max())
        by_force += force * abs(gear)
        by_control += control * abs(gear)
    if not driven:
        by_force = by_control = np.inf
    if model.jnt_actfrclimited[joint]:
        by_force = min(by_force, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    limit = by_force if by_force < np.inf else by_control
    return (limit if 0.0 < limit < np.inf else None), by_control


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
