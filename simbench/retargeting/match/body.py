"""Match of bodies: which joints of a robot move which bone of a person, and where its joint centres are.

Nothing is counted or read from names: a limb's middle joint is the one whose axis is farthest from both ends
of the limb, a limb's root is where the axes meet that swing its upper bone, and the bones run between these
centres. The roles in `robot.frames` say only which links are trunk, hands and feet.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import KinematicTree, frame_on_body, kinematic_tree, place_path, point_jacobians
from simbench.motion.human_motion import HumanMotion
from simbench.robot.limb_bend import bend_place, find_bend, nearest_point
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# The bones of a limb, by the joints at their ends.
BONES = {
    "upper arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
    "thigh": ("hip", "knee"),
    "shank": ("knee", "ankle"),
}
# Distance at which the axes of hands, pelvis and head are points, m.
_AXIS_LENGTH = 0.1


@dataclass(frozen=True)
class MatchedBody:
    """A robot's body as the person's: the points that correspond, and the joints that follow."""

    robot: Robot  # The robot, on a floating base.
    tree: KinematicTree  # All its n joints.
    # Names of the points: the joint centres (`left_hip`, ...); `pelvis_base`, `pelvis_left` and `pelvis_up`;
    # `head_base`, `head_front` and `head_top`; `left_palm`, `left_fingers` and `left_back`; and the corners
    # of the soles, `left_sole_0` to `left_sole_3`: heel, toe, toe, heel.
    names: tuple[str, ...]
    body: NDArray[np.int64]  # (P,) int: body of the tree that carries each point.
    position: Array  # (P, 3): position of each point on its body, m.
    # (m,) int: columns of the joints that follow the person; the others, fingers, keep their rest position.
    joints: NDArray[np.int64]
    rest: Array  # (n,): positions of all joints at rest, rad: where a joint stays that nothing moves.
    # {str: (int, float)}: column of the middle joint of each limb (`left_arm`, ...), and the sign by which it
    # flexes.
    flexion: dict[str, tuple[int, float]]
    lower: Array  # `lower`, `upper` (n,): limits of the joints, rad.
    upper: Array

    def index(self, name: str) -> int:
        """Index of a point."""
        return self.names.index(name)


def match_body(robot: Robot) -> MatchedBody:
    """Find the bones of a robot, by moving its joints.

    `robot`: robot on a floating base with two arms or two legs. Returns points, joints and limits. Raises
    RetargetError if a limb has no joint that bends it.
    """
    model = robot.model
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    pin.updateFramePlacements(model, data)
    points: dict[str, tuple[int, Array]] = {}
    flexion: dict[str, tuple[int, float]] = {}

    def attach(name: str, body: int, place: Array) -> None:
        """Fix a point of the world in the zero configuration to a body of the tree."""
        joint = body + robot.root_v // 6
        carrier = data.oMi[joint] if joint > 0 else pin.SE3.Identity()
        points[name] = (body, carrier.actInv(np.asarray(place, dtype=float)))

    for side in SIDES:
        for limb, roots, end in (
            ("arm", ("shoulder", "elbow", "wrist"), "hand"),
            ("leg", ("hip", "knee", "ankle"), "foot"),
        ):
            group = [model.getJointId(name) for name in robot.groups.get(f"{side}_{limb}", ())]
            if len(group) < 3 or f"{side}_{end}" not in robot.frames:
                continue
            origins = np.array([data.oMi[joint].translation for joint in group])
            axes = np.array([data.J[3:, model.joints[joint].idx_v] for joint in group])
            # A wrist that lies at the elbow is none: the description took another link for it.
            frames = [
                robot.frames[name] for name in (f"{side}_{roots[2]}", f"{side}_{end}") if name in robot.frames
            ]
            ends = [model.getFrameId(name) for name in frames] if limb == "arm" else []
            tips = [data.oMf[frame].translation.copy() for frame in ends] or [origins[-1]]
            columns = [model.joints[joint].idx_q for joint in group]
            limits = np.column_stack([model.lowerPositionLimit[columns], model.upperPositionLimit[columns]])
            bend = find_bend(origins, axes, limits, tips)
            if bend is None:
                names = ", ".join(robot.groups[f"{side}_{limb}"])
                raise RetargetError(
                    f"{robot.name}: no joint of {names} bends the limb: its ends keep their distance"
                )
            middle, tip = bend.joint, tips[bend.end]
            carrier = frame_on_body(model, ends[bend.end])[0] if ends else group[middle] - robot.root_v // 6
            if not ends and middle + 1 < len(group):
                after = slice(middle + 1, None)
                tip = nearest_point(origins[after], axes[after], np.ones(len(axes[after])))
            root, hinge, last = (f"{side}_{name}" for name in roots)
            above, below = (
                int(model.parents[group[joint]]) - robot.root_v // 6 for joint in (bend.root_joint, middle)
            )
            attach(root, max(0, above), bend.root)
            attach(hinge, max(0, below), bend_place(origins[middle], axes[middle], bend.root, tip))
            attach(last, carrier, tip)
            flexion[f"{side}_{limb}"] = (robot.joint_names.index(model.names[group[middle]]), bend.sign)
    for side in SIDES:
        offsets: dict[str, Array] = {}
        if f"{side}_hand" in robot.frames and f"{side}_wrist" in points:
            shown = _AXIS_LENGTH * np.eye(3)
            offsets |= {"palm": np.zeros(3), "fingers": shown[0], "back": shown[2]}
        if f"{side}_foot" in robot.soles:
            corners = robot.soles[f"{side}_foot"]
            order = np.argsort(corners[:, 0], kind="stable")[[0, 2, 3, 1]]
            offsets |= {f"sole_{number}": corners[corner] for number, corner in enumerate(order)}
        for name, offset in offsets.items():
            role = f"{side}_foot" if name.startswith("sole") else f"{side}_hand"
            body, rotation, place = frame_on_body(model, model.getFrameId(robot.frames[role]))
            points[f"{side}_{name}"] = body, place + rotation @ offset
    for part, axes_shown in (("pelvis", ("left", "up")), ("head", ("front", "top"))):
        if part in robot.frames:
            frame = model.getFrameId(robot.frames[part])
            place, carrier = data.oMf[frame].translation.copy(), frame_on_body(model, frame)[0]
            attach(f"{part}_base", carrier, place)
            for name in axes_shown:
                along = np.eye(3)[1 if name == "left" else 2]
                attach(f"{part}_{name}", carrier, place + _AXIS_LENGTH * along)
    follows = {n for group, names in robot.groups.items() if not group.endswith("_grip") for n in names}
    joints = np.array([k for k, name in enumerate(robot.joint_names) if name in follows], dtype=np.int64)
    columns = [model.joints[model.getJointId(name)].idx_q for name in robot.joint_names]
    rest = robot.postures.get("standing", np.zeros(len(robot.joint_names)))
    return MatchedBody(
        robot,
        kinematic_tree(model),
        tuple(points),
        np.array([body for body, _ in points.values()], dtype=np.int64),
        np.array([place for _, place in points.values()]),
        joints,
        np.array(rest, dtype=float),
        flexion,
        np.asarray(model.lowerPositionLimit)[columns],
        np.asarray(model.upperPositionLimit)[columns],
    )


def describe_match(body: MatchedBody) -> tuple[str, ...]:
    """Say in a line for each limb which joints move which bone, their lengths, and how the limb flexes."""
    robot, place, lines = body.robot, zero_points(body), []
    for limb, (column, sign) in body.flexion.items():
        side, _, kind = limb.partition("_")
        names = robot.groups[limb]
        middle = names.index(robot.joint_names[column])
        bones = [bone for bone, (start, _) in BONES.items() if (start in ("hip", "knee")) == (kind == "leg")]
        lengths = []
        for bone in bones:
            start, end = (place[f"{side}_{name}"] for name in BONES[bone])
            lengths.append(f"{bone} {np.linalg.norm(end - start):.3f} m")
        way = "positive" if sign > 0.0 else "negative"
        lines.append(
            f"{side} {kind}: {', '.join(lengths)}; {', '.join(names[:middle])} move the first, "
            f"{names[middle]} bends it by {way} angles, {', '.join(names[middle + 1 :])} follow"
        )
    return tuple(lines)


@dataclass(frozen=True)
class Placed:
    """A body in T configurations."""

    rotation: Array  # (T, n + 1, 3, 3): rotations of the bodies of the tree in the world frame.
    position: Array  # (T, n + 1, 3): positions of the bodies, m.
    points: Array  # (T, P, 3): positions of the body's points, m.


def place_points(body: MatchedBody, q: Array) -> Placed:
    """Compute where the bodies and points are in configurations (T, 7 + n)."""
    bodies = len(body.tree.parent) + 1
    rotation, position = np.empty((len(q), bodies, 3, 3)), np.empty((len(q), bodies, 3))
    place_path(body.tree, np.ascontiguousarray(q), rotation, position)
    points = position[:, body.body] + (rotation[:, body.body] @ body.position[:, :, None])[..., 0]
    return Placed(rotation, position, points)


def zero_points(body: MatchedBody) -> dict[str, Array]:
    """Positions of the points in the zero configuration, in the frame of the root or of a fixed base, m."""
    q = np.concatenate([np.zeros(6), [1.0], np.zeros(len(body.rest))])
    return dict(zip(body.names, place_points(body, q[None]).points[0], strict=True))


def arm_lengths(body: MatchedBody, side: str) -> tuple[float, float]:
    """Lengths of a robot's upper arm and forearm, m."""
    place = zero_points(body)
    shoulder, elbow, wrist = (place[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist"))
    return float(np.linalg.norm(elbow - shoulder)), float(np.linalg.norm(wrist - elbow))


def hand_aims(robot: Robot, motion: HumanMotion) -> dict[str, Array]:
    """Compute where the robot's wrists (T, 3) would be, by side, if its arms had the person's directions, m.

    Relative to the shoulders, in the recording's axes. Only the lengths of the robot's arms count.
    """
    aims = {}
    for side in SIDES:
        shoulder, elbow, wrist = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist"))
        lengths = arm_lengths(match_body(robot), side)
        aims[side] = sum(
            length * line / np.linalg.norm(line, axis=1, keepdims=True)
            for length, line in zip(lengths, (elbow - shoulder, wrist - elbow), strict=True)
        )
    return aims


def derive_points(tree: KinematicTree, joints: NDArray[np.int64], moves: Array, placed: Placed) -> Array:
    """Derive points (T, P, 3) on bodies by root and joints (`point_jacobians`): (T, P, 3, 6 + m)."""
    jacobian = np.empty((*placed.points.shape, 6 + len(joints)))
    point_jacobians(tree, joints, moves, placed.rotation, placed.position, placed.points, jacobian)
    return jacobian
