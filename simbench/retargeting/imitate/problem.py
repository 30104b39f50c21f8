"""The problem of imitation: what a recording asks of a robot's body, and what single frames cost.

Targets are directions of lines, heights and contacts over time; costs are squared errors of lines, root and
soles, with derivatives.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import turn_quaternions, turns_between
from simbench.kinematics.tree import ancestors
from simbench.motion.human_motion import HumanMotion
from simbench.motion.person_body import (
    find_person_contacts,
    foot_points,
    has_only_ankles,
    standing_heights,
    with_heels,
)
from simbench.options import RetargetSection
from simbench.retargeting.match.body import BONES, MatchedBody, derive_points, place_points, zero_points
from simbench.robot.sides import SIDES

# Weights of squared errors of direction, 1/rad². Bones make the posture; girdles, hands and head turn it.
LINE_WEIGHTS = {
    **dict.fromkeys(("upper arm", "forearm", "thigh", "shank"), 1.0),
    **dict.fromkeys(("shoulders", "hips"), 0.3),
    **dict.fromkeys(("head", "foot"), 0.1),
    **{"trunk": 2.0, "pelvis": 0.02, "hand": 0.03},
}


@dataclass(frozen=True)
class BodyTargets:
    """Targets of a matched body over T samples."""

    time: Array  # (T,): times, s.
    parts: tuple[str, ...]  # Part of the body of each line: keys of `LINE_WEIGHTS`.
    lines: Array  # (B, P): line b runs along Σ_p `lines[b, p]` · (position of point p).
    weights: Array  # (B,): weights of the lines' squared errors, 1/rad².
    directions: Array  # (T, B, 3): unit vectors in the world frame that the lines are to have.
    # (P,): the root is at Σ_p `root_point[p]` · (position of point p): the middle between the hips.
    root_point: Array
    root: Array  # (T, 3): position of the root in the world frame, m.
    root_weight: Array  # (3,): weights of its squared error, 1/m².
    clearance: Array  # (T, F, 2): height over the floor of heel and toe of F feet, m.
    contact: NDArray[np.bool_]  # (T, F, 2) bool: whether heel and toe stand on the floor.
    scale: float  # Length of the robot's legs by the person's.
    notes: tuple[str, ...]  # What was assumed, one line each.


# Weights of the squared error of the root's position, 1/m²: where feet stand, they and the bones say where
# the root is.
ROOT_WEIGHT = np.array([8.0, 8.0, 2.0])
# Parts of the body that a robot imitates whose root and legs do something else.
UPPER_BODY = ("upper arm", "forearm", "trunk", "shoulders", "head", "hand")


# What the size of person and robot decides: heights of the joints of the feet over the floor while a foot
# stands, m, of those that are recorded and of those with heels that were added; length of the robot's legs by
# the person's; height of the robot's ankles over its soles, m.
PersonMeasures: TypeAlias = tuple[Mapping[str, float], Mapping[str, float], float, float]


def select_parts(targets: BodyTargets, parts: tuple[str, ...]) -> BodyTargets:
    """Keep the targets of some parts of the body; the root and the feet have none."""
    kept = np.array([part in parts for part in targets.parts])
    feet = np.zeros((len(targets.time), 0, 2))
    return replace(
        targets,
        parts=tuple(part for part in targets.parts if part in parts),
        lines=targets.lines[kept],
        weights=targets.weights[kept],
        directions=targets.directions[:, kept],
        root_weight=np.zeros(3),
        clearance=feet,
        contact=feet.astype(bool),
    )


def measure_person(body: MatchedBody, motion: HumanMotion) -> PersonMeasures:
    """Measure what a recording says of the person: heights of standing feet, and the scale of the robot."""
    place, lengths, person, ankle = zero_points(body), [], [], 0.0
    for side in SIDES:
        for start, end in (("hip", "knee"), ("knee", "ankle")):
            a, b = f"{side}_{start}", f"{side}_{end}"
            if a in place and b in place:
                lengths.append(float(np.linalg.norm(place[b] - place[a])))
            if a in motion.joints and b in motion.joints:
                person.append(float(np.median(np.linalg.norm(motion.joints[b] - motion.joints[a], axis=1))))
    if "left_ankle" in place and "left_sole_0" in place:
        ankle = float(place["left_ankle"][2] - place["left_sole_0"][2])
    scale = float(np.mean(lengths) / np.mean(person)) if lengths and person else 1.0
    return standing_heights(motion), standing_heights(with_heels(motion)), scale, ankle


def find_targets(
    body: MatchedBody, motion: HumanMotion, measures: PersonMeasures | None = None
) -> BodyTargets:
    """Turn a recording into targets of a robot's body.

    Directions are the person's. The root's way and the feet's heights are the person's, scaled by the length
    of the legs, over the height of ankles and soles. `motion`: recording with T samples; `measures`: from
    another recording of the same person, for one that is too short to tell. Returns targets at the
    recording's samples.
    """
    heights, heel_heights, scale, ankle = measures or measure_person(body, motion)
    person = with_heels(motion, heights)
    joints, count = person.joints, len(motion.time)
    hips = [f"{side}_hip" for side in SIDES]
    feet = [side for side in SIDES if f"{side}_sole_0" in body.names]
    flags, notes = find_person_contacts(person, heel_heights), []
    lines = _find_lines(body, motion)
    clearance, contact = np.zeros((count, len(feet), 2)), np.ones((count, len(feet), 2), dtype=bool)
    root, root_weight = np.zeros((count, 3)), np.zeros(3)
    if flags and all(f"{side}_{name}" in joints for side in SIDES for name in ("hip", "knee", "ankle")):
        for foot, side in enumerate(feet):
            names, whole = foot_points(person, side), f"{side}_heel" in joints and f"{side}_toe" in joints
            parts = ("heel", "toe") if whole else ("ankle", "ankle")
            # A heel that was added stands at 0.
            above = [joints[f"{side}_{part}"][:, 2] - heights.get(f"{side}_{part}", 0.0) for part in parts]
            for k, part in enumerate(parts):
                clearance[:, foot, k] = scale * np.maximum(above[k], 0.0)
                contact[:, foot, k] = flags[side][:, names.index(f"{side}_{part}")]
            if whole:
                along = joints[f"{side}_toe"] - joints[f"{side}_heel"]
                along[:, 2] = above[1] - above[0]
                soles = {f"{side}_sole_{k}": 0.5 if k in (1, 2) else -0.5 for k in range(4)}
                lines.append(("foot", soles, along))
        middle = 0.5 * (joints["left_hip"] + joints["right_hip"])
        below = min(heights[f"{side}_ankle"] for side in SIDES)
        root = scale * (middle - [0.0, 0.0, below]) + [0.0, 0.0, ankle]
        root_weight = ROOT_WEIGHT
        notes.append(
            f"the way of the root and the heights of the feet are {scale:.3f} times the person's, "
            "as the length of the legs is"
        )
        if has_only_ankles(motion):
            notes.append("only ankles are recorded of the feet: each sole stands whole or not at all")
    else:
        notes.append("legs are not recorded: both feet stand where they are")
    lines = [line for line in lines if all(name in body.names for name in line[1])]
    if not lines:
        raise RetargetError(f"{motion.source}: no bone is recorded that {body.robot.name} has too")
    vectors = np.stack([vector for _, _, vector in lines], axis=1)
    roots = [name for name in hips if name in body.names] or ["pelvis_base"]
    return BodyTargets(
        motion.time - motion.time[0],
        tuple(part for part, _, _ in lines),
        np.array([[points.get(name, 0.0) for name in body.names] for _, points, _ in lines]),
        np.array([LINE_WEIGHTS[part] for part, _, _ in lines]),
        vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9),
        np.array([(name in roots) / len(roots) for name in body.names]),
        root,
        root_weight,
        clearance,
        contact,
        scale,
        tuple(notes),
    )


def _find_lines(body: MatchedBody, motion: HumanMotion) -> list[tuple[str, dict[str, float], Array]]:
    """List the lines of the body but the feet: part, the robot's points with factors, vectors (T, 3)."""
    joints, lines = motion.joints, []
    hips, shoulders = ([f"{side}_{name}" for side in SIDES] for name in ("hip", "shoulder"))
    for bone, (start, end) in BONES.items():
        for side in SIDES:
            a, b = f"{side}_{start}", f"{side}_{end}"
            if a in joints and b in joints:
                lines.append((bone, {b: 1.0, a: -1.0}, joints[b] - joints[a]))
    trunk = {**dict.fromkeys(shoulders, 0.5), **dict.fromkeys(hips, -0.5)}
    if all(name in joints for name in trunk):
        along = sum((sign * joints[name] for name, sign in trunk.items()), np.zeros(3))
        lines.append(("trunk", trunk, along))
    elif "trunk" in motion.segments and "trunk" in motion.initial.segments:
        lines.append(("trunk", trunk, _carried(motion, "trunk", 2)))
    for part, (left, right) in (("shoulders", shoulders), ("hips", hips)):
        if left in joints and right in joints:
            lines.append((part, {left: 1.0, right: -1.0}, joints[left] - joints[right]))
    if "pelvis" in motion.segments and "pelvis" in motion.initial.segments:
        lines.append(("pelvis", {"pelvis_up": 1.0, "pelvis_base": -1.0}, _carried(motion, "pelvis", 2)))
        if not all(name in joints for name in hips):
            lines.append(("hips", {"pelvis_left": 1.0, "pelvis_base": -1.0}, _carried(motion, "pelvis", 1)))
    recorded = "neck" in joints and "head" in joints and "head" in motion.initial.joints
    if recorded and body.robot.groups.get("head"):
        # The head carries along the line that the person's neck and head have in the initial posture.
        x, _, z = motion.initial.joints["head"] - motion.initial.joints["neck"]
        ends = {"head_front": x, "head_top": z, "head_base": -x - z}
        lines.append(("head", ends, joints["head"] - joints["neck"]))
    for side in SIDES:
        hand = f"{side}_hand"
        # A hand that is assumed follows nobody's, but that of an arm which hangs does.
        own = hand not in motion.missing or f"{side}_forearm" in motion.missing
        if own and hand in motion.segments and hand in motion.initial.segments:
            for point, axis in (("fingers", 0), ("back", 2)):
                ends = {f"{side}_{point}": 1.0, f"{side}_palm": -1.0}
                lines.append(("hand", ends, _carried(motion, hand, axis)))
    return lines


def _carried(motion: HumanMotion, segment: str, axis: int) -> Array:
    """Direction (T, 3) of a world axis of the initial posture that a segment carries along."""
    initial = motion.initial.segments[segment][:3, :3].T[:, axis]
    return np.asarray(motion.segments[segment][:, :3, :3] @ initial)


# Weight of the squared depth of a sole's corner below the floor, 1/m².
CONTACT_WEIGHT = 1e5
# Weight of the squared height of a corner over the floor while its heel or toe stands, 1/m².
_FLAT_WEIGHT = 500.0
# Weight of the squared error of a swinging heel's or toe's height near the floor, 1/m².
_CLEARANCE_WEIGHT = 30.0
# Clearance at which that weight is a quarter, m: high in the air, only the directions of bones count.
_FADE = 0.1
# Weight of the squared distance of a joint from rest, 1/rad²: it settles what nothing else determines.
_REST_WEIGHT = 2e-4
# Least bend of elbows and knees in the first guess, rad.
_BENT = 0.4


class FrameCosts(NamedTuple):
    """Costs of T configurations and derivatives by root translation, root rotation, joints (nv columns)."""

    cost: Array  # (T,): half the weighted squared errors.
    gradient: Array  # (T, nv).
    hessian: Array  # (T, nv, nv): its Gauss-Newton matrix.
    feet: Array  # (T, F, 2, 2): horizontal positions of heel and toe of each foot, m.
    foot_jacobian: Array  # (T, F, 2, 2, nv).


class ImitationProblem:
    """A matched body with the targets of T frames; joints keep a margin from their limits.

    `moves` (P, m): 1 where a joint moves a point; `soles` (F, 2, 2) int: points that are the corners of the
    soles: foot, heel or toe, right or left corner; `lower`, `upper` (m,): limits of the joints that follow,
    margin included, rad; `speed` (nv,): limits of the coordinates' speeds, 1/s, infinite where there is none;
    `nv`: number of coordinates of a step: six of the root and those of the joints that follow. `root_moves`:
    whether the root moves; otherwise it stays where the first guess has it, with `root_turn` (T, 4), its
    orientation, quaternions; None for an upright one.
    """

    def __init__(
        self,
        body: MatchedBody,
        targets: BodyTargets,
        settings: RetargetSection,
        *,
        root_moves: bool = True,
        root_turn: Array | None = None,
    ) -> None:
        self.body, self.targets, self.root_moves, self.root_turn = body, targets, root_moves, root_turn
        robot, chosen = body.robot, body.joints
        lower, upper = body.lower[chosen], body.upper[chosen]
        # Of a joint with a small range, half is left.
        kept = np.minimum(settings.joint_limit_margin_rad, 0.25 * (upper - lower))
        self.lower, self.upper, self.nv = lower + kept, upper - kept, 6 + len(chosen)
        speed = settings.speed_limit_fraction * np.asarray(robot.model.velocityLimit)[robot.root_v + chosen]
        self.speed = np.concatenate([np.full(6, np.inf), np.where(speed > 0.0, speed, np.inf)])
        self.moves = ancestors(body.tree)[body.body][:, chosen]
        first = [number for number, name in enumerate(body.names) if name.endswith("_sole_0")]
        self.soles = np.array(first, dtype=np.int64)[:, None, None] + np.array([[0, 3], [1, 2]])

    def at_samples(self, samples: NDArray[np.int64]) -> "ImitationProblem":
        """Keep some samples (K,) of the targets."""
        parts = ("time", "directions", "root", "clearance", "contact")
        kept = {part: getattr(self.targets, part)[samples] for part in parts}
        found = copy(self)
        found.targets = replace(self.targets, **kept)
        found.root_turn = None if self.root_turn is None else self.root_turn[samples]
        return found


def frame_costs(
    problem: ImitationProblem, q: Array, frames: slice, *, derivatives: bool = True
) -> FrameCosts:
    """Evaluate the costs of configurations in frames of a problem.

    `problem`: body and targets; `q` (T, 7 + n); `frames`: the T frames of the targets; `derivatives`: whether
    derivatives are computed; otherwise they are empty. Returns costs and derivatives.
    """
    body, targets = problem.body, problem.targets
    placed = place_points(body, q)
    points, count, nv = placed.points, len(q), problem.nv
    # Errors of direction √w (u − d) of lines v, m, u = v/‖v‖; their derivatives by v are (√w/‖v‖)(I − u uᵀ).
    lines = targets.lines @ points
    length = np.maximum(np.linalg.norm(lines, axis=-1), 1e-6)
    unit, line_weight = lines / length[..., None], np.sqrt(targets.weights)
    errors = line_weight[:, None] * (unit - targets.directions[frames])
    root_weight = np.sqrt(targets.root_weight)
    root_error = root_weight * (targets.root_point @ points - targets.root[frames])
    feet = targets.contact.shape[1]
    soles = problem.soles[:feet]
    corners = points[:, soles.ravel()].reshape(count, feet, 2, 2, 3)
    # Axis 2 is heel or toe, axis 3 its two corners.
    standing = targets.contact[frames]
    height = corners[..., 2]
    # A standing sole may stand on an edge where the ankle's range ends.
    press = np.where(height < 0.0, np.sqrt(CONTACT_WEIGHT), np.sqrt(_FLAT_WEIGHT) * standing[..., None])
    below = press * height
    middle = 0.5 * (corners[:, :, :, 0] + corners[:, :, :, 1])
    clearance = targets.clearance[frames]
    height_weight = np.where(standing, 0.0, np.sqrt(_CLEARANCE_WEIGHT) / (1.0 + clearance / _FADE))
    height_error = height_weight * (middle[..., 2] - clearance)
    joints = q[:, 7 + body.joints]
    away = joints - body.rest[body.joints]
    cost = 0.5 * (
        (errors**2).sum(axis=(1, 2))
        + (root_error**2).sum(axis=1)
        + (below**2).sum(axis=(1, 2, 3))
        + (height_error**2).sum(axis=(1, 2))
        + _REST_WEIGHT * (away**2).sum(axis=1)
    )
    if not derivatives:
        empty = np.empty(0)
        return FrameCosts(cost, empty, empty, middle[..., :2], empty)
    jacobian = derive_points(body.tree, body.joints, problem.moves, placed)
    flat = jacobian.reshape(count, len(body.names), 3 * nv)
    along = (targets.lines @ flat).reshape(count, -1, 3, nv)
    along -= unit[..., None] * np.einsum("tbi,tbin->tbn", unit, along)[:, :, None]
    along *= (line_weight / length)[..., None, None]
    corner_rows = jacobian[:, soles.ravel()].reshape(count, feet, 2, 2, 3, nv)
    middle_rows = 0.5 * (corner_rows[:, :, :, 0] + corner_rows[:, :, :, 1])
    rows = np.concatenate(
        [
            along.reshape(count, -1, nv),
            root_weight[:, None] * (targets.root_point @ flat).reshape(count, 3, nv),
            (press[..., None] * corner_rows[..., 2, :]).reshape(count, -1, nv),
            (height_weight[..., None] * middle_rows[..., 2, :]).reshape(count, -1, nv),
        ],
        axis=1,
    )
    residual = np.concatenate(
        [errors.reshape(count, -1), root_error, below.reshape(count, -1), height_error.reshape(count, -1)],
        axis=1,
    )
    transposed = rows.transpose(0, 2, 1)
    gradient = (transposed @ residual[..., None])[..., 0]
    hessian = transposed @ rows
    gradient[:, 6:] += _REST_WEIGHT * away
    hessian[:, np.arange(6, nv), np.arange(6, nv)] += _REST_WEIGHT
    return FrameCosts(cost, gradient, hessian, middle[..., :2], middle_rows[..., :2, :])


def step_from(problem: ImitationProblem, q: Array, step: Array) -> Array:
    """Move configurations (T, 7 + n) by steps (T, nv): root translation and rotation in the world, joints."""
    moved = q.copy()
    moved[:, :3] += step[:, :3]
    turn_quaternions(q[:, 3:7], step[:, 3:6], moved[:, 3:7])
    moved[:, 7 + problem.body.joints] += step[:, 6:]
    return moved


def increments(problem: ImitationProblem, q: Array) -> Array:
    """Find the steps (T - 1, nv) that lead from each configuration to the next."""
    steps = np.empty((len(q) - 1, problem.nv))
    steps[:, :3], steps[:, 6:] = np.diff(q[:, :3], axis=0), np.diff(q[:, 7 + problem.body.joints], axis=0)
    turns_between(q[:, 3:7], steps[:, 3:6])
    return steps


def initial_configuration(problem: ImitationProblem) -> Array:
    """Guess a configuration (7 + n,) for the first frame: at rest, turned and placed as the person is."""
    body, targets = problem.body, problem.targets
    q = np.concatenate([np.zeros(6), [1.0], body.rest])
    for column, sign in body.flexion.values():
        # A straight limb could bend either way.
        bent = body.rest[column] if sign * body.rest[column] > _BENT else sign * _BENT
        q[7 + column] = np.clip(bent, body.lower[column], body.upper[column])
    if not problem.root_moves:
        return q
    direction = dict(zip(targets.parts, targets.directions[0], strict=True))
    left = direction.get("hips", direction.get("shoulders", np.array([0.0, 1.0, 0.0])))
    up = direction.get("trunk", np.array([0.0, 0.0, 1.0]))
    forward = np.cross(left, up)
    forward /= np.linalg.norm(forward)
    left = np.cross(up, forward)
    q[3:7] = Rotation.from_matrix(np.column_stack([forward, left / np.linalg.norm(left), up])).as_quat()
    points = place_points(body, q[None]).points[0]
    if targets.root_weight.any():
        q[:3] = targets.root[0] - targets.root_point @ points
    elif targets.contact.shape[1]:
        q[2] -= points[problem.soles.ravel(), 2].min()
    return q
