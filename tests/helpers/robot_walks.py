"""Walks of a robot in closed form: the stance foot is flat and still on the floor, by construction."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory import JointTrajectory


class Walks(NamedTuple):
    """Several walks of the same length: arrays (N, T, ...)."""

    time: np.ndarray
    q: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray

    def trajectory(self, robot, number=0):
        """One of the walks."""
        base = np.hstack([self.position[number], self.quaternion[number]])
        return JointTrajectory(self.time, self.q[number], robot.joint_names, base)


def make_walks(robot, count, *, rng, samples=60, rate=30.0, heading=None, stride=1.0, lean=1.0):
    """Make walks of a humanoid whose legs have pitch joints named as those of G1.

    The pelvis leans by a few degrees; hip, knee and ankle pitch add up so that both soles stay level.
    Headings are uniformly random, or the one given.
    """
    total = count * samples
    index = {name: k for k, name in enumerate(robot.joint_names)}
    q = np.tile(robot.postures["standing"], (total, 1)).reshape(count, samples, -1)
    time = np.arange(samples) / rate

    def drawn(low, high):
        return rng.uniform(low, high, (count, 1))

    phase = 2.0 * np.pi * drawn(0.5, 1.2) * time + drawn(0.0, 2.0 * np.pi)
    swing, lift, bend = stride * drawn(0.05, 0.45), drawn(0.2, 0.8), drawn(0.1, 0.6)
    pitch = lean * (rng.normal(0.0, 0.06, (count, 1)) + rng.normal(0.0, 0.03, (count, 1)) * np.sin(phase))
    roll = lean * rng.normal(0.0, 0.03, (count, 1)) * np.sin(phase + 1.0)
    for side, offset in (("left", 0.0), ("right", np.pi)):
        raised = lift * np.maximum(0.0, np.sin(phase + offset))
        hip = -bend / 2.0 + swing * np.cos(phase + offset) - raised / 2.0
        knee = bend + raised
        q[..., index[f"{side}_hip_pitch_joint"]] = hip
        q[..., index[f"{side}_knee_joint"]] = knee
        q[..., index[f"{side}_ankle_pitch_joint"]] = -hip - knee - pitch
        q[..., index[f"{side}_ankle_roll_joint"]] = -roll
        q[..., index[f"{side}_shoulder_pitch_joint"]] += 0.5 * np.cos(phase + offset + np.pi)
        q[..., index[f"{side}_elbow_joint"]] += 0.3
    headings = rng.uniform(-np.pi, np.pi, count) if heading is None else np.full(count, heading)
    turned = Rotation.from_euler("z", np.repeat(headings, samples)[:, None])
    turned = turned * Rotation.from_euler("yx", np.stack([pitch.ravel(), roll.ravel()], axis=1))
    joints = q.reshape(total, -1)
    still = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (total, 1))
    feet = [robot.model.getFrameId(robot.frames[f"{side}_foot"]) for side in ("left", "right")]
    poses = np.array(frame_poses(robot.model, feet, np.hstack([still, joints])))
    places = np.einsum("tij,ftj->fti", turned.as_matrix(), poses[..., :3, 3]).reshape(2, count, samples, 3)
    low = places[..., 2].argmin(axis=0)
    walks, steps = np.arange(count)[:, None], np.arange(samples)[None]
    position = np.zeros((count, samples, 3))
    position[..., 2] = -places[low, walks, steps, 2]
    moved = places[low[:, :-1], walks, steps[:, :-1]] - places[low[:, :-1], walks, steps[:, 1:]]
    position[:, 1:, :2] = np.cumsum(moved[..., :2], axis=1)
    return Walks(time, q, position, turned.as_quat().reshape(count, samples, 4))


def link_poses(robot, trajectory):
    """Names, positions (T, B, 3) and rotations (T, B, 3, 3) of all links, by Pinocchio sample by sample."""
    model, data = robot.model, robot.model.createData()
    frames = [k for k, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY]
    frames = [k for k in frames if model.frames[k].name != "universe"]
    places, turns = [], []
    for base, joints in zip(trajectory.base, trajectory.q, strict=True):
        pin.framesForwardKinematics(model, data, np.concatenate([base, joints]))
        places.append([data.oMf[k].translation.copy() for k in frames])
        turns.append([data.oMf[k].rotation.copy() for k in frames])
    return [model.frames[k].name for k in frames], np.array(places), np.array(turns)
