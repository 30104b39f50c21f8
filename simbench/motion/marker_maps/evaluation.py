"""Evaluation of the recipes of a marker map on the points of a recording."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps import schema
from simbench.motion.marker_maps.centres import (
    compute_chord_centre,
    compute_hinge_centre,
    fit_cluster_pose,
    normalise,
    reject,
)
from simbench.motion.marker_maps.frames import (
    build_axes_frame,
    build_limb_frame,
    compute_swung_axis,
    estimate_flexion_axis,
)

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
    # Mapping of str to (T, 3) array: tracks of the recording's points in the file's axes, m.
    recorded: Mapping[str, Array]
    rate: float  # Sampling rate, Hz.
    source: str  # Name of the recording, for messages.
    # Mapping of str to (T, 3, 3) array: rotations of the joints of a skeleton to the file's axes.
    rotations: Mapping[str, Array] = field(default_factory=dict)
    # Mapping of str to (3,) array: points of a skeleton in its rest pose, m.
    rest: Mapping[str, Array] = field(default_factory=dict)
    # `points`, `frames`: points and frames computed so far; None for those that the recording cannot give. A
    # caller may correct `points`.
    points: dict[str, Array | None] = field(default_factory=dict)
    frames: dict[str, tuple[Array, Array | None] | None] = field(default_factory=dict)
    # Notes of the recipes that were used, in order, as keys.
    notes: dict[str, None] = field(default_factory=dict)
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
                return self.recorded.get(name)
            self._enter(f"point {name}")
            self.points[name] = self._first(recipes, lambda recipe: self._point(name, recipe))
            self._pending.pop()
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
            self._enter(f"frame {name}")
            self.frames[name] = self._first(recipes, lambda recipe: self._frame(name, recipe))
            self._pending.pop()
        return self.frames[name]

    def _enter(self, what: str) -> None:
        """Note that a point or frame is being computed; refuse one that is needed for itself."""
        if what in self._pending:
            chain = " -> ".join([*self._pending, what])
            raise MotionError(f"{self.source}: the marker map goes in a circle: {chain}")
        self._pending.append(what)

    def _first(self, recipes: Sequence[Recipe], evaluate: Callable[[Recipe], Result | None]) -> Result | None:
        """Evaluate the first recipe for which the recording has all points."""
        for recipe in recipes:
            result = evaluate(recipe)
            if result is not None:
                if recipe.note:
                    self.notes[recipe.note] = None
                return result
        return None

    def _all(self, names: list[str]) -> list[Array] | None:
        """Tracks of points, or None if one is missing."""
        tracks = [self.point(name) for name in names]
        return None if any(track is None for track in tracks) else [t for t in tracks if t is not None]

    def _point(self, name: str, recipe: schema.PointRecipe) -> Array | None:
        """Evaluate a recipe for a point."""
        if isinstance(recipe, schema.Mean):
            tracks = self._all(recipe.mean)
            return None if tracks is None else np.average(tracks, axis=0, weights=recipe.weights)
        if isinstance(recipe, schema.Offset):
            start, frame = self.point(recipe.start), self.frame(recipe.frame)
            scale = self._distance(recipe.times)
            if start is None or frame is None or scale is None:
                return None
            return start + frame[0] @ (scale * np.asarray(recipe.by))
        if isinstance(recipe, schema.Chord):
            return self._chord(name, recipe)
        pose = self._cluster(recipe.cluster)
        return None if pose is None else pose[0] @ np.asarray(recipe.at) + pose[1]

    def _distance(self, ends: tuple[str, str] | None) -> float | None:
        """Mean distance of two points, m; 1 without points, None if one is missing."""
        if ends is None:
            return 1.0
        tracks = self._all(list(ends))
        return None if tracks is None else float(np.linalg.norm(tracks[1] - tracks[0], axis=1).mean())

    def _chord(self, name: str, recipe: schema.Chord) -> Array | None:
        """Joint centre inside a lateral marker."""
        other = recipe.wand or recipe.distal or ""
        tracks = self._all([recipe.proximal, recipe.marker, other])
        if tracks is None:
            return None
        proximal, marker, third = tracks
        if recipe.wand is not None:
            return compute_chord_centre(proximal, marker, marker - third, recipe.offset)
        return compute_hinge_centre(name.partition("_")[0], proximal, marker, third, recipe.offset)

    def _flexion_axis(self, proximal: Array, joint: Array, distal: Array) -> Array:
        """Axis (T, 3) about which a hinge joint flexes."""
        trunk = self.frame("trunk") or self.frame("pelvis")
        reference = None if trunk is None else compute_swung_axis(normalise(joint - proximal), trunk[0])
        return estimate_flexion_axis(proximal, joint, distal, self.rate, reference)

    def _cluster(self, model: dict[str, schema.Vector]) -> tuple[Array, Array] | None:
        """Pose of a rigid cluster of markers, as rotation and origin."""
        names = [name for name in model if self.point(name) is not None]
        model_points = np.array([model[name] for name in names]).reshape(-1, 3)
        tracks = self._all(names)
        # Points on a line do not determine the rotation about it.
        if (
            tracks is None
            or len(names) < 3
            or np.linalg.matrix_rank(model_points - model_points[0], tol=1e-4) < 2
        ):
            return None
        return fit_cluster_pose(np.stack(tracks, axis=1), model_points)

    def _frame(self, name: str, recipe: schema.FrameRecipe) -> tuple[Array, Array | None] | None:
        """Evaluate a recipe for a frame."""
        origin = None
        if recipe.origin is not None:
            origin = self.point(recipe.origin)
            if origin is None:
                return None
        if isinstance(recipe, schema.ClusterFrame):
            pose = self._cluster(recipe.cluster)
            return None if pose is None else (pose[0], pose[1] if origin is None else origin)
        if recipe.turns_with is not None and recipe.turns_with not in self.rotations:
            return None
        rotation = self._axes(name, recipe)
        if rotation is None:
            return None
        if recipe.turns_with is not None:
            rotation = self.rotations[recipe.turns_with] @ rotation
        return rotation, origin

    def _axes(self, name: str, recipe: schema.Axes | schema.Limb) -> Array | None:
        """Rotation of a frame from directions, at rest (3, 3) or over time (T, 3, 3)."""
        at_rest = recipe.turns_with is not None
        if isinstance(recipe, schema.Axes):
            (first, primary), (second, secondary) = recipe.axes.items()
            one, two = self._direction(primary, at_rest), self._direction(secondary, at_rest)
            if one is None or two is None:
                return None
            self._check_independent(name, one, two, at_rest)
            return build_axes_frame(first, one, second, two)
        side = name.partition("_")[0]
        along = self._direction(recipe.along, at_rest)
        if along is None:
            return None
        if recipe.bends_at is not None:
            tracks = self._all(list(recipe.bends_at))
            if tracks is None:
                return None
            axis = self._flexion_axis(*tracks)
            self._check_independent(name, along, axis, at_rest)
            return build_limb_frame(side, along, lateral=-axis if side == "left" else axis)
        reference = self._direction(recipe.thumb or recipe.lateral or (0.0, 0.0, 0.0), at_rest)
        if reference is None:
            return None
        self._check_independent(name, along, reference, at_rest)
        if recipe.thumb is not None:
            return build_limb_frame(side, along, thumb=reference)
        return build_limb_frame(side, along, lateral=reference)

    def _check_independent(self, name: str, primary: Array, secondary: Array, at_rest: bool) -> None:
        """Refuse directions (..., 3) of two axes that are parallel, or of no length."""
        sine = np.linalg.norm(reject(normalise(secondary), normalise(primary)), axis=-1)
        parallel = np.flatnonzero(np.atleast_1d(sine < SMALLEST_SINE) | ~np.any(primary, axis=-1))
        if parallel.size:
            when = "in the rest pose" if at_rest else f"at frame {parallel[0]}"
            raise MotionError(
                f"{self.source}: the two directions that the marker map gives for the frame {name} are "
                f"parallel {when}; they must differ"
            )

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
