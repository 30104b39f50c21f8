"""Guesses about the feet: soles and the standing posture."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares
from scipy.spatial import ConvexHull, QhullError

from simbench.errors import RobotError
from simbench.robot.scaffold.arms import frame_entry
from simbench.robot.scaffold.body_roles import UP, Orientation
from simbench.robot.scaffold.limb_chains import LimbChain
from simbench.robot.scaffold.robot_tree import Array, Guess, RobotTree
from simbench.robot.sides import SIDES
from simbench.robot.urdf.mesh_files import shape_points

# Patches whose normal deviates by more from downward, in the zero configuration, are no soles.
_STEEPEST = np.cos(np.radians(60.0))
# Least side of a sole, as a fraction of the leg's length; feet that are smaller are points.
_NEAR_SOLE = (
    0.01  # Distance of points from the plane of a sole that is known, as a fraction of the leg's length.
)
_LEAST_SIDE = 0.03
_GRID = 81


@dataclass(frozen=True)
class SoleGuess:
    """A sole."""

    frame: str  # Link whose frame is the foot's, if there is one already; else the name for a new one.
    # Pose of the foot's frame in the frame of the foot's body: z normal to the sole, x forward, origin below
    # the ankle.
    placement: pin.SE3
    exists: bool  # Whether the frame is a link of the URDF.
    x: tuple[float, float]  # `x`, `y`: rectangle in the foot's frame, m.
    y: tuple[float, float]
    filled: float  # Area of the rectangle as a fraction of the flat patch's.
    tilt: float  # Angle between sole and floor in the zero configuration, rad.


def find_sole(
    tree: RobotTree, foot: int, forward: Array, name: str, leg_length: float, said: str = ""
) -> SoleGuess | None:
    """Find the sole of a foot.

    `foot`: joint that moves the foot; `forward` (3,): forward direction in the root link's frame; `name`:
    name for the foot's frame, if the URDF has none that fits; `leg_length`: length of the leg, m; `said`:
    link that is known to be the sole: its shapes are, or what lies in the plane of its frame. Returns the
    sole; None if the foot has no shape or no flat patch.
    """
    points, thickness = tree.points[foot], 0.001 * leg_length
    if said and said not in tree.links[foot]:
        allowed = ", ".join(tree.links[foot])
        raise RobotError(f"{tree.path}: sole {said}: no link of this foot; allowed: {allowed}")
    if said:
        own = tree.placement(said)
        shapes = [shape_points(shape, tree.path.parent) for shape in tree.link[said].shapes]
        found = [each @ own.rotation.T + own.translation for each in shapes if each is not None]
        points = np.vstack(found) if found else points
    if len(points) < 4:
        return None
    turned = tree.poses[foot].rotation
    down = turned.T @ np.array([0.0, 0.0, -1.0])
    ahead = turned.T @ forward
    if said and not found:
        normal = -own.rotation[:, 2]
        height = float(normal @ own.translation)
        flat = points[np.abs(points @ normal - height) < _NEAR_SOLE * leg_length]
        patch = (normal, height, flat) if len(flat) > 2 else None
    else:
        patch = _flat_patch(points, down, thickness)
    if patch is None:
        return None
    normal, height, flat = patch
    up = -normal
    x_axis = ahead - up * float(ahead @ up)
    x_axis /= np.linalg.norm(x_axis)
    rotation = np.column_stack([x_axis, np.cross(up, x_axis), up])
    placement = pin.SE3(rotation, height * normal)
    exists = False
    for link in tree.links[foot]:
        # A link whose frame lies in the sole, with x forward.
        own = tree.placement(link)
        offset = placement.actInv(own)
        turned_by = np.arccos(np.clip((np.trace(offset.rotation) - 1.0) / 2.0, -1.0, 1.0))
        if turned_by < 1e-4 and abs(offset.translation[2]) < 1e-4:
            exists, name, placement = True, link, own
            break
    local = (flat - placement.translation) @ placement.rotation[:, :2]
    corners = local[ConvexHull(local).vertices]
    x, y = _inscribed_rectangle(corners)
    if min(x[1] - x[0], y[1] - y[0]) < _LEAST_SIDE * leg_length:
        return None
    area = ConvexHull(local).volume
    return SoleGuess(
        frame=name,
        placement=placement,
        exists=exists,
        x=x,
        y=y,
        filled=(x[1] - x[0]) * (y[1] - y[0]) / area,
        tilt=float(np.arccos(np.clip(normal @ down, -1.0, 1.0))),
    )


def _flat_patch(points: Array, down: Array, thickness: float) -> tuple[Array, float, Array] | None:
    """Find normal, distance and points of the largest flat patch that looks downward, in the body's frame."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    facing = hull.equations[:, :3] @ down > _STEEPEST
    if not facing.any():
        return None
    corners = points[hull.simplices]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    normals = hull.equations[:, :3]
    best, best_area = -1, 0.0
    for index in np.flatnonzero(facing):
        alike = normals @ normals[index] > np.cos(np.radians(2.0))
        area = float(areas[alike].sum())
        if area > best_area * (1.0 + 1e-9):
            best, best_area = int(index), area
    alike = normals @ normals[best] > np.cos(np.radians(2.0))
    normal = (areas[alike, None] * normals[alike]).sum(axis=0)
    normal /= np.linalg.norm(normal)
    # Rounding of a mesh's coordinates, 0.06 degrees, does not tilt a foot.
    nearest = np.eye(3)[int(np.abs(normal).argmax())] * np.sign(normal[np.abs(normal).argmax()])
    for candidate in (down, nearest):
        if candidate @ normal > np.cos(np.radians(0.3)):
            normal = candidate
            break
    heights = points @ normal
    height = float(heights.max())
    flat = points[heights > height - thickness]
    if len(flat) < 3:
        return None
    spread = np.linalg.svd(flat - flat.mean(axis=0))[1]
    return (normal, height, flat) if spread[1] > 1e-4 else None


def _inscribed_rectangle(corners: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the largest rectangle along the axes in a convex polygon (N, 2), m."""
    low, high = corners[:, 0].min(), corners[:, 0].max()
    cuts = np.unique(np.concatenate([np.linspace(low, high, _GRID), corners[:, 0]]))
    closed = np.vstack([corners, corners[:1]])
    tops, bottoms = np.full(len(cuts), -np.inf), np.full(len(cuts), np.inf)
    for a, b in pairwise(closed):
        start, end = sorted((a[0], b[0]))
        inside = (cuts >= start - 1e-12) & (cuts <= end + 1e-12)
        if end - start < 1e-12:
            heights = [a[1], b[1]]
            tops[inside] = np.maximum(tops[inside], max(heights))
            bottoms[inside] = np.minimum(bottoms[inside], min(heights))
            continue
        heights = a[1] + (b[1] - a[1]) * (cuts[inside] - a[0]) / (b[0] - a[0])
        tops[inside] = np.maximum(tops[inside], heights)
        bottoms[inside] = np.minimum(bottoms[inside], heights)
    top = np.minimum(tops[:, None], tops[None])
    bottom = np.maximum(bottoms[:, None], bottoms[None])
    area = np.maximum(top - bottom, 0.0) * np.maximum(cuts[None] - cuts[:, None], 0.0)
    i, j = np.unravel_index(int(area.argmax()), area.shape)
    return (float(cuts[i]), float(cuts[j])), (float(bottom[i, j]), float(top[i, j]))


_BEND = 0.5  # Angle of the knees, rad.
_FULL_LEG = 6  # Joints with which a foot goes anywhere. With fewer, knees stay bent at the cost of the rest.
_LEVEL_FIRST, _COG_NEXT = 100.0, 10.0  # Weights of level soles and of the COG against the feet's spacing.
_LEVEL = 5e-5
_FLAT_SOLE = 5e-4


def solve_standing(
    tree: RobotTree, legs: tuple[LimbChain, ...], soles: list[SoleGuess], forward: Array, q: Array
) -> tuple[Array, float, float, float, float]:
    """Find a standing posture with the given arms.

    The root stays upright; the legs' joints put both soles level, parallel and as far apart as in the zero
    configuration, with the hips so high that the knees are bent by half a radian from straight, and the COG
    above the middle of the soles. `legs`: left and right leg; `soles`: left and right sole; `forward` (3,):
    forward direction in the root link's frame; `q` (n,): positions of all joints; those of the legs are
    replaced. Returns the best posture found, whether it stands or not: (n,) positions of all joints, rad;
    largest angle between a sole and the floor, rad; difference in height of the soles, m; horizontal distance
    of the COG from the middle of the soles, m; least distance of a leg's joint from its limits, rad.
    """
    tries = []
    for bend in (_BEND, 0.35, 0.7, 0.2):
        tries.append(_descend(tree, legs, soles, forward, q, bend))
        if does_stand(*tries[-1][1:4]) and tries[-1][4] > 0.03:
            return tries[-1]
    return next((each for each in tries if does_stand(*each[1:4])), tries[0])


def does_stand(tilt: float, uneven: float, cog_error: float) -> bool:
    """Tell whether soles are flat and level and the COG is above their middle."""
    return tilt < _FLAT_SOLE and uneven < _LEVEL and cog_error < 1e-3


def _descend(
    tree: RobotTree,
    legs: tuple[LimbChain, ...],
    soles: list[SoleGuess],
    forward: Array,
    q: Array,
    bend: float,
) -> tuple[Array, float, float, float, float]:
    """Solve for the legs' joints by least squares within their limits, knees near a given angle."""
    joints = [joint for leg in legs for joint in leg.joints]
    index = np.array(joints) - 1
    low, high = np.array([tree.limits(joint) for joint in joints]).T
    inside = np.minimum(0.01, 0.1 * (high - low))
    low, high = low + inside, high - inside
    left = np.cross(UP, forward)
    wanted = np.column_stack([forward, left, UP])
    data, moved = tree.model.createData(), q.copy()
    feet = [(leg.joints[-1], sole.placement) for leg, sole in zip(legs, soles, strict=True)]
    middles = [np.array([sum(sole.x) / 2, sum(sole.y) / 2, 0.0]) for sole in soles]
    # Lateral distance of the middles of the soles, m: as at rest, and at least their width.
    hips = [tree.poses[leg.start].translation @ left for leg in legs]
    at_rest = [(tree.poses[j] * place).act(m) @ left for (j, place), m in zip(feet, middles, strict=True)]
    least = 1.1 * max(sole.y[1] - sole.y[0] for sole in soles)
    apart_at_rest = at_rest[0] - at_rest[1]
    spacing = max(float(apart_at_rest if apart_at_rest > least else hips[0] - hips[1]), least)
    reach = 0.2 * tree.distance(legs[0].start, legs[0].joints[-1])
    # Knees that are bent by an angle from straight, as far as their limits allow.
    ranges = [leg.bending_range(tree) for leg in legs]
    knees = [straight + float(np.clip(bent - straight, -bend, bend)) for straight, bent in ranges]
    # A knee that shares its motor is not bent.
    bent_knees = [
        (joints.index(leg.middle), angle)
        for leg, angle in zip(legs, knees, strict=True)
        if leg.middle in joints
    ]

    # Legs of fewer than six joints cannot do all: level soles come first, the COG next, then where they point
    # and how far apart they are.
    turning = np.array([_LEVEL_FIRST, _LEVEL_FIRST, 1.0])
    placing = np.array([1.0, _LEVEL_FIRST, 1.0, _COG_NEXT, _COG_NEXT])

    def measure(values: Array) -> tuple[list[Array], list[Array], Array]:
        moved[index] = values
        pin.centerOfMass(tree.model, data, moved)
        # Pinocchio leaves out what does not move against the world: here the root link.
        root = tree.model.inertias[0]
        cog = (data.mass[0] * data.com[0] + root.mass * root.lever) / (data.mass[0] + root.mass)
        placed = [data.oMi[joint] * placement for joint, placement in feet]
        rotations = [foot.rotation for foot in placed]
        return rotations, [foot.act(middle) for foot, middle in zip(placed, middles, strict=True)], cog

    def residual(values: Array, knee_weight: float, regularisation: float) -> Array:
        rotations, centres, cog = measure(values)
        apart, middle = centres[0] - centres[1], 0.5 * (centres[0] + centres[1])
        off = cog - middle
        tasks = [apart @ forward, apart[2], apart @ left - spacing, off @ forward, off @ left]
        bending = np.array([values[i] - angle for i, angle in bent_knees])
        turned = [turning * pin.log3(rotation.T @ wanted) for rotation in rotations]
        return np.concatenate(
            [*turned, placing * np.array(tasks) / reach, knee_weight * bending, regularisation * values]
        )

    start = np.clip(q[index], low + 1e-6, high - 1e-6)
    for i, angle in bent_knees:
        start[i] = np.clip(angle, low[i] + 1e-6, high[i] - 1e-6)
    tight = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14, "max_nfev": 100}
    stages = [(0.3, 1e-2), (0.01, 1e-4), (0.0, 1e-7)]
    for weights in stages if min(len(leg.joints) for leg in legs) >= _FULL_LEG else stages[:2]:
        start = least_squares(residual, start, bounds=(low, high), args=weights, **tight).x
    solution = np.round(start, 6)
    rotations, centres, cog = measure(solution)
    off = cog - 0.5 * (centres[0] + centres[1])
    tilt = float(np.arccos(np.clip(min(rotation[2, 2] for rotation in rotations), -1.0, 1.0)))
    uneven = float(abs(centres[0][2] - centres[1][2]))
    margin = float(np.minimum(solution - low + inside, high + inside - solution).min())
    return moved, tilt, uneven, float(np.hypot(off[0], off[1])), margin


@dataclass(frozen=True)
class StanceGuesses:
    """Guesses about two feet."""

    frames: dict[str, str] = field(default_factory=dict)  # Link or new frame of each foot.
    fixed_frames: dict[str, Any] = field(default_factory=dict)  # New frames.
    soles: dict[str, Any] = field(default_factory=dict)  # Rectangle of each sole.
    standing: Array | None = None  # (n,) or None: standing posture.
    guesses: tuple[Guess, ...] = ()  # Reasons.
    missing: tuple[str, ...] = ()  # What could not be found.


def guess_stance(
    tree: RobotTree, legs: tuple[LimbChain, ...], hanging: Array, orientation: Orientation
) -> StanceGuesses:
    """Guess soles and standing posture of a biped.

    `legs`: left and right leg; empty for other robots; `hanging` (n,): posture with hanging arms;
    `orientation`: forward and left. Returns frames, soles and posture.
    """
    if len(legs) != 2:
        return StanceGuesses()
    soles: list[SoleGuess] = []
    missing: list[str] = []
    guesses: list[Guess] = []
    feet = {f"{side}_foot": leg for side, leg in zip(SIDES, legs, strict=True)}
    for (role, leg), side in zip(feet.items(), SIDES, strict=True):
        foot = leg.joints[-1]
        # From the hip to the lowest point of the foot in the configuration at rest.
        length = float(tree.poses[leg.start].translation[2] - tree.placed_points([foot])[:, 2].min())
        sole = find_sole(
            tree, foot, orientation.forward, tree.free_name(f"{side}_sole"), length, leg.said.sole
        )
        where = f"soles.{role}: link `{tree.joint_link(foot)}`"
        if not tree.collides[foot]:
            missing.append(f"{where} has no collision shape; the foot would touch nothing")
        elif sole is None:
            missing.append(f"{where} has no flat patch; balance needs flat soles")
        if sole is not None:
            soles.append(sole)
    if len(soles) != 2:
        frames = {role: tree.joint_link(leg.joints[-1]) for role, leg in feet.items()}
        return StanceGuesses(frames=frames, missing=tuple(missing))
    found = solve_standing(tree, legs, soles, orientation.forward, hanging)
    q, tilt, uneven, cog_error, margin = found
    stands = does_stand(tilt, uneven, cog_error)
    if not stands:
        missing.append(
            f"postures.standing: the legs do not allow flat, level soles under the COG: "
            f"tilt {tilt:.4f} rad, {1000 * uneven:.2f} mm uneven, COG {1000 * cog_error:.1f} mm off"
        )
    frames, fixed, rectangles = {}, {}, {}
    for (role, leg), sole in zip(feet.items(), soles, strict=True):
        foot = leg.joints[-1]
        frames[role] = sole.frame
        rectangles[role] = {
            key: [round(value, 4) + 0.0 for value in pair] for key, pair in (("x", sole.x), ("y", sole.y))
        }
        what = "a link with z normal to the sole"
        if not sole.exists:
            fixed[sole.frame] = frame_entry(tree, foot, sole.placement)
            what = "new: below the ankle, z normal to the sole"
        guesses.append(Guess(f"frames.{role}", sole.frame, what, "high"))
        size = f"{1000 * (sole.x[1] - sole.x[0]):.0f} × {1000 * (sole.y[1] - sole.y[0]):.0f} mm"
        solid = tree.collides[foot]
        reason = (
            f"largest rectangle in the flat patch of the {'collision' if solid else 'visual'} shapes, "
            f"{100 * sole.filled:.0f} % of its area, tilted by {np.degrees(sole.tilt):.1f}° at rest"
        )
        sure = sole.filled > 0.8 and solid and sole.tilt < 0.02
        guesses.append(Guess(f"soles.{role}", size, reason, "high" if sure else "medium"))
    if stands:
        reason = (
            f"soles level to {1000 * uneven:.3f} mm, COG {1000 * cog_error:.2f} mm from their middle, "
            f"legs {margin:.2f} rad from their limits"
        )
        guesses.append(Guess("postures.standing", "solved", reason, "high" if margin > 0.05 else "medium"))
    return StanceGuesses(frames, fixed, rectangles, q if stands else None, tuple(guesses), tuple(missing))
