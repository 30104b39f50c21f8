"""Recordings of the scaled model itself: what imitation has to find is known."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.human_motion import HumanMotion


@pytest.fixture(scope="session")
def performed():
    """What motion capture would see of the scaled model itself moving by q (T, nq)."""
    return _performed


def _performed(actor, q, time, source):
    model, data = actor.model, actor.model.createData()
    joints = {name: np.empty((len(q), 3)) for name in actor.joints}
    segments = {name: np.empty((len(q), 4, 4)) for name in actor.markers}
    for sample, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        for name, frame in actor.joints.items():
            joints[name][sample] = data.oMf[frame].translation
        for name, frame in actor.markers.items():
            segments[name][sample] = data.oMf[frame].homogeneous
    return HumanMotion(time, joints, segments, source.initial, "scaled model")
