"""A retargeting whose every number is chosen: what the scaled model does, and by how much it is off."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from performances import record_model

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import FOREARM, HAND, ErrorTrack, RobotErrors
from simbench.retargeting.collision.interference import Interference
from simbench.retargeting.imitation.imitation import Imitation

COUNT = 101
# The robot's left wrist is this far from the recorded one at the end of the motion, and not at its start, m.
WRIST_OFF = np.array([0.0, 0.003, 0.004])
ELBOW_OFF = np.array([0.020, 0.0, 0.0])


def retargeting(robot, actor, source):
    """Let the model swing its arms, with a recording that misses it by `WRIST_OFF` and `ELBOW_OFF`.

    The robot's joints swing by half a hertz about the middle of their limits; the left hand is in contact
    from 0.5 s to 0.75 s of the trajectory, which is twice as slow as the recording.
    """
    time = np.linspace(0.0, 1.0, COUNT)
    q = np.tile(actor.q, (COUNT, 1))
    q[:, 7:] += 0.3 * np.sin(np.pi * time)[:, None]
    motion = replace(record_model(actor, q, time, source), source="by hand")
    motion.joints["left_wrist"] += time[:, None] * WRIST_OFF
    motion.joints["right_elbow"] += ELBOW_OFF
    columns = np.array([robot.joint_names.index(name) for name in actor.model.names[2:]])
    lower, upper = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    positions = np.tile(0.5 * (lower + upper), (COUNT, 1))
    positions[:, columns] += 0.4 * (upper - lower)[columns] * np.sin(np.pi * time)[:, None]
    base = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8], (COUNT, 1))
    contact = {"left": (time >= 0.25) & (time <= 0.375), "right": np.zeros(COUNT, dtype=bool)}
    plan = SimpleNamespace(
        trajectory=JointTrajectory(2.0 * time, positions, robot.joint_names, base),
        imitation=Imitation(actor, time, q),
        hands=SimpleNamespace(contact=contact),
        upper=columns,
        errors=robot_errors(contact),
        interferences=(Interference("l_wrist", "torso", 0.5, 0.75, -0.004, 0.6),),
        metrics={"retarget.slow_down": 2.0, "imitation.hand_max_m": 0.005, "retarget.hand_max_m": 0.002},
        notes=("0.20 s longer than recorded, most for speed of LElbowRoll (100 %)",),
    )
    return SimpleNamespace(
        robot=robot, motion=motion, plan=plan, method="analytical", recording=motion, physics="stand"
    )


def robot_errors(contact):
    """The left hand off by up to 50 mm of an arm of 0.5 m, at half of the motion; the right forearm by 9°."""
    samples = np.arange(COUNT)
    hump = 1.0 - np.abs(np.linspace(-1.0, 1.0, COUNT))
    tracks = (
        ErrorTrack(HAND, "left", samples, 0.05 * hump),
        ErrorTrack(HAND, "right", samples, np.zeros(COUNT)),
        ErrorTrack(FOREARM, "right", samples, np.full(COUNT, np.radians(9.0))),
    )
    return RobotErrors(tracks, {"left": 0.5, "right": 0.5}, contact)
