"""Geometry of a recorded skeleton in its rest pose and in a sample of its frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.recordings import SkeletonRecording

# So many frames, spread evenly, show how a skeleton moves.
SAMPLED_FRAMES = 120
# Joints that are closer than this part of the skeleton's size are at the same place.
COINCIDING = 0.004


@dataclass(frozen=True)
class SkeletonGeometry:
    """A skeleton in the poses of some frames, with its rest pose."""

    names: tuple[str, ...]  # Names of the J joints and end sites, parents before children.
    parents: NDArray[np.int64]  # (J,) int: index of each joint's parent, -1 for the root.
    offsets: Array  # (J, 3): median position of each joint in its parent's axes, in the file's unit.
    positions: Array  # (F, J, 3): positions in F frames in the file's axes, in the file's unit.
    rotations: Array  # (F, J, 3, 3): rotations from the joints' axes to the file's in the same frames.
    # (F,) int: indices of these frames in the recording; -1 for a pose that was cut off before its start.
    frames: NDArray[np.int64]

    @cached_property
    def children(self) -> list[list[int]]:
        """Indices of the children of each joint."""
        children: list[list[int]] = [[] for _ in self.names]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(joint)
        return children

    @cached_property
    def ancestors(self) -> list[list[int]]:
        """Indices of the ancestors of each joint, the parent first."""
        ancestors: list[list[int]] = []
        for parent in self.parents:
            ancestors.append([int(parent), *ancestors[parent]] if parent >= 0 else [])
        return ancestors

    @cached_property
    def rest(self) -> Array:
        """Positions (J, 3) in the rest pose, in which all rotations are the identity, in the file's unit."""
        rest = np.array(self.offsets)
        rest[self.parents < 0] = 0.0
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                rest[joint] += rest[parent]
        return rest

    @cached_property
    def top(self) -> int:
        """Index of the first joint with two children: what is above it only places the body in the world."""
        joint = 0
        while len(self.children[joint]) == 1:
            joint = self.children[joint][0]
        return joint

    @cached_property
    def size(self) -> float:
        """Length of the longest chain of bones from the top of the tree, in the file's unit."""
        reach = np.zeros(len(self.names))
        for joint in range(self.top + 1, len(self.names)):
            if self.top in self.ancestors[joint]:
                reach[joint] = reach[self.parents[joint]] + np.linalg.norm(self.offsets[joint])
        return float(reach.max())

    def is_end(self) -> list[bool]:
        """Tell for each joint whether it is an end site: a leaf whose name ends like a reader's for those.

        Returns one value for each joint.
        """
        return [
            not self.children[k] and name.startswith(f"{self.names[self.parents[k]]}_end")
            for k, name in enumerate(self.names)
        ]

    def common_ancestor(self, joints: Sequence[int]) -> int:
        """Find the joint from which all given joints descend.

        `joints`: indices of joints of one tree. Returns index of the nearest common ancestor, which may be
        one of the joints.
        """
        lines = [[joint, *self.ancestors[joint]] for joint in joints]
        return next(joint for joint in lines[0] if all(joint in line for line in lines[1:]))

    def subtree(self, joint: int) -> list[int]:
        """List a joint and all that descend from it.

        `joint`: index of the joint. Returns indices, parents first.
        """
        return [k for k in range(joint, len(self.names)) if k == joint or joint in self.ancestors[k]]


def sample_geometry(recording: SkeletonRecording) -> SkeletonGeometry:
    """Take a sample of a recording's frames.

    Returns the skeleton in at most `SAMPLED_FRAMES` frames, the first among them.
    """
    count = len(recording.time)
    frames = np.unique(np.linspace(0, count - 1, min(count, SAMPLED_FRAMES)).astype(np.int64))
    positions, rotations = recording.positions[frames], recording.rotations[frames]
    # Where a file animates the places of joints, the offsets of its rest pose may be anything.
    above = np.maximum(recording.parents, 0)
    local = np.einsum("fjki,fjk->fji", rotations[:, above], positions - positions[:, above])
    offsets = np.median(local, axis=0)
    offsets[recording.parents < 0] = 0.0
    return SkeletonGeometry(recording.names, recording.parents, offsets, positions, rotations, frames)


def unit_vectors(vectors: Array) -> Array:
    """Scale vectors to length one; vectors of no length stay zero. `vectors` (..., 3). Returns (..., 3)."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def angles_between(first: Array, second: Array) -> Array:
    """Compute the angles between vectors.

    `first`, `second` (..., 3): vectors; one of no length is at a right angle to all. Returns (...,): angles,
    degrees.
    """
    cosine = (unit_vectors(first) * unit_vectors(second)).sum(axis=-1)
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
