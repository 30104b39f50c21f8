"""A robot that moves all of its joints, and a person of another size who does the same, by Pinocchio."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HumanMotion, InitialPose
from simbench.motion.trajectory import JointTrajectory

HEADING = 0.7
# Lengths of the person's limbs, m: another size than the robot's, and thighs and shanks of another ratio.
LENGTHS = {"upper": 0.31, "fore": 0.24, "thigh": 0.5, "shank": 0.42, "neck": 0.2}
MAHRU_LEG = 0.66
"""Length of Mahru's thigh and shank together, m, from its file."""


def dancing_robot(mahru):
    """Smooth motion of all joints of Mahru, which sways, walks and heads 40° to the left, 3 s at 100 Hz."""
    time = np.arange(301) / 100.0
    rng = np.random.default_rng(5)
    lower, upper = mahru.model.lowerPositionLimit[7:], mahru.model.upperPositionLimit[7:]
    phase, rate = rng.uniform(0.0, 2.0 * np.pi, len(lower)), rng.uniform(2.0, 5.0, len(lower))
    q = lower + (0.5 + 0.4 * np.sin(rate * time[:, None] + phase)) * (upper - lower)
    base = np.zeros((len(time), 7))
    base[:, 0], base[:, 1] = 0.4 * time, 0.1 * np.sin(3.0 * time)
    base[:, 2] = 0.8 + 0.03 * np.sin(4.0 * time)
    lean = Rotation.from_rotvec(0.1 * np.sin(np.outer(time, [2.0, 3.0, 1.0])))
    base[:, 3:] = (Rotation.from_rotvec([0.0, 0.0, HEADING]) * lean).as_quat()
    return JointTrajectory(time, q, mahru.joint_names, base)


def dancing_person(mahru, dancing):
    """A person of another size who does the same as `dancing`, seen in the robot's heading.

    The initial posture is the robot's `basic`; the person's head is tilted forward in it.
    """
    model, data = mahru.model, mahru.model.createData()
    back = Rotation.from_rotvec([0.0, 0.0, -HEADING]).as_matrix()
    basic = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], mahru.postures["basic"]])
    path = np.hstack([dancing.base, dancing.q])
    scale = (LENGTHS["thigh"] + LENGTHS["shank"]) / MAHRU_LEG

    def place(configuration, turn):
        pin.framesForwardKinematics(model, data, configuration)
        at = {role: data.oMf[model.getFrameId(frame)] for role, frame in mahru.frames.items()}
        joint = {name: data.oMi[model.getJointId(name)].translation for name in model.names}
        joints = {}
        middle = turn @ (0.5 * (joint["LHipPitch"] + joint["RHipPitch"])) * scale
        trunk = joint["LShoulderPitch"] + joint["RShoulderPitch"] - joint["LHipPitch"] - joint["RHipPitch"]
        trunk = turn @ trunk / np.linalg.norm(trunk)
        for side, letter in (("left", "L"), ("right", "R")):
            points = [at[f"{side}_{name}"].translation for name in ("shoulder", "elbow", "wrist")]
            arm = [turn @ (b - a) / np.linalg.norm(b - a) for a, b in pairwise(points)]
            joints[f"{side}_shoulder"] = middle + 0.6 * trunk
            joints[f"{side}_elbow"] = joints[f"{side}_shoulder"] + LENGTHS["upper"] * arm[0]
            joints[f"{side}_wrist"] = joints[f"{side}_elbow"] + LENGTHS["fore"] * arm[1]
            points = [joint[f"{letter}{name}"] for name in ("HipPitch", "KneePitch", "AnklePitch")]
            leg = [turn @ (b - a) / np.linalg.norm(b - a) for a, b in pairwise(points)]
            across = points[0] - 0.5 * (joint["LHipPitch"] + joint["RHipPitch"])
            joints[f"{side}_hip"] = middle + turn @ across
            joints[f"{side}_knee"] = joints[f"{side}_hip"] + LENGTHS["thigh"] * leg[0]
            joints[f"{side}_ankle"] = joints[f"{side}_knee"] + LENGTHS["shank"] * leg[1]
        joints["neck"] = middle + np.array([0.0, 0.0, 0.7])
        return joints, {
            name: turn @ at[name].rotation for name in ("head", "trunk", "left_hand", "right_hand")
        }

    initial, first = place(basic, np.eye(3))
    tilted = LENGTHS["neck"] * np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    initial["head"] = initial["neck"] + tilted
    moments = [place(configuration, back) for configuration in path]
    joints = {name: np.array([each[name] for each, _ in moments]) for name in moments[0][0]}
    turned = {name: np.array([each[name] @ first[name].T for _, each in moments]) for name in first}
    joints["head"] = joints["neck"] + turned["head"] @ tilted
    frames = {}
    for name in ("trunk", "left_hand", "right_hand"):
        frames[name] = np.tile(np.eye(4), (len(path), 1, 1))
        frames[name][:, :3, :3] = turned[name]
    pose = InitialPose(initial, {name: np.eye(4) for name in frames})
    return HumanMotion(dancing.time, joints, frames, pose, "dancer")
