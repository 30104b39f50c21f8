"""Arrays of motions as programs that learn motion write them: features, columns, skeleton states."""

import io
import pickle
import zipfile

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

# Isaac Gym's humanoid: body, its parent, and its place in the parent's axes, m, x forward, z up.
BODIES = {
    "pelvis": (None, (0.0, 0.0, 0.0)), "torso": ("pelvis", (0.0, 0.0, 0.24)),
    "head": ("torso", (0.0, 0.0, 0.22)),
    **{f"{side}_{body}": (parent if parent in ("torso", "pelvis") else f"{side}_{parent}", (x, sign * y, z))
       for side, sign in (("right", -1.0), ("left", 1.0)) for body, parent, x, y, z in (
        ("upper_arm", "torso", -0.02, 0.18, 0.24), ("lower_arm", "upper_arm", 0.0, 0.0, -0.275),
        ("hand", "lower_arm", 0.0, 0.0, -0.26), ("thigh", "pelvis", 0.0, 0.085, 0.0),
        ("shin", "thigh", 0.0, 0.0, -0.42), ("foot", "shin", 0.0, 0.0, -0.41))},
}  # fmt: skip


def turns(frames, count, seed=0, size=0.3):
    """Smooth rotations (T, n) that do not come back, as one `Rotation`."""
    vectors = gaussian_filter1d(np.random.default_rng(seed).normal(size=(frames, count, 3)), 6, axis=0)
    return Rotation.from_rotvec((vectors * size / vectors.std()).reshape(-1, 3))


def six_numbers(frames, count, pairs=False):
    """Rotations as six numbers (T, 6 n): two rows of their matrices, or two columns in pairs."""
    matrices = turns(frames, count, seed=1).as_matrix().reshape(frames, count, 3, 3)
    return (matrices[..., :2] if pairs else matrices[..., :2, :]).reshape(frames, -1)


def velocities(positions, rate=1.0):
    """Differences of the positions (T, n) from each frame to the next, the last one zero."""
    return rate * np.diff(positions, axis=0, append=positions[-1:])


def omomo(joints):
    """OMOMO's 276 columns of 24 joints (T, 24, 3): positions, velocities, rotations of 22 of them."""
    flat = joints.reshape(len(joints), -1)
    return np.hstack([flat, velocities(flat), six_numbers(len(joints), 22)])


def dart(joints):
    """DART's 276 columns of 22 joints (T, 22, 3): rotations first, then positions, and the root's last."""
    frames, flat = len(joints), joints.reshape(len(joints), -1)
    root = flat[:, :3] + 0.1
    return np.hstack(
        [six_numbers(frames, 21), flat, velocities(flat), six_numbers(frames, 2), root, velocities(root)]
    )


def humanml3d(joints):
    """HumanML3D's 263 features of joints (T, 22, 3) with y up, as its paper computes them."""
    frames = len(joints)
    left = joints[:, [1, 16]].sum(axis=1) - joints[:, [2, 17]].sum(axis=1)
    heading = np.unwrap(np.arctan2(-left[:, 2], left[:, 0]))
    local = Rotation.from_euler("y", -heading[:, None]).as_matrix()
    relative = joints - joints[:, :1] * [1.0, 0.0, 1.0]
    others = np.einsum("tij,tkj->tki", local, relative)[:, 1:]
    # In half angles of quaternions; a step is seen from the frame after it.
    turning = np.append(-np.diff(heading) / 2.0, 0.0)
    steps = np.diff(joints[:, 0], axis=0, append=joints[-1:, 0])
    step = np.einsum("tij,tj->ti", np.concatenate([local[1:], local[-1:]]), steps)
    features = [turning[:, None], step[:, [0, 2]], joints[:, 0, 1:2], others.reshape(frames, -1)]
    features += [six_numbers(frames, 21), np.zeros((frames, 66)), np.ones((frames, 4))]
    return np.hstack(features)


def poselib(frames=30, *, is_local=True, fps=30.0):
    """A skeleton motion of poselib, and the positions of its joints (T, J, 3), m."""
    names = list(BODIES)
    parents = [-1 if parent is None else names.index(parent) for parent, _ in BODIES.values()]
    offsets = np.array([place for _, place in BODIES.values()], dtype=np.float32)
    local = turns(frames, len(names), seed=2).as_quat().reshape(frames, len(names), 4)
    root = np.column_stack([0.02 * np.arange(frames), np.zeros(frames), np.full(frames, 0.9)])
    positions, world = [root], [Rotation.from_quat(local[:, 0])]
    for joint in range(1, len(names)):
        above = parents[joint]
        positions.append(positions[above] + world[above].apply(offsets[joint]))
        world.append(world[above] * Rotation.from_quat(local[:, joint]))
    rotation = local if is_local else np.stack([each.as_quat() for each in world], axis=1)

    def tensor(values):
        return {"arr": values, "context": {"dtype": str(values.dtype)}}

    content = {
        "rotation": tensor(rotation),
        "root_translation": tensor(root),
        "skeleton_tree": {
            "node_names": names,
            "parent_indices": tensor(np.array(parents)),
            "local_translation": tensor(offsets),
        },
        "is_local": is_local,
        "__name__": "SkeletonState" if fps is None else "SkeletonMotion",
    }
    return content | ({} if fps is None else {"fps": fps}), np.stack(positions, axis=1)


def save_object(content):
    """Bytes of a `.npy` file that holds one object."""
    stream = io.BytesIO()
    np.save(stream, np.array(content, dtype=object), allow_pickle=True)
    return stream.getvalue()


class _Tensor:
    """What is written as a tensor."""

    def __init__(self, key, values):
        self.key, self.values = key, values


class _TensorPickler(pickle._Pickler):
    """Writes arrays as `torch.save` does, by the names of PyTorch, which is not there."""

    def save(self, obj, save_persistent_id=True):
        if not isinstance(obj, _Tensor):
            return super().save(obj, save_persistent_id)
        values = obj.values
        kind = {"f4": "Float", "f8": "Double", "i8": "Long"}[values.dtype.str[1:]]
        self.write(b"ctorch._utils\n_rebuild_tensor_v2\n(")
        self.write(b"(" + b"X\x07\x00\x00\x00storage" + f"ctorch\n{kind}Storage\n".encode())
        for part in (obj.key, "cpu", values.size):
            super().save(part)
        self.write(b"tQ")
        for part in (0, values.shape, tuple(stride // values.itemsize for stride in values.strides)):
            super().save(part)
        self.write(b"\x89NtR")


def torch_archive(content):
    """Bytes of an archive as `torch.save` writes it, of dicts of arrays."""
    stored = {}

    def mark(value):
        if isinstance(value, dict):
            return {key: mark(each) for key, each in value.items()}
        if not isinstance(value, np.ndarray):
            return value
        stored[str(len(stored))] = np.ascontiguousarray(value)
        return _Tensor(str(len(stored) - 1), np.ascontiguousarray(value))

    pickled, stream = io.BytesIO(), io.BytesIO()
    _TensorPickler(pickled, 2).dump(mark(content))
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("motion/data.pkl", pickled.getvalue())
        archive.writestr("motion/byteorder", b"little")
        for key, values in stored.items():
            archive.writestr(f"motion/data/{key}", values.tobytes())
    return stream.getvalue()
