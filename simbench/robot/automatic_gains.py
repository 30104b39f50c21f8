"""PD gains for a robot whose own are not known: from the inertia that each joint moves, and a bandwidth."""

from collections.abc import Collection

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.description import Bandwidth

Vector = NDArray[np.float64]


def automatic_gains(
    model: pin.Model, q: Vector, feet: Collection[int], bandwidth: Bandwidth
) -> tuple[Vector, Vector]:
    """Choose stiffness J ω² and damping 2 ζ J ω for every joint of one degree of freedom.

    J is the inertia about the joint's axis, rotor included, of what the joint moves: its limb, or, for the
    joints between the root and a foot, the rest of the robot, shared by the feet that stand.

    Parameters
    ----------
    model : pinocchio.Model
        With the reflected inertia in `model.armature`.
    q : (nq,) array
        Configuration in which the inertia is taken.
    feet : collection of int
        Joints that carry a foot.
    bandwidth : Bandwidth

    Returns
    -------
    stiffness, damping : (n,) array
        N·m/rad and N·m·s/rad, joints in the model's order without the root.
    """
    data = model.createData()
    # Of a model with one joint Pinocchio returns a plain vector.
    columns = np.reshape(pin.computeJointJacobians(model, data, q), (6, model.nv))
    bodies = [data.oMi[joint].act(model.inertias[joint]).matrix() for joint in range(1, model.njoints)]
    whole = np.sum(bodies, axis=0)
    legs = {joint for foot in feet for joint in model.supports[foot]}
    inertia, frequency = [], []
    for joint in range(1, model.njoints):
        if model.joints[joint].nv != 1:
            continue
        axis = columns[:, model.joints[joint].idx_v]
        limb = np.sum([bodies[body - 1] for body in model.subtrees[joint]], axis=0)
        stands = joint in legs
        moved = (whole - limb) / len(feet) if stands else limb
        inertia.append(axis @ moved @ axis + model.armature[model.joints[joint].idx_v])
        frequency.append(bandwidth.stance_hz if stands else bandwidth.limb_hz)
    omega = 2.0 * np.pi * np.array(frequency)
    moved = np.array(inertia)
    return moved * omega**2, 2.0 * bandwidth.damping_ratio * moved * omega
