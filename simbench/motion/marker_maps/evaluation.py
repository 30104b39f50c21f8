"""A marker map's recipes carried out on a recording's points."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps import schema
from simbench.motion.marker_maps.centres import chord, cluster_pose, hinge_centre, unit
from simbench.motion.marker_maps.frames import axes_frame, flexion_axis, limb_frame, swung_axis

Recipe = TypeVar("Recipe", bound=schema.Recipe)
Result = TypeVar("Result")

# Shorter than any two markers' distance, m.
COINCIDING = 1e-6


@dataclass
class Body:
    """Points and frames of one recording, worked out when first asked for.

    Parameters
    ----------
    marker_map : MarkerMap
    seen : mapping of str to (T, 3) array
        The recording's points, m.
    rate : float
        Hz.
    source : str
        For messages.
    turns : mapping of str to (T, 3, 3) array
        Rotations of a skeleton's joints.
    rest : mapping of str to (3,) array
        A skeleton's points in its rest pose, m.
    points, frames : dict
        What is known so far; None what the recording cannot give. A caller may correct `points`.
    notes : dict
        Notes of the recipes that counted, in order.
    """

    marker_map: schema.MarkerMap
    seen: Mapping[str, Array]
    rate: float
    source: str
    turns: Mapping[str, Array] = field(default_factory=dict)
    rest: Mapping[str, Array] = field(default_factory=dict)
    points: dict[str, Array | None] = field(default_factory=dict)
    frames: dict[str, tuple[Array, Array | None] | None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    _pending: list[str] = field(default_factory=list)

    def point(self, name: str) -> Array | None:
        """Track (T, 3) of a joint, of a point of the map, or of a point seen, m; None without the markers."""
        if name not in self.points:
            recipes = self.marker_map.joints.get(name) or self.marker_map.points.get(name)
            # A joint may be the point seen under its own name.
            if recipes is None or self._pending[-1:] == [f"point {name}"]:
                return self.seen.get(name)
            self._enter(f"point {name}")
            self.points[name] = self._first(recipes, lambda recipe: self._point(name, recipe))
            self._pending.pop()
        return self.points[name]

    def frame(self, name: str) -> tuple[Array, Array | None] | None:
        """Rotation (T, 3, 3) and, where the recipe gives one, origin (T, 3); None without the markers."""
        if name not in self.frames:
            recipes = self.marker_map.segments.get(name) or self.marker_map.frames.get(name)
            if recipes is None:
                return None
            self._enter(f"frame {name}")
            self.frames[name] = self._first(recipes, lambda recipe: self._frame(name, recipe))
            self._pending.pop()
        return self.frames[name]

    def _enter(self, what: str) -> None:
        if what in self._pending:
            chain = " -> ".join([*self._pending, what])
            raise MotionError(f"{self.source}: the marker map goes in a circle: {chain}")
        self._pending.append(what)

    def _first(
        self, recipes: Sequence[Recipe], carry_out: Callable[[Recipe], Result | None]
    ) -> Result | None:
        for recipe in recipes:
            result = carry_out(recipe)
            if result is not None:
                if recipe.note:
                    self.notes[recipe.note] = None
                return result
        return None

    def _all(self, names: list[str]) -> list[Array] | None:
        tracks = [self.point(name) for name in names]
        return None if any(track is None for track in tracks) else [t for t in tracks if t is not None]

    def _point(self, name: str, recipe: schema.PointRecipe) -> Array | None:
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
        if ends is None:
            return 1.0
        tracks = self._all(list(ends))
        return None if tracks is None else float(np.linalg.norm(tracks[1] - tracks[0], axis=1).mean())

    def _chord(self, name: str, recipe: schema.Chord) -> Array | None:
        other = recipe.wand or recipe.distal or ""
        tracks = self._all([recipe.proximal, recipe.marker, other])
        if tracks is None:
            return None
        proximal, marker, third = tracks
        if recipe.wand is not None:
            return chord(proximal, marker, marker - third, recipe.offset)
        return hinge_centre(name.partition("_")[0], proximal, marker, third, recipe.offset)

    def _bend(self, proximal: Array, joint: Array, distal: Array) -> Array:
        trunk = self.frame("trunk") or self.frame("pelvis")
        reference = None if trunk is None else swung_axis(unit(joint - proximal), trunk[0])
        return flexion_axis(proximal, joint, distal, self.rate, reference)

    def _cluster(self, model: dict[str, schema.Vector]) -> tuple[Array, Array] | None:
        names = [name for name in model if self.point(name) is not None]
        places = np.array([model[name] for name in names]).reshape(-1, 3)
        tracks = self._all(names)
        # Three points on a line leave a rotation open.
        if tracks is None or len(names) < 3 or np.linalg.matrix_rank(places - places[0], tol=1e-4) < 2:
            return None
        return cluster_pose(np.stack(tracks, axis=1), places)

    def _frame(self, name: str, recipe: schema.FrameRecipe) -> tuple[Array, Array | None] | None:
        origin = None
        if recipe.origin is not None:
            origin = self.point(recipe.origin)
            if origin is None:
                return None
        if isinstance(recipe, schema.ClusterFrame):
            pose = self._cluster(recipe.cluster)
            return None if pose is None else (pose[0], pose[1] if origin is None else origin)
        if recipe.turns_with is not None and recipe.turns_with not in self.turns:
            return None
        rotation = self._axes(name, recipe)
        if rotation is None:
            return None
        if recipe.turns_with is not None:
            rotation = self.turns[recipe.turns_with] @ rotation
        return rotation, origin

    def _axes(self, name: str, recipe: schema.Axes | schema.Limb) -> Array | None:
        at_rest = recipe.turns_with is not None
        if isinstance(recipe, schema.Axes):
            (first, primary), (second, secondary) = recipe.axes.items()
            one, two = self._direction(primary, at_rest), self._direction(secondary, at_rest)
            return None if one is None or two is None else axes_frame(first, one, second, two)
        side = name.partition("_")[0]
        along = self._direction(recipe.along, at_rest)
        if along is None:
            return None
        if recipe.bends_at is not None:
            tracks = self._all(list(recipe.bends_at))
            if tracks is None:
                return None
            axis = self._bend(*tracks)
            return limb_frame(side, along, lateral=-axis if side == "left" else axis)
        reference = self._direction(recipe.thumb or recipe.lateral or (0.0, 0.0, 0.0), at_rest)
        if reference is None:
            return None
        if recipe.thumb is not None:
            return limb_frame(side, along, thumb=reference)
        return limb_frame(side, along, lateral=reference)

    def _direction(self, direction: schema.Direction, at_rest: bool) -> Array | None:
        if len(direction) == 3:
            return np.asarray(direction, dtype=np.float64)
        start, end = direction
        if at_rest:
            there = start in self.rest and end in self.rest
            vector = self.rest[end] - self.rest[start] if there else None
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
