"""Recordings of a scaled model itself: the motion that imitation has to find is known."""

import numpy as np
import pinocchio as pin

from simbench.motion.human_motion import HumanMotion


def record_model(actor, q, time, source):
    """Record what motion capture would see of a scaled model that moves by q (T, nq)."""
    model, data = actor.model, actor.model.createData()
    joints = {name: np.empty((len(q), 3)) for name in actor.joints}
    segments = {name: np.empty((len(q), 4, 4)) for name in actor.markers}
    for sample, configuration in enumerate(q):
        pin.framesForwardKinematics(model, data, configuration)
        for name, frame in actor.joints.items():
            joints[name][sample] = data.oMf[frame].translation
        for name, frame in actor.markers.items():
            segments[name][sample] = data.oMf[frame].homogeneous
    return HumanMotion(time, joints, segments, source.initial, "scaled model")
