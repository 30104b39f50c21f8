"""The standing posture: knees bent, soles flat and level, the COG above the middle of the soles."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.robot.scaffold.chains import LimbChain, bending_range
from simbench.robot.scaffold.soles import SoleGuess
from simbench.robot.scaffold.tree import Array, RobotTree

_BEND = 0.5
"""Angle of the knees, rad."""
_LEVEL = 5e-5
_FLAT = 5e-4


@dataclass(frozen=True)
class StandingPosture:
    """A posture on two feet."""

    q: Array  # (n,): positions of all joints, rad.
    tilt: float  # Largest angle between a sole and the floor, rad.
    uneven: float  # Difference in height of the soles, m.
    cog_error: float  # Horizontal distance of the COG from the middle of the soles, m.
    margin: float  # Least distance of a leg's joint from its limits, rad.

    @property
    def stands(self) -> bool:
        """Whether the soles are flat and level and the COG is above their middle."""
        return self.tilt < _FLAT and self.uneven < _LEVEL and self.cog_error < 1e-3


def solve_standing(
    tree: RobotTree,
    legs: tuple[LimbChain, LimbChain],
    soles: tuple[SoleGuess, SoleGuess],
    forward: Array,
    q: Array,
) -> StandingPosture:
    """Find a standing posture with the given arms.

    The root stays upright; the legs' joints put both soles level, parallel and as far apart as in the zero
    configuration, with the hips so high that the knees are bent by half a radian from straight, and the COG
    above the middle of the soles. `legs`: left and right leg; `soles`: left and right sole; `forward` (3,):
    forward direction in the root link's frame; `q` (n,): positions of all joints; those of the legs are
    replaced. Returns the best posture found, whether it stands or not.
    """
    tries = []
    for bend in (_BEND, 0.35, 0.7, 0.2):
        posture = _descend(tree, legs, soles, forward, q, bend)
        if posture.stands and posture.margin > 0.03:
            return posture
        tries.append(posture)
    return next((each for each in tries if each.stands), tries[0])


def _descend(
    tree: RobotTree,
    legs: tuple[LimbChain, LimbChain],
    soles: tuple[SoleGuess, SoleGuess],
    forward: Array,
    q: Array,
    bend: float,
) -> StandingPosture:
    """Solve for the legs' joints by least squares within their limits, knees near a given angle."""
    joints = [joint for leg in legs for joint in leg.joints]
    index = np.array(joints) - 1
    low, high = np.array([tree.limits(joint) for joint in joints]).T
    inside = np.minimum(0.01, 0.1 * (high - low))
    low, high = low + inside, high - inside
    left = np.cross(np.array([0.0, 0.0, 1.0]), forward)
    wanted = np.column_stack([forward, left, [0.0, 0.0, 1.0]])
    data, moved = tree.model.createData(), q.copy()
    middles = [np.array([sum(sole.x) / 2, sum(sole.y) / 2, 0.0]) for sole in soles]
    spacing = _spacing(tree, legs, soles, middles, left)
    reach = 0.2 * float(
        np.linalg.norm(tree.poses[legs[0].joints[-1]].translation - tree.poses[legs[0].start].translation)
    )
    knees = [_knee_angle(tree, leg, bend) for leg in legs]
    knee_index = [joints.index(leg.middle) for leg in legs]

    def measure(values: Array) -> tuple[list[Array], list[Array], Array]:
        moved[index] = values
        pin.centerOfMass(tree.model, data, moved)
        # Pinocchio leaves out what does not move against the world: here the root link.
        root = tree.model.inertias[0]
        cog = (data.mass[0] * data.com[0] + root.mass * root.lever) / (data.mass[0] + root.mass)
        feet = [data.oMi[leg.joints[-1]] * sole.placement for leg, sole in zip(legs, soles, strict=True)]
        turned = [pin.log3(foot.rotation.T @ wanted) for foot in feet]
        return turned, [foot.act(middle) for foot, middle in zip(feet, middles, strict=True)], cog

    def residual(values: Array, knee_weight: float, regularisation: float) -> Array:
        turned, centres, cog = measure(values)
        apart, middle = centres[0] - centres[1], 0.5 * (centres[0] + centres[1])
        off = cog - middle
        tasks = [apart @ forward, apart[2], apart @ left - spacing, off @ forward, off @ left]
        bending = [values[i] - angle for i, angle in zip(knee_index, knees, strict=True)]
        return np.concatenate(
            [*turned, np.array(tasks) / reach, knee_weight * np.array(bending), regularisation * values]
        )

    start = np.clip(q[index], low + 1e-6, high - 1e-6)
    for i, angle in zip(knee_index, knees, strict=True):
        start[i] = np.clip(angle, low[i] + 1e-6, high[i] - 1e-6)
    for weights in ((0.3, 1e-2), (0.01, 1e-4), (0.0, 1e-7)):
        start = least_squares(
            residual,
            start,
            bounds=(low, high),
            args=weights,
            xtol=1e-14,
            ftol=1e-14,
            gtol=1e-14,
            max_nfev=100,
        ).x
    solution = np.round(start, 6)
    _, centres, cog = measure(solution)
    ups = [
        (data.oMi[leg.joints[-1]] * sole.placement).rotation[2, 2]
        for leg, sole in zip(legs, soles, strict=True)
    ]
    off = cog - 0.5 * (centres[0] + centres[1])
    margin = float(np.minimum(solution - low + inside, high + inside - solution).min())
    return StandingPosture(
        q=moved.copy(),
        tilt=float(np.arccos(np.clip(min(ups), -1.0, 1.0))),
        uneven=float(abs(centres[0][2] - centres[1][2])),
        cog_error=float(np.hypot(off[0], off[1])),
        margin=margin,
    )


def _spacing(
    tree: RobotTree,
    legs: tuple[LimbChain, LimbChain],
    soles: tuple[SoleGuess, SoleGuess],
    middles: list[Array],
    left: Array,
) -> float:
    """Choose the lateral distance of the middles of the soles, m: as at rest, and at least their width."""
    hips = [tree.poses[leg.start].translation @ left for leg in legs]
    widths = [sole.y[1] - sole.y[0] for sole in soles]
    feet = [
        (tree.poses[leg.joints[-1]] * sole.placement).act(middle) @ left
        for leg, sole, middle in zip(legs, soles, middles, strict=True)
    ]
    least = 1.1 * max(widths)
    return max(float(feet[0] - feet[1] if feet[0] - feet[1] > least else hips[0] - hips[1]), least)


def _knee_angle(tree: RobotTree, leg: LimbChain, bend: float) -> float:
    """Position of the knee that is bent by an angle from straight, as far as its limits allow, rad."""
    straight, bent = bending_range(tree, leg)
    return straight + float(np.clip(bent - straight, -bend, bend))
