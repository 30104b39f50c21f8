"""The limbs of a skeleton: triples of joints, two rigid bones each, by names and by geometry."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.skeletons.geometry import SkeletonGeometry
from simbench.motion.skeletons.names import NameVote

ARM, LEG = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
# A limb's bone is at least this part of the skeleton's size.
SHORTEST_BONE = 0.05
# Distance of the ends of a bone: how much it may vary, relative; position channels of animators vary more
# than those of solved skeletons.
RIGID = 0.03
# Distal to proximal bone: within the first range human, outside of the second none.
HUMAN_RATIO, POSSIBLE_RATIO = (0.6, 1.3), (0.4, 1.7)
# The distal bone may have joints within, for twist; the last part of it has at least these parts of its
# length: below the first it is another bone, above the second it is not.
LAST_BONE = (0.2, 0.3)
# Bones of the left and right limb differ by less than this in a body whose sides nobody has named.
SYMMETRY = 0.12
# So close are the lengths of the two sides in a body of which one side is named.
COUNTERPART = 0.05
# So many of the largest candidates are compared with each other.
MAX_CANDIDATES = 400
# A name that says another joint counts against it.
CONTRADICTION = -0.7
# Weight of geometry against the three names of a limb; and of its size, which only decides between equals.
GEOMETRY_WEIGHT, SIZE_WEIGHT = 1.5, 0.4


class Triples(NamedTuple):
    """All triples of joints of which each is an ancestor of the next: N candidates for a limb."""

    joints: NDArray[np.int64]  # (N, 3) int: indices of the proximal, middle and distal joint.
    # (N, 2): distance from the first to the second, and from the second to the third, in the file's unit.
    lengths: Array
    geometry: Array  # (N,): how much it is like a limb, 0 to 1.


class Limb(NamedTuple):
    """A limb that was found."""

    joints: tuple[int, int, int]  # Indices of its three joints.
    lengths: tuple[float, float]  # Lengths of its two bones, in the file's unit.
    geometry: float  # How much it is like a limb, 0 to 1.
    names: float  # Sum of the votes of its three names, at most 3.


def find_triples(skeleton: SkeletonGeometry) -> Triples:
    """List the triples of joints that could be a limb by their lengths. Returns all candidates."""
    pairs = [
        (above, joint)
        for joint in range(len(skeleton.names))
        for above in skeleton.ancestors[joint]
        if above >= skeleton.top
    ]
    if not pairs:
        return Triples(np.empty((0, 3), dtype=np.int64), np.empty((0, 2)), np.empty(0))
    first, second = np.array(pairs).T
    distance = np.linalg.norm(skeleton.positions[:, second] - skeleton.positions[:, first], axis=2)
    length = np.median(distance, axis=0)
    varied = (distance.max(axis=0) - distance.min(axis=0)) / np.maximum(length, 1e-12)
    chain = _chain_lengths(skeleton)
    straight = length / np.maximum(chain[second] - chain[first], 1e-12)
    bones = {
        (int(a), int(b)): k
        for k, (a, b) in enumerate(zip(first, second, strict=True))
        if length[k] > SHORTEST_BONE * skeleton.size
    }
    proximal: dict[int, list[tuple[int, int]]] = {}
    for (a, b), k in bones.items():
        proximal.setdefault(b, []).append((a, k))
    found = [((a, b, c), (k, m)) for (b, c), m in bones.items() for a, k in proximal.get(b, [])]
    if not found:
        return Triples(np.empty((0, 3), dtype=np.int64), np.empty((0, 2)), np.empty(0))
    joints = np.array([triple for triple, _ in found])
    which = np.array([bone for _, bone in found])
    lengths = length[which]
    rigid = np.clip(2.0 - varied[which] / RIGID, 0.0, 1.0).prod(axis=1)
    line = np.clip((straight[which] - 0.8) / 0.15, 0.0, 1.0).prod(axis=1)
    ratio = lengths[:, 1] / lengths[:, 0]
    (low, high), (least, most) = HUMAN_RATIO, POSSIBLE_RATIO
    human = np.clip(np.minimum((ratio - least) / (low - least), (most - ratio) / (most - high)), 0.0, 1.0)
    # A hand that never moves is rigid with its forearm, but its first bone is short.
    last = np.linalg.norm(skeleton.offsets[joints[:, 2]], axis=1) / lengths[:, 1]
    whole = np.clip((last - LAST_BONE[0]) / (LAST_BONE[1] - LAST_BONE[0]), 0.5, 1.0)
    return Triples(joints, lengths, rigid * line * human * whole)


def find_named_limb(
    triples: Triples, votes: Sequence[NameVote], parts: tuple[str, str, str], side: str
) -> Limb | None:
    """Find the limb whose names and geometry fit best.

    `triples`: candidates; `votes`: what the names of all joints say; `parts`: `ARM` or `LEG`; `side`: `left`
    or `right`. Returns the limb; None if no candidate has two of the three names.
    """
    if not len(triples.joints):
        return None
    table = np.array([[_vote(vote, part, side) for part in parts] for vote in votes])
    named = table[triples.joints, [0, 1, 2]]
    sums = named.sum(axis=1)
    size = triples.lengths.sum(axis=1)
    scores = sums + GEOMETRY_WEIGHT * triples.geometry + SIZE_WEIGHT * size / size.max()
    scores[(named > 0.0).sum(axis=1) < 2] = -np.inf
    best = int(scores.argmax())
    return None if not np.isfinite(scores[best]) else _limb(triples, best, float(sums[best]))


def find_counterpart(skeleton: SkeletonGeometry, triples: Triples, limb: Limb) -> Limb | None:
    """Find the limb on the other side by its lengths and its depth in the tree.

    `triples`: candidates. Returns the one of the other side; None if none is alike.
    """
    off = np.abs(triples.lengths / np.array(limb.lengths) - 1.0).max(axis=1)
    alike = [
        int(k)
        for k in np.flatnonzero((off < COUNTERPART) & (triples.geometry > 0.5))
        if triples.joints[k, 0] not in {*limb.joints, *skeleton.ancestors[limb.joints[2]]}
        and limb.joints[0] not in skeleton.ancestors[triples.joints[k, 2]]
        and len(skeleton.ancestors[triples.joints[k, 0]]) == len(skeleton.ancestors[limb.joints[0]])
    ]
    return _limb(triples, min(alike, key=lambda k: off[k]), 0.0) if alike else None


def find_symmetric_pairs(
    skeleton: SkeletonGeometry, triples: Triples, taken: Sequence[int] = ()
) -> list[tuple[Limb, Limb]]:
    """Find pairs of equally long limbs, largest first, by geometry only.

    `triples`: candidates; `taken`: joints that belong to other limbs already; what descends from them is
    taken as well. Returns at most two pairs that share no joint.
    """
    pairs: list[tuple[Limb, Limb]] = []
    blocked = set(taken)
    while len(pairs) < 2:
        free = [
            k
            for k in map(int, np.flatnonzero(triples.geometry > 0.5))
            if not blocked.intersection(triples.joints[k])
            and not blocked.intersection(skeleton.ancestors[triples.joints[k, 0]])
        ]
        free.sort(key=lambda k: -triples.lengths[k].prod() * triples.geometry[k] ** 2)
        free = free[:MAX_CANDIDATES]
        pair = next(
            (
                (i, j)
                for at, i in enumerate(free)
                for j in free[:at]
                if _is_symmetric(skeleton, triples, i, j)
            ),
            None,
        )
        if pair is None:
            break
        pairs.append((_limb(triples, pair[0], 0.0), _limb(triples, pair[1], 0.0)))
        blocked.update(int(joint) for k in pair for joint in triples.joints[k])
    return pairs


def _is_symmetric(skeleton: SkeletonGeometry, triples: Triples, i: int, j: int) -> bool:
    """Tell whether two candidates are the two sides of a pair of limbs."""
    one, other = triples.joints[i], triples.joints[j]
    if one[0] == other[0] or one[0] in skeleton.ancestors[other[2]] or other[0] in skeleton.ancestors[one[2]]:
        return False
    if len(skeleton.ancestors[one[0]]) != len(skeleton.ancestors[other[0]]):
        return False
    return bool(
        (
            np.abs(triples.lengths[i] - triples.lengths[j])
            < SYMMETRY * np.maximum(triples.lengths[i], triples.lengths[j])
        ).all()
    )


def _limb(triples: Triples, k: int, names: float) -> Limb:
    """Take one candidate as a limb."""
    a, b, c = (int(joint) for joint in triples.joints[k])
    one, two = (float(length) for length in triples.lengths[k])
    return Limb((a, b, c), (one, two), float(triples.geometry[k]), names)


def _vote(vote: NameVote, part: str, side: str) -> float:
    """Weight of a name for one joint of a person on one side."""
    if vote.side == side and part in vote.roles:
        return vote.roles[part]
    return CONTRADICTION if vote.roles or vote.helper else 0.0


def _chain_lengths(skeleton: SkeletonGeometry) -> Array:
    """Length (J,) of the chain of bones from the root to each joint, in the file's unit."""
    chain = np.linalg.norm(skeleton.offsets, axis=1)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            chain[joint] += chain[parent]
    return chain
