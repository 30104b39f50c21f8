"""Archives and body models in the layouts of SMPL, SMPL-H and SMPL-X, made from random numbers."""

import pickle
import struct
from typing import ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

# Parents of the joints, as the models' `kintree_table` has them.
BODY = [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19]


def _hands(first):
    return [
        parent
        for wrist, start in ((20, first), (21, first + 15))
        for finger in range(start, start + 15, 3)
        for parent in (wrist, finger, finger + 1)
    ]


PARENTS = {"SMPL": [*BODY, 20, 21], "SMPL-H": BODY + _hands(22), "SMPL-X": [*BODY, 15, 15, 15, *_hands(25)]}
VERTICES = {"SMPL": 6890, "SMPL-H": 6890, "SMPL-X": 10475}
# Joints of the body in a T-pose, m: x left, y up, z forward; hands and face follow from their parents.
PLACES = np.array(
    [
        *([0.0, -0.2, 0.0], [0.07, -0.29, 0.0], [-0.07, -0.29, 0.0], [0.0, -0.1, -0.02]),
        *([0.1, -0.68, 0.0], [-0.1, -0.68, 0.0], [0.0, 0.03, 0.0], [0.09, -1.08, -0.04]),
        *([-0.09, -1.08, -0.04], [0.0, 0.09, 0.02], [0.11, -1.14, 0.08], [-0.11, -1.14, 0.08]),
        *([0.0, 0.3, -0.02], [0.07, 0.2, 0.0], [-0.07, 0.2, 0.0], [0.0, 0.38, 0.03]),
        *([0.18, 0.23, -0.02], [-0.18, 0.23, -0.02], [0.44, 0.22, -0.04], [-0.44, 0.22, -0.04]),
        *([0.69, 0.23, -0.04], [-0.69, 0.23, -0.04]),
    ]
)


def body_model(layout, rng, dimensions=10):
    """Arrays of a body model: vertices about each joint, and a regressor of random weights."""
    parents, count = PARENTS[layout], VERTICES[layout]
    places = list(PLACES)
    for joint in range(len(BODY), len(parents)):
        places.append(
            places[parents[joint]] + [0.03 * np.sign(places[parents[joint]][0]), 0.0, 0.01 * (joint % 5)]
        )
    owner = np.arange(count) % len(parents)
    template = np.array(places)[owner] + rng.uniform(-0.05, 0.05, (count, 3))
    weights = np.zeros((len(parents), count))
    for joint in range(len(parents)):
        chosen = rng.choice(np.flatnonzero(owner == joint)[:10], 4, replace=False)
        weights[joint, chosen] = rng.dirichlet(np.ones(4))
    table = np.array([parents, range(len(parents))]).astype(np.uint32)
    return {
        "J_regressor": weights,
        "v_template": template,
        "shapedirs": rng.normal(0.0, 0.003, (count, 3, dimensions)),
        "kintree_table": table,
        "weights": np.zeros((count, len(parents)), dtype=np.float32),
    }


def random_poses(layout, frames, rng):
    """Axis-angle poses (T, J, 3) of a person who stands, moves the limbs a little and turns."""
    poses = 0.3 * rng.normal(size=(1, len(PARENTS[layout]), 3)) + np.cumsum(
        0.01 * rng.normal(size=(frames, len(PARENTS[layout]), 3)), axis=0
    )
    poses[:, 3::3] *= 0.3
    poses[:, 0] = [0.0, 0.2, 0.0] + 0.1 * poses[:, 0]
    return poses


def rotation_matrix(vector):
    """Rodrigues' formula for one axis-angle vector."""
    angle = np.linalg.norm(vector)
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def forward_kinematics(poses, translation, places, parents):
    """Positions (T, J, 3) of the joints, as the models define them: a product of 4x4 transforms a joint."""
    result = np.zeros((len(poses), len(parents), 3))
    for frame, pose in enumerate(poses):
        transforms = []
        for joint, parent in enumerate(parents):
            local = np.eye(4)
            local[:3, :3] = rotation_matrix(pose[joint])
            local[:3, 3] = places[joint] - (places[parent] if parent >= 0 else 0.0)
            transforms.append(local if parent < 0 else transforms[parent] @ local)
            result[frame, joint] = transforms[-1][:3, 3] + translation[frame]
    return result


def amass_archive(layout, frames=30, rate_key="mocap_framerate", seed=0):
    """Arrays of an archive as AMASS has them, z up."""
    rng = np.random.default_rng(seed)
    poses = random_poses(layout, frames, rng)
    stand = Rotation.from_euler("x", 90, degrees=True)
    poses[:, 0] = (stand * Rotation.from_rotvec(poses[:, 0])).as_rotvec()
    return {
        "poses": poses.reshape(frames, -1),
        "trans": np.cumsum(rng.normal(0.0, 0.01, (frames, 3)), axis=0) + np.array([1.0, 2.0, 0.9]),
        "betas": rng.normal(size=16),
        "gender": np.array("female"),
        rate_key: np.array(120.0),
    }


class Python2Pickler(pickle._Pickler):
    """Writes texts and bytes as Python 2 wrote its strings, for pickles of that time."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def _save_string(self, text):
        data = text if isinstance(text, bytes) else text.encode("latin1")
        self.write(pickle.BINSTRING + struct.pack("<i", len(data)) + data)
        self.memoize(text)

    dispatch[bytes] = dispatch[str] = _save_string

    def save_global(self, obj, name=None):
        module = {"numpy._core.multiarray": "numpy.core.multiarray"}.get(obj.__module__, obj.__module__)
        self.write(pickle.GLOBAL + f"{module}\n{name or obj.__qualname__}\n".encode())
        self.memoize(obj)

    for kind in (type, type(lambda: 0), type(len)):
        dispatch[kind] = save_global
