"""Evaluation of the recipes of a marker map on the points of a recording, vectorised over frames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.linalg import solve_banded

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps import map_schema as schema


def normalise(vectors: Array) -> Array:
    """Scale vectors to unit length; a zero vector stays zero.

    `vectors` (..., 3). Returns (..., 3): their directions.
    """
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def reject(vectors: Array, axis: Array) -> Array:
    """Compute the components of vectors that are normal to axes.

    `vectors` (..., 3); `axis` (..., 3): unit vectors. Returns (..., 3).
    """
    return np.asarray(vectors - (vectors * axis).sum(axis=-1, keepdims=True) * axis)


def compute_chord_centre(proximal: Array, marker: Array, towards: Array, offset: float) -> Array:
    """Compute a joint centre beside a marker by the chord function of Plug-in Gait.

    The centre lies in the plane of `proximal`, `marker` and `towards`, at a distance of `offset` from the
    marker, and the directions from it to `proximal` and to the marker are at a right angle. `proximal`,
    `marker` (T, 3): centre of the proximal joint, and marker on the side of the joint, m; `towards` (T, 3):
    vectors that point roughly from the marker to the centre; `offset`: half the joint's width plus the
    marker's radius, m. Returns (T, 3): joint centres, m.
    """
    along = normalise(proximal - marker)
    distance = np.linalg.norm(proximal - marker, axis=-1, keepdims=True)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    inward = normalise(reject(towards, along))
    return np.asarray(marker + offset * (cosine * along + np.sqrt(1.0 - cosine**2) * inward))


def compute_hinge_centre(side: str, proximal: Array, marker: Array, distal: Array, offset: float) -> Array:
    """Compute the centre of an elbow from its lateral marker.

    The marker lies on the elbow's axis, `offset` from the plane in which the arm bends. That plane contains
    `proximal` and `distal` and is tangent to the sphere with radius `offset` about the marker: the centre is
    the point of contact, on the side to which elbows bend. (Plug-in Gait's chord function takes the plane
    through the marker instead, which at a right angle puts the centre about 8 mm off.) `side`: `left` or
    `right`; `proximal`, `marker`, `distal` (T, 3): centre of the shoulder, lateral marker of the elbow,
    centre of the wrist, m; `offset`: half the joint's width plus the marker's radius, m. Returns (T, 3):
    centres of the elbow, m.
    """
    line = normalise(distal - proximal)
    outward = reject(marker - proximal, line)
    distance = np.linalg.norm(outward, axis=-1, keepdims=True)
    outward = normalise(outward)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    sine = np.sqrt(1.0 - cosine**2) * (-1.0 if side == "left" else 1.0)
    return np.asarray(marker - offset * (cosine * outward + sine * np.cross(outward, line)))


def fit_cluster_pose(markers: Array, model: Array) -> tuple[Array, Array]:
    """Fit the pose of a rigid cluster by least squares (Kabsch 1976).

    `markers` (T, N, 3): measured positions of the markers, m; `model` (N, 3): coordinates of the same markers
    in the cluster's axes, m. Returns `rotation` (T, 3, 3): rotations from the cluster's axes to those of the
    measured positions; `origin` (T, 3): origin of the cluster's axes, m.
    """
    middle, model_middle = markers.mean(axis=1), model.mean(axis=0)
    covariance = (model - model_middle).T @ (markers - middle[:, None])
    u, _, vt = np.linalg.svd(covariance)
    # A rigid body cannot be reflected.
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    rotation = (u @ vt).transpose(0, 2, 1)
    return rotation, middle - rotation @ model_middle


# The plane of an elbow flexed by less than about 6 degrees (sine 0.1) is as uncertain as its markers: there
# the axis is smoothed over this much time before and after, s.
FLEXED_SINE, SMOOTHING_TIME = 0.1, 0.1
# Weight of the reference axis relative to the measured one: both weigh the same where the sine is 0.03.
REFERENCE_WEIGHT = 1e-5


def build_axes_frame(first: str, primary: Array, second: str, secondary: Array) -> Array:
    """Build rotations from the directions of two axes; those of limbs follow `human_motion.HANGING_LIMB`.

    `first`, `second`: names of the two axes, of `x`, `y`, `z`, different; `primary` (..., 3): direction of
    the first axis, which is kept; `secondary` (..., 3): direction of the second axis, which is made normal to
    the first. Returns (..., 3, 3): rotation matrices whose columns are the axes x, y, z.
    """
    i, j = "xyz".index(first), "xyz".index(second)
    k = 3 - i - j
    columns: list[Array] = [np.empty(0)] * 3
    columns[i] = normalise(primary)
    columns[j] = normalise(reject(secondary, columns[i]))
    columns[k] = np.cross(columns[i], columns[j])
    if (j - i) % 3 == 2:
        columns[k] = -columns[k]
    return np.stack(columns, axis=-1)


def estimate_flexion_axis(
    proximal: Array, joint: Array, distal: Array, rate: float, reference: Array | None = None
) -> Array:
    """Estimate the axis about which a hinge joint flexes, also while the joint is straight.

    The axis is normal to the plane of the three points while the joint is clearly flexed. When it is nearly
    straight, noise rotates that plane arbitrarily; there the axis is moved along with the proximal limb by
    parallel transport, without axial rotation, from and to the times when the joint is flexed, by weighted
    least squares. `proximal`, `joint`, `distal` (T, 3): centres of the proximal joint, the hinge joint and
    the distal joint, m; `rate`: sampling rate, Hz; `reference` (T, 3) or None: axis, as unit vectors, that is
    assumed if the joint never flexes. Returns (T, 3): unit vectors normal to the proximal limb; the distal
    limb flexes about them in the positive sense.
    """
    limb = normalise(joint - proximal)
    normal = np.cross(limb, normalise(distal - joint))
    basis = transport_along(limb)
    bend = np.einsum("tik,ti->tk", basis, normal) @ np.array([1.0, 1.0j])
    sine = np.abs(bend)
    weight = sine**6 / FLEXED_SINE**4
    right = sine**5 / FLEXED_SINE**4 * bend
    if reference is not None:
        aim = np.einsum("tik,ti->tk", basis, reference) @ np.array([1.0, 1.0j])
    else:
        aim = np.ones(len(limb), dtype=complex)
    weight = weight + REFERENCE_WEIGHT
    right = right + REFERENCE_WEIGHT * aim
    stiffness = (SMOOTHING_TIME * FLEXED_SINE * rate) ** 2
    bands = np.zeros((3, len(limb)))
    bands[0, 1:] = bands[2, :-1] = -stiffness
    bands[1] = weight + 2.0 * stiffness
    bands[1, [0, -1]] -= stiffness
    axis = solve_banded((1, 1), bands, right)
    return normalise(np.einsum("tik,tk->ti", basis, np.stack([axis.real, axis.imag], axis=1)))


def compute_swung_axis(limb: Array, trunk: Array) -> Array:
    """Compute the elbow's axis for an arm that swings from hanging to its direction without axial rotation.

    `limb` (T, 3): directions of the upper arm, unit vectors; `trunk` (T, 3, 3): rotations of the trunk; its
    axes are x forward, y left, z up. Returns (T, 3): axes of the elbow, unit vectors.
    """
    return np.einsum("tij,tj->ti", _shortest_rotation(-trunk[:, :, 2], limb), -trunk[:, :, 1])


def transport_along(limb: Array) -> Array:
    """Move two directions along with a limb by parallel transport, without axial rotation.

    `limb` (T, 3): directions of the limb, unit vectors. Returns (T, 3, 2): two unit vectors normal to the
    limb and to each other, which rotate with it but never about it.
    """
    start = np.eye(3)[np.abs(limb[0]).argmin()]
    first = normalise(reject(start, limb[0]))
    rotations = np.concatenate([np.eye(3)[None], _shortest_rotation(limb[:-1], limb[1:])])
    # Products of the first t rotations for all t, by doubling.
    step = 1
    while step < len(rotations):
        rotations[step:] = rotations[step:] @ rotations[:-step]
        step *= 2
    first = normalise(reject(rotations @ first, limb))
    return np.stack([first, np.cross(limb, first)], axis=-1)


def _shortest_rotation(start: Array, end: Array) -> Array:
    """Rotations (T, 3, 3) by the smallest angle that take unit vectors to others."""
    axis = np.cross(start, end)
    cross = np.zeros((len(axis), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = axis
    cross[:, [1, 2, 0], [2, 0, 1]] = -axis
    cosine = (start * end).sum(axis=1)
    return np.asarray(np.eye(3) + cross + cross @ cross / np.maximum(1.0 + cosine, 1e-9)[:, None, None])


Recipe = TypeVar("Recipe", bound=schema.Recipe)
Result = TypeVar("Result")

# Points that are closer than this coincide, m; no two markers are.
COINCIDING = 1e-6
# Sine of the angle below which two directions give no frame.
SMALLEST_SINE = 1e-6


@dataclass
class RecordedBody:
    """Points and frames of a recorded body by a marker map, each computed when it is first asked for."""

    marker_map: schema.MarkerMap  # Recipes for points, joints, frames and segments.
    # Mapping of str to (T, 3) array: tracks of the recording's points in the file's axes and unit.
    recorded: Mapping[str, Array]
    rate: float  # Sampling rate, Hz.
    source: str  # Name of the recording, for messages.
    # Mapping of str to (T, 3, 3) array: rotations of the joints of a skeleton to the file's axes.
    rotations: Mapping[str, Array] = field(default_factory=dict)
    # Mapping of str to (3,) array: points of a skeleton in its rest pose, m.
    rest: Mapping[str, Array] = field(default_factory=dict)
    # Metres per unit of the tracks: they are converted when asked for, because a map needs few of them, and
    # all at once would double the memory of a long recording.
    metres: float = 1.0
    # `points`, `frames`: points and frames computed so far; None for those that the recording cannot give. A
    # caller may correct `points`.
    points: dict[str, Array | None] = field(default_factory=dict)
    frames: dict[str, tuple[Array, Array | None] | None] = field(default_factory=dict)
    # Notes of the recipes that were used, in order, as keys.
    notes: dict[str, None] = field(default_factory=dict)
    # First recipes of points and frames that were computed by another one, which has no note.
    second_choices: dict[str, schema.Recipe] = field(default_factory=dict)
    arms_assumed: bool = False  # Whether no arm is recorded, and both are assumed to hang.
    _pending: list[str] = field(default_factory=list, init=False)

    def point(self, name: str) -> Array | None:
        """Compute the track of a joint, of a point of the map, or of a recorded point.

        Returns (T, 3) or None: track in the file's axes, m; None if the recording lacks the markers for it.
        Raises MotionError the recipes of the map refer to each other in a circle, or points that must differ
        coincide.
        """
        if name not in self.points:
            recipes = self.marker_map.joints.get(name) or self.marker_map.points.get(name)
            # A joint may be the recorded point with the same name.
            if recipes is None or self._pending[-1:] == [f"point {name}"]:
                recorded = self.recorded.get(name)
                return None if recorded is None else np.asarray(self.metres * recorded)
            evaluate = partial(self._point, name)
            self.points[name] = self._evaluate(f"point {name}", recipes, evaluate)
        return self.points[name]

    def frame(self, name: str) -> tuple[Array, Array | None] | None:
        """Compute a segment frame or an auxiliary frame of the map.

        Returns ((T, 3, 3) , (T, 3) array or None) or None: rotation to the file's axes, and the origin, m,
        where the recipe gives one; None if the recording lacks the markers for the frame. Raises MotionError
        the recipes of the map refer to each other in a circle, or points that must differ coincide.
        """
        if name not in self.frames:
            recipes = self.marker_map.segments.get(name) or self.marker_map.frames.get(name)
            if recipes is None:
                return None
            evaluate = partial(self._frame, name)
            self.frames[name] = self._evaluate(f"frame {name}", recipes, evaluate)
        return self.frames[name]

    def _evaluate(
        self, what: str, recipes: Sequence[Recipe], evaluate: Callable[[Recipe], Result | None]
    ) -> Result | None:
        """Evaluate the first recipe of which all points are recorded; refuse what is needed for itself."""
        if what in self._pending:
            chain = " -> ".join([*self._pending, what])
            raise MotionError(f"{self.source}: the marker map goes in a circle: {chain}")
        self._pending.append(what)
        found = None
        for recipe in recipes:
            found = evaluate(recipe)
            if found is not None:
                self.notes.update({recipe.note: None} if recipe.note else {})
                self.second_choices |= {} if recipe.note or recipe is recipes[0] else {what: recipes[0]}
                break
        self._pending.pop()
        return found

    def _all(self, names: Sequence[str]) -> list[Array] | None:
        """Tracks of points, or None if one is missing."""
        tracks = [track for track in map(self.point, names) if track is not None]
        return tracks if len(tracks) == len(names) else None

    def _point(self, name: str, recipe: schema.PointRecipe) -> Array | None:
        """Evaluate a recipe for a point."""
        if isinstance(recipe, schema.Mean):
            tracks = self._all(recipe.mean)
            return None if tracks is None else np.average(tracks, axis=0, weights=recipe.weights)
        if isinstance(recipe, schema.Offset):
            start, frame, tracks = (
                self.point(recipe.start),
                self.frame(recipe.frame),
                self._all(recipe.times or ()),
            )
            if start is None or frame is None or tracks is None:
                return None
            scale = float(np.linalg.norm(tracks[1] - tracks[0], axis=1).mean()) if tracks else 1.0
            return start + frame[0] @ (scale * np.asarray(recipe.by))
        if isinstance(recipe, schema.Chord):
            tracks = self._all([recipe.proximal, recipe.marker, recipe.wand or recipe.distal or ""])
            if tracks is None:
                return None
            proximal, marker, third = tracks
            if recipe.wand is not None:
                return compute_chord_centre(proximal, marker, marker - third, recipe.offset)
            return compute_hinge_centre(name.partition("_")[0], proximal, marker, third, recipe.offset)
        pose = self._cluster(recipe.cluster)
        return None if pose is None else pose[0] @ np.asarray(recipe.at) + pose[1]

    def _cluster(self, model: dict[str, schema.Vector]) -> tuple[Array, Array] | None:
        """Pose of a rigid cluster of markers, as rotation and origin."""
        tracks = {name: track for name in model if (track := self.point(name)) is not None}
        points = np.array([model[name] for name in tracks]).reshape(-1, 3)
        # Points on a line do not determine the rotation about it.
        if len(tracks) < 3 or np.linalg.matrix_rank(points - points[0], tol=1e-4) < 2:
            return None
        return fit_cluster_pose(np.stack(list(tracks.values()), axis=1), points)

    def _frame(self, name: str, recipe: schema.FrameRecipe) -> tuple[Array, Array | None] | None:
        """Evaluate a recipe for a frame, at rest or over time."""
        origin = None if recipe.origin is None else self.point(recipe.origin)
        if recipe.origin is not None and origin is None:
            return None
        if isinstance(recipe, schema.ClusterFrame):
            pose = self._cluster(recipe.cluster)
            return None if pose is None else (pose[0], pose[1] if origin is None else origin)
        at_rest = recipe.turns_with is not None
        if at_rest and recipe.turns_with not in self.rotations:
            return None
        side = name.partition("_")[0]
        if isinstance(recipe, schema.Axes):
            (first, primary), (second, secondary) = recipe.axes.items()
            one, two = self._direction(primary, at_rest), self._direction(secondary, at_rest)
        else:
            first, second, one = "x", "y" if recipe.thumb else "z", self._direction(recipe.along, at_rest)
            if one is None:
                return None
            if recipe.bends_at is not None:
                tracks = self._all(recipe.bends_at)
                two = None
                if tracks is not None:
                    # The axis about which the hinge joint flexes.
                    trunk = self.frame("trunk") or self.frame("pelvis")
                    proximal, joint, distal = tracks
                    limb = normalise(joint - proximal)
                    reference = None if trunk is None else compute_swung_axis(limb, trunk[0])
                    axis = estimate_flexion_axis(proximal, joint, distal, self.rate, reference)
                    two = -axis if side == "left" else axis
            else:
                two = self._direction(recipe.thumb or recipe.lateral or (0.0, 0.0, 0.0), at_rest)
                if recipe.thumb is not None and two is not None and side == "left":
                    two = -two
        if one is None or two is None:
            return None
        sine = np.linalg.norm(reject(normalise(two), normalise(one)), axis=-1)
        parallel = np.flatnonzero(np.atleast_1d(sine < SMALLEST_SINE) | ~np.any(one, axis=-1))
        if parallel.size:
            when = "in the rest pose" if at_rest else f"at frame {parallel[0]}"
            raise MotionError(
                f"{self.source}: the two directions that the marker map gives for the frame {name} are "
                f"parallel {when}; they must differ"
            )
        rotation = build_axes_frame(first, one, second, two)
        return (self.rotations[recipe.turns_with] @ rotation if recipe.turns_with else rotation), origin

    def _direction(self, direction: schema.Direction, at_rest: bool) -> Array | None:
        """Vector of a direction, at rest (3,) or over time (T, 3); points that coincide give none."""
        if len(direction) == 3:
            return np.asarray(direction, dtype=np.float64)
        start, end = direction
        if at_rest:
            known = start in self.rest and end in self.rest
            vector = self.rest[end] - self.rest[start] if known else None
        else:
            tracks = self._all([start, end])
            vector = None if tracks is None else tracks[1] - tracks[0]
        if vector is not None:
            close = np.flatnonzero(np.linalg.norm(np.atleast_2d(vector), axis=1) < COINCIDING)
            if close.size:
                when = "in the rest pose" if at_rest else f"at frame {close[0]}"
                raise MotionError(
                    f"{self.source}: points {start} and {end} coincide {when}; they must be apart"
                )
        return vector
