"""Which joint of a skeleton is which joint of a person: names, tree and geometry of the limbs vote."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.marker_maps.skeleton_tree import COINCIDING, NameVote, SkeletonGeometry, angles_between
from simbench.robot.sides import SIDES

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


class Limbs(NamedTuple):
    """Limbs of joints of which each is an ancestor of the next: N candidates for a limb, or one of them."""

    joints: NDArray[np.int64]  # (N, 3) or (3,): indices of the proximal, middle and distal joint.
    # (N, 2) or (2,): distance from the first to the second, and from the second to the third, in the file's
    # unit.
    lengths: Array
    geometry: Array  # (N,) or (): how much it is like a limb, 0 to 1.

    def take(self, k: int) -> "Limbs":
        """Take one candidate."""
        return Limbs(self.joints[k], self.lengths[k], self.geometry[k])


def find_triples(skeleton: SkeletonGeometry) -> Limbs:
    """List the triples of joints that could be a limb by their lengths. Returns all candidates."""
    none = Limbs(np.empty((0, 3), dtype=np.int64), np.empty((0, 2)), np.empty(0))
    joints = range(len(skeleton.names))
    pairs = [(a, b) for b in joints for a in skeleton.ancestors[b] if a >= skeleton.top]
    if not pairs:
        return none
    first, second = np.array(pairs).T
    distance = np.linalg.norm(skeleton.positions[:, second] - skeleton.positions[:, first], axis=2)
    length = np.median(distance, axis=0)
    varied = (distance.max(axis=0) - distance.min(axis=0)) / np.maximum(length, 1e-12)
    chain = np.linalg.norm(skeleton.offsets, axis=1)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            chain[joint] += chain[parent]
    straight = length / np.maximum(chain[second] - chain[first], 1e-12)
    bones = {pair: k for k, pair in enumerate(pairs) if length[k] > SHORTEST_BONE * skeleton.size}
    proximal: dict[int, list[tuple[int, int]]] = {}
    for (a, b), k in bones.items():
        proximal.setdefault(b, []).append((a, k))
    found = [((a, b, c), (k, m)) for (b, c), m in bones.items() for a, k in proximal.get(b, [])]
    if not found:
        return none
    triples, which = (np.array(each) for each in zip(*found, strict=True))
    lengths = length[which]
    rigid = np.clip(2.0 - varied[which] / RIGID, 0.0, 1.0).prod(axis=1)
    line = np.clip((straight[which] - 0.8) / 0.15, 0.0, 1.0).prod(axis=1)
    ratio = lengths[:, 1] / lengths[:, 0]
    (low, high), (least, most) = HUMAN_RATIO, POSSIBLE_RATIO
    human = np.clip(np.minimum((ratio - least) / (low - least), (most - ratio) / (most - high)), 0.0, 1.0)
    # A hand that never moves is rigid with its forearm, but its first bone is short.
    last = np.linalg.norm(skeleton.offsets[triples[:, 2]], axis=1) / lengths[:, 1]
    whole = np.clip((last - LAST_BONE[0]) / (LAST_BONE[1] - LAST_BONE[0]), 0.5, 1.0)
    return Limbs(triples, lengths, rigid * line * human * whole)


def find_named_limb(
    triples: Limbs, votes: Sequence[NameVote], parts: tuple[str, str, str], side: str
) -> Limbs | None:
    """Find the limb whose names and geometry fit best.

    `triples`: candidates; `votes`: what the names of all joints say; `parts`: `ARM` or `LEG`; `side`: `left`
    or `right`. Returns the limb; None if no candidate has two of the three names.
    """
    if not len(triples.joints):
        return None

    def weight(vote: NameVote, part: str) -> float:
        if vote.side == side and part in vote.roles:
            return vote.roles[part]
        return CONTRADICTION if vote.roles or vote.helper else 0.0

    table = np.array([[weight(vote, part) for part in parts] for vote in votes])
    named = table[triples.joints, [0, 1, 2]]
    sums = named.sum(axis=1)
    size = triples.lengths.sum(axis=1)
    scores = sums + GEOMETRY_WEIGHT * triples.geometry + SIZE_WEIGHT * size / size.max()
    scores[(named > 0.0).sum(axis=1) < 2] = -np.inf
    best = int(scores.argmax())
    return None if not np.isfinite(scores[best]) else triples.take(best)


def find_counterpart(skeleton: SkeletonGeometry, triples: Limbs, limb: Limbs) -> Limbs | None:
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
    return triples.take(min(alike, key=lambda k: off[k])) if alike else None


def find_symmetric_pairs(
    skeleton: SkeletonGeometry, triples: Limbs, taken: Sequence[int] = ()
) -> list[tuple[Limbs, Limbs]]:
    """Find pairs of equally long limbs, largest first, by geometry only.

    `triples`: candidates; `taken`: joints that belong to other limbs already; what descends from them is
    taken as well. Returns at most two pairs that share no joint.
    """
    pairs: list[tuple[Limbs, Limbs]] = []
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
        pairs.append((triples.take(pair[0]), triples.take(pair[1])))
        blocked.update(int(joint) for k in pair for joint in triples.joints[k])
    return pairs


def _is_symmetric(skeleton: SkeletonGeometry, triples: Limbs, i: int, j: int) -> bool:
    """Tell whether two candidates are the two sides of a pair of limbs."""
    one, other, ancestors = triples.joints[i], triples.joints[j], skeleton.ancestors
    if one[0] == other[0] or one[0] in ancestors[other[2]] or other[0] in ancestors[one[2]]:
        return False
    lengths = triples.lengths[[i, j]]
    close = np.abs(lengths[0] - lengths[1]) < SYMMETRY * lengths.max(axis=0)
    return len(ancestors[one[0]]) == len(ancestors[other[0]]) and bool(close.all())


# Length of an arm to the wrist over that of a leg to the ankle: people, and what is taken as a person at all.
HUMAN_ARM_TO_LEG, POSSIBLE_ARM_TO_LEG = (0.5, 0.9), (0.3, 1.3)
# Below this a limb's geometry contradicts its names.
POOR_GEOMETRY = 0.25
# Angle between the trunk's direction up and the legs' direction, degrees: of four-legged animals it is mostly
# below the first; a person's exceeds the second in the rest pose or in this part of the frames.
FOUR_LEGGED, UPRIGHT, UPRIGHT_FRAMES = 125.0, 135.0, 0.25
# Angle between arms and legs, degrees, below which the arms are front legs.
PARALLEL_LIMBS = 45.0


def _limb_lengths(limbs: Mapping[tuple[str, str], Limbs]) -> tuple[list[float], list[float]]:
    """Lengths of the arms and of the legs, in the file's unit."""
    arms, legs = (
        [float(sum(limb.lengths)) for (_, k), limb in limbs.items() if k == kind] for kind in ("arm", "leg")
    )
    return arms, legs


class Roles:
    """The joints of a person in a skeleton, and how sure they are."""

    def __init__(self, skeleton: SkeletonGeometry, votes: list[NameVote], source: str) -> None:
        """Find the joints.

        `votes`: what the names of all joints say; `source`: name of the recording, for messages.
        """
        self.skeleton, self.votes, self.source = skeleton, votes, source
        # Index of the skeleton's joint for each joint of a person that was found, such as `left_elbow`.
        self.joints: dict[str, int] = {}
        # Limbs by side and kind (`arm`, `leg`).
        self.limbs: dict[tuple[str, str], Limbs] = {}
        # Joints of a person that the names say; and those that only the tree and the geometry say, or that
        # names contradict.
        self.named: set[str] = set()
        self.unsure: list[str] = []
        # What may well be wrong.
        self.doubts: list[str] = []
        # Whether the names say which side is left.
        self.sided = True
        triples = find_triples(skeleton)
        named = {
            (side, kind): limb
            for kind, parts in (("arm", ARM), ("leg", LEG))
            for side in SIDES
            if (limb := find_named_limb(triples, votes, parts, side)) is not None
        }
        joints = [joint for limb in named.values() for joint in limb.joints]
        arms, legs = _limb_lengths(named)
        # Arms as long as legs, or one joint in two limbs, cannot be what their names say.
        contradicted = len(set(joints)) < len(joints) or (
            bool(arms and legs)
            and not POSSIBLE_ARM_TO_LEG[0] <= float(np.mean(arms) / np.mean(legs)) <= POSSIBLE_ARM_TO_LEG[1]
        )
        if contradicted or not arms:
            self._take_pairs(find_symmetric_pairs(skeleton, triples), named)
        else:
            self._take_named(triples, named)
        if not any(kind == "arm" for _, kind in self.limbs):
            raise MotionError(f"{source}: no human skeleton: no arm of two rigid bones of human proportions")
        self._require_one_tree(list(self.limbs.values()))
        for (side, kind), limb in self.limbs.items():
            for part, joint in zip(ARM if kind == "arm" else LEG, limb.joints, strict=True):
                self._set(f"{side}_{part}", joint, part, side)
        hips, ankles = self.both("hip"), self.both("ankle")
        shoulders, wrists = self.both("shoulder"), self.both("wrist")
        if len(hips) == len(shoulders) == 2:
            # Of a four-legged animal the trunk is across the legs, and the arms are parallel to them.
            poses = np.concatenate([skeleton.rest[None], skeleton.positions])
            above, below = poses[:, shoulders].mean(axis=1), poses[:, hips].mean(axis=1)
            leg, arm = poses[:, ankles].mean(axis=1) - below, poses[:, wrists].mean(axis=1) - above
            leaning, limbs = angles_between(above - below, leg), angles_between(arm, leg)
            if (
                np.median(leaning[1:]) < FOUR_LEGGED
                and leaning[0] < UPRIGHT
                and (leaning[1:] > UPRIGHT).mean() < UPRIGHT_FRAMES
                and np.median(limbs[1:]) < PARALLEL_LIMBS
            ):
                raise MotionError(
                    f"{source}: no human skeleton: the trunk is across the legs "
                    f"({np.median(leaning[1:]):.0f}°, people about 180°) and the arms point where the legs "
                    "do, as in a four-legged animal"
                )
        self._add_trunk()
        self._add_feet()
        self._add_doubts()

    def has(self, *names: str) -> bool:
        """Tell whether joints of a person were found."""
        return all(name in self.joints for name in names)

    def both(self, joint: str) -> list[int]:
        """Find the joints of both sides.

        `joint`: name of the joint without its side. Returns indices of the left and right one, as far as they
        were found.
        """
        return [self.joints[f"{side}_{joint}"] for side in SIDES if f"{side}_{joint}" in self.joints]

    def _require_one_tree(self, limbs: Sequence[Limbs]) -> None:
        """Refuse limbs on different roots: how they lie to each other in the rest pose is unknown."""
        skeleton = self.skeleton
        tops = [[limb.joints[0], *skeleton.ancestors[limb.joints[0]]][-1] for limb in limbs]
        roots = [skeleton.names[joint] for joint in dict.fromkeys(tops)]
        if len(roots) > 1:
            raise MotionError(
                f"{self.source}: the limbs hang on {len(roots)} roots ({', '.join(roots)[:80]}), which no "
                "joint connects; allowed: a skeleton of one root, or a marker map of its joints (--map)"
            )

    def _take_pairs(
        self, pairs: Sequence[tuple[Limbs, Limbs]], named: Mapping[tuple[str, str], Limbs]
    ) -> None:
        """Take two pairs of limbs as legs and arms; their sides are found later unless names say them."""
        skeleton = self.skeleton
        if len(pairs) < 2 and named:
            found = ", ".join(f"{side} {kind}" for side, kind in named)
            raise MotionError(
                f"{self.source}: no human skeleton: by their names there are {found}, but the bones' lengths "
                "contradict that"
            )
        if len(pairs) < 2:
            raise MotionError(
                f"{self.source}: no human skeleton: the names say no arm or leg, and "
                f"{'only one pair of limbs' if pairs else 'no pair of limbs'} with two rigid bones each was "
                "found; two arms and two legs are needed"
            )
        self._require_one_tree([limb for pair in pairs for limb in pair])
        legs, arms = sorted(pairs, key=lambda pair: -sum(pair[0].lengths))
        below, above = (skeleton.common_ancestor([limb.joints[0] for limb in pair]) for pair in (legs, arms))
        # Nearly equal pairs are told apart by the head, which is beyond the arms.
        alike = sum(arms[0].lengths) > HUMAN_ARM_TO_LEG[1] * sum(legs[0].lengths)
        if alike and above in skeleton.ancestors[below]:
            legs, arms = arms, legs
        sides = {limb.joints[2]: key[0] for key, limb in named.items()}
        self.sided = False
        unnamed = []
        for kind, pair in (("arm", arms), ("leg", legs)):
            known = [sides.get(limb.joints[2]) for limb in pair]
            if None not in known and len(set(known)) == 2:
                self.sided = True
            else:
                unnamed.append(kind)
            ordered = pair[::-1] if known == ["right", "left"] else pair
            self.limbs |= {(side, kind): limb for side, limb in zip(SIDES, ordered, strict=True)}
        # The arms are on the sides of the legs: what no name says follows from the other pair.
        across = []
        for kind in ("arm", "leg"):
            left, right = (skeleton.positions[:, self.limbs[side, kind].joints[0]] for side in SIDES)
            across.append(normalise(left - right))
        if unnamed and np.mean((across[0] * across[1]).sum(axis=1)) < 0.0:
            one, other = (("left", unnamed[0]), ("right", unnamed[0]))
            self.limbs[one], self.limbs[other] = self.limbs[other], self.limbs[one]
        self.doubts.append(
            "the names of arms and legs contradict the bones' lengths: the joints are taken by the geometry"
            if named
            else "the names say no joint of a person: the joints are taken by tree and geometry"
        )

    def _take_named(self, triples: Limbs, named: Mapping[tuple[str, str], Limbs]) -> None:
        """Take the limbs that the names say; where geometry contradicts that, by the other side's lengths.

        Legs are looked for by geometry where the names say arms only.
        """
        self.limbs = {key: limb for key, limb in named.items() if limb.geometry >= POOR_GEOMETRY}
        for side, kind in [key for key, limb in named.items() if limb.geometry < POOR_GEOMETRY]:
            other = self.limbs.get(("right" if side == "left" else "left", kind))
            limb = None if other is None else find_counterpart(self.skeleton, triples, other)
            done = f"that {kind} is not used"
            if limb is not None:
                self.limbs[side, kind] = limb
                done = "those as long as on the other side are taken"
            self.doubts.append(f"the joints named as the {side} {kind} have no limb's lengths: {done}")
        if any(kind == "leg" for _, kind in self.limbs):
            return
        taken = [joint for limb in self.limbs.values() for joint in limb.joints]
        arm = np.mean([sum(limb.lengths) for limb in self.limbs.values()])
        for pair in find_symmetric_pairs(self.skeleton, triples, taken)[:1]:
            if HUMAN_ARM_TO_LEG[0] <= arm / sum(pair[0].lengths) <= HUMAN_ARM_TO_LEG[1]:
                self.limbs["left", "leg"], self.limbs["right", "leg"] = pair
                self.doubts.append("the names say no legs: they are taken by tree and geometry")

    def _set(self, name: str, joint: int, part: str, side: str = "") -> None:
        """Give a joint its role, and note whether its name says so."""
        self.joints[name] = joint
        vote = self.votes[joint]
        if part in vote.roles and vote.side == side:
            self.named.add(name)
        else:
            self.unsure.append(name)

    def _add_trunk(self) -> None:
        """Find pelvis, chest, neck and head."""
        skeleton, votes = self.skeleton, self.votes
        arms, legs = self.both("shoulder"), self.both("hip")
        named = [k for k, vote in enumerate(votes) if vote.roles.get("pelvis", 0.0) > 0.7]
        if len(legs) == 2:
            # The joint at the pelvis is named so, or is the one that carries the hips.
            carrier = skeleton.common_ancestor(legs)
            middle = skeleton.rest[legs].mean(axis=0)
            line = [k for k in (carrier, *skeleton.ancestors[carrier]) if k in named]
            near = [k for k in line if np.linalg.norm(skeleton.rest[k] - middle) < 0.2 * skeleton.size]
            self._set("pelvis", near[0] if near else carrier, "pelvis")
        elif named:
            self._set("pelvis", named[0], "pelvis")
        carriers = (k for k in skeleton.ancestors[arms[0]] if "clavicle" not in votes[k].roles)
        carrier = skeleton.common_ancestor(arms) if len(arms) == 2 else next(carriers, skeleton.top)
        # 3ds Max hangs the arms on the neck, which turns with the head and not with the trunk.
        while {"neck", "head"}.intersection(votes[carrier].roles) and skeleton.parents[carrier] >= 0:
            carrier = int(skeleton.parents[carrier])
        self._set("chest", carrier, "chest")
        limbs = {joint for limb in self.limbs.values() for joint in limb.joints}
        above = [
            k
            for k in skeleton.subtree(carrier)[1:]
            if not limbs.intersection([*skeleton.ancestors[k], *skeleton.subtree(k)])
        ]
        if not above:
            return
        heads = [k for k in above if votes[k].roles.get("head", 0.0) and not votes[k].side]
        if heads:
            head = heads[0]
        else:
            head = max(above, key=lambda k: float(np.linalg.norm(skeleton.rest[k] - skeleton.rest[carrier])))
            if not skeleton.children[head] and skeleton.parents[head] in above:
                head = int(skeleton.parents[head])
        chain = [k for k in [head, *skeleton.ancestors[head]] if k in above or "neck" in votes[k].roles][::-1]
        necks = [k for k in chain if "neck" in votes[k].roles] or chain[: len(chain) > 1]
        if necks:
            self._set("neck", necks[0], "neck")
        self._set("head", head, "head")

    def _add_feet(self) -> None:
        """Find toes and heels below the ankles."""
        skeleton, votes = self.skeleton, self.votes
        for side in SIDES:
            if f"{side}_ankle" not in self.joints:
                continue
            ankle = self.joints[f"{side}_ankle"]
            offsets = skeleton.rest - skeleton.rest[ankle]
            distance = np.linalg.norm(offsets, axis=1)
            below = [k for k in skeleton.subtree(ankle)[1:] if distance[k] > COINCIDING * skeleton.size]
            for part in ("toe", "heel"):
                named = [k for k in below if part in votes[k].roles]
                plain = [k for k in below if "heel" not in votes[k].roles]
                if named:
                    # Of five toes the one in the middle; of a chain of joints the first.
                    direct = [k for k in named if not set(named).intersection(skeleton.ancestors[k])]
                    ends = normalise(offsets[direct])
                    middle = direct[int((ends @ ends.mean(axis=0)).argmax())]
                    self._set(f"{side}_{part}", middle, part, side)
                elif part == "toe" and plain:
                    nearest = [k for k in plain if not set(plain).intersection(skeleton.ancestors[k])]
                    self.joints[f"{side}_toe"] = max(nearest, key=lambda k: float(np.linalg.norm(offsets[k])))
                    self.unsure.append(f"{side}_toe")

    def _add_doubts(self) -> None:
        """Doubt limbs without a counterpart, with other joints within, or with bones of unlike lengths."""
        doubts = self.doubts
        for kind in ("arm", "leg"):
            for side, opposite in (SIDES, SIDES[::-1]):
                told = any(f"the {side} {kind} " in doubt for doubt in doubts)
                if (side, kind) not in self.limbs and (opposite, kind) in self.limbs and not told:
                    doubts.append(f"the {side} {kind} was not found: one of its joints is missing")
        for kind, (low, high), (distal, proximal) in (
            ("arm", (0.65, 1.15), ("forearm", "upper arm")),
            ("leg", (0.75, 1.3), ("shank", "thigh")),
        ):
            sides = {side: limb.lengths for (side, k), limb in self.limbs.items() if k == kind}
            for side, (upper, lower) in sides.items():
                if not low <= lower / upper <= high:
                    ratio_told = f"{lower / upper:.2f} of the {proximal}, people's {low} to {high}"
                    doubts.append(f"the {side} {distal} is {ratio_told}")
            if len(sides) == 2:
                for part, one, other in zip((proximal, distal), sides["left"], sides["right"], strict=True):
                    if abs(one - other) > 0.07 * max(one, other):
                        doubts.append(
                            f"the left {part} is {one / other:.2f} of the right one: a bone may be spoiled"
                        )
        arms, legs = _limb_lengths(self.limbs)
        (low, high), ratio = HUMAN_ARM_TO_LEG, float(np.mean(arms) / np.mean(legs)) if legs else 0.0
        if legs and not low <= ratio <= high:
            doubts.append(f"the arms are {ratio:.2f} of the legs, people's {low} to {high}")
        for kind in ("arm", "leg"):
            steps = [
                [self.skeleton.ancestors[b].index(a) for a, b in pairwise(limb.joints)]
                for (_, k), limb in self.limbs.items()
                if k == kind
            ]
            if len(steps) == 2 and steps[0] != steps[1]:
                doubts.append(f"the joints taken for the two {kind}s are not the same ones in the tree")
