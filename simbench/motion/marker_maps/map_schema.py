"""The schema of a marker map: which names identify it, and how its points give joints and segment frames.

`{side}` in a map stands for `left` and `right`, `{Side}` for `Left` and `Right`, `{S}` for `L` and `R`, `{s}`
for `l` and `r`: an entry with a placeholder is written once and holds for both sides. Wherever a recipe may
stand, a list of recipes may: the first one whose points are all in the recording is used.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

# Lengths in m, ratios and directions: beyond this, squares of squares overflow in the arithmetic.
LARGEST_NUMBER = 1e3
# Weights with a smaller sum extrapolate too far.
SMALLEST_SUM = 1e-3
Number = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
# From one point to another, or a constant in the axes of a skeleton's rest pose.
Direction = tuple[str, str] | Vector
SIDE_NAMES = {
    "left": {"{side}": "left", "{Side}": "Left", "{S}": "L", "{s}": "l"},
    "right": {"{side}": "right", "{Side}": "Right", "{S}": "R", "{s}": "r"},
}


class Recipe(BaseModel):
    """Base of all recipes; a recipe computes a point or a frame from other points and frames."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    # Text for the user if this recipe is the one that is used.
    note: str | None = None

    def named_points(self) -> list[str]:
        """List the points, joints and frames that the recipe names, in the order of its keys."""
        return [name for key, value in self if key != "note" for name in _texts(value)]


class Mean(Recipe):
    """The weighted mean of points; without weights, all count the same."""

    mean: list[str] = Field(min_length=1)
    weights: list[Number] | None = None

    @model_validator(mode="after")
    def _same_number(self) -> "Mean":
        if self.weights is not None and (
            len(self.weights) != len(self.mean) or sum(self.weights) < SMALLEST_SUM
        ):
            raise ValueError("needs one weight for each point, with a sum of at least 0.001")
        return self


class Offset(Recipe):
    """`start` moved by `by` along the axes of `frame`, m, or `times` the mean distance of two points."""

    start: str
    frame: str
    by: Vector
    times: tuple[str, str] | None = None


class Chord(Recipe):
    """A joint centre `offset` m inside a lateral marker, on the joint's axis.

    With `wand`, a marker on the side of the proximal limb, it follows from Plug-in Gait's chord function: in
    the plane of the three points, with a right angle between the directions to `proximal` and to the marker.
    With `distal`, the axis is normal to the plane in which the elbow bends.
    """

    proximal: str
    marker: str
    offset: float = Field(gt=0, le=LARGEST_NUMBER, allow_inf_nan=False)
    distal: str | None = None
    wand: str | None = None

    @model_validator(mode="after")
    def _one_plane(self) -> "Chord":
        if (self.distal is None) == (self.wand is None):
            raise ValueError("needs either 'distal' or 'wand'")
        return self


class ClusterPoint(Recipe):
    """The point `at` of a rigid cluster whose markers have the coordinates `cluster`, m."""

    cluster: dict[str, Vector] = Field(min_length=3)
    at: Vector


class Axes(Recipe):
    """A frame from two axes: the first is exact, the second made normal to it.

    With `turns_with`, the axes are those in the rest pose of a skeleton, and rotate with that joint of it.
    """

    axes: dict[Literal["x", "y", "z"], Direction] = Field(min_length=2, max_length=2)
    turns_with: str | None = None
    origin: str | None = None


class Limb(Recipe):
    """The frame of a limb: x `along` it, rotation about x by the thumb's side, the lateral side, or the bend.

    `thumb` points from the little finger's side to the thumb's when the forearm is not pronated, `lateral`
    from the medial to the lateral epicondyle; `bends_at` names three joints in whose plane the limb lies.
    """

    along: Direction
    thumb: Direction | None = None
    lateral: Direction | None = None
    bends_at: tuple[str, str, str] | None = None
    turns_with: str | None = None
    origin: str | None = None

    @model_validator(mode="after")
    def _one_reference(self) -> "Limb":
        if sum(value is not None for value in (self.thumb, self.lateral, self.bends_at)) != 1:
            raise ValueError("needs exactly one of 'thumb', 'lateral', 'bends_at'")
        return self


class ClusterFrame(Recipe):
    """The axes in which the markers of a rigid cluster have the coordinates `cluster`, m."""

    cluster: dict[str, Vector] = Field(min_length=3)
    origin: str | None = None


# A recipe is told apart by a key that only one kind has.
_POINT_KEYS = {"mean": "mean", "by": "offset", "offset": "chord", "cluster": "cluster"}
_FRAME_KEYS = {"axes": "axes", "along": "limb", "cluster": "cluster"}
_BY_POINT_KEY, _BY_FRAME_KEY = (
    Discriminator(
        lambda value, keys=keys: next(  # type: ignore[misc]
            (keys[key] for key in keys if isinstance(value, dict) and key in value), None
        ),
        custom_error_type="recipe",
        custom_error_message=f"a recipe has one of the keys {', '.join(keys)}",
    )
    for keys in (_POINT_KEYS, _FRAME_KEYS)
)
PointRecipe = Annotated[
    Annotated[Mean, Tag("mean")]
    | Annotated[Offset, Tag("offset")]
    | Annotated[Chord, Tag("chord")]
    | Annotated[ClusterPoint, Tag("cluster")],
    _BY_POINT_KEY,
]
FrameRecipe = Annotated[
    Annotated[Axes, Tag("axes")] | Annotated[Limb, Tag("limb")] | Annotated[ClusterFrame, Tag("cluster")],
    _BY_FRAME_KEY,
]


class MarkerMap(BaseModel):
    """How a marker set or a skeleton gives a person's joints and segments.

    Parameters
    ----------
    description : str
        The marker set or skeleton that the map is for.
    identified_by : list of lists of str
        Sets of names, any one of which identifies the map; of the names with a side, one side is enough.
    aliases : mapping of str to list of str
        Other names of a point.
    unit, up : str or None
        Unit of length and vertical axis where neither file nor user declares them.
    in_place : bool
        Whether the recording is already in the world frame and its joints are final: it is not rotated to the
        heading nor moved to the floor, and bone lengths are not made constant.
    points, joints : mapping of str to list of recipes
        Auxiliary points, and the joints of the motion.
    frames, segments : mapping of str to list of recipes
        Auxiliary frames, and the segments of the motion.
    feet : list of str
        Points of which the lowest ones touch the floor.
    facing : list of (str, str)
        Pairs of points of which the second is in front of the first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    description: str
    identified_by: list[list[str]] = Field(min_length=1)
    aliases: dict[str, list[str]] = {}
    unit: Literal["m", "cm", "mm", "in", "cmu"] | None = None
    up: Literal["x", "y", "z", "-x", "-y", "-z"] | None = None
    in_place: bool = False
    points: dict[str, list[PointRecipe]] = {}
    joints: dict[str, list[PointRecipe]]
    frames: dict[str, list[FrameRecipe]] = {}
    segments: dict[str, list[FrameRecipe]]
    feet: list[str] = []
    facing: list[tuple[str, str]] = []

    @model_validator(mode="before")
    @classmethod
    def _both_sides(cls, data: Any) -> Any:
        """Expand entries that hold for both sides, and write every recipe as a list of recipes."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for section in ("aliases", "points", "joints", "frames", "segments"):
            if isinstance(data.get(section), dict):
                entries = data[section].items()
                both = {
                    fill_placeholders(name, side): fill_placeholders(value, side)
                    for side in SIDE_NAMES.values()
                    for name, value in entries
                    if has_side_placeholder(name)
                }
                # An entry for one side takes precedence over one for both.
                data[section] = both | {
                    name: value for name, value in entries if not has_side_placeholder(name)
                }
        for section in ("points", "joints", "frames", "segments"):
            if isinstance(data.get(section), dict):
                data[section] = {
                    # A bare name stands for that point.
                    name: [
                        {"mean": [item]} if isinstance(item, str) else item
                        for item in (value if isinstance(value, list) else [value])
                    ]
                    for name, value in data[section].items()
                }
        for section in ("feet", "facing"):
            if isinstance(data.get(section), list):
                data[section] = [
                    fill_placeholders(item, side)
                    for item in data[section]
                    for side in list(SIDE_NAMES.values())[: 2 if has_side_placeholder(str(item)) else 1]
                ]
        return data

    @model_validator(mode="after")
    def _sides_known(self) -> "MarkerMap":
        """Check that recipes that differ between the sides belong to a name with a side."""
        for section in (self.points, self.joints, self.frames, self.segments):
            for name, recipes in section.items():
                needs_side = any(isinstance(r, Limb) or (isinstance(r, Chord) and r.distal) for r in recipes)
                if needs_side and name.partition("_")[0] not in ("left", "right"):
                    raise ValueError(f"{name}: a limb's name must begin with left_ or right_")
        return self


def has_side_placeholder(text: Any) -> bool:
    """Tell whether a text has a placeholder for the side.

    `text`: A name; anything else is converted to text. Returns whether one of `{side}`, `{Side}`, `{S}`,
    `{s}` is in it.
    """
    return any(mark in str(text) for mark in SIDE_NAMES["left"])


def fill_placeholders(value: Any, side: Mapping[str, str]) -> Any:
    """Fill the placeholders in all texts of a nested value for one side, a value of `SIDE_NAMES`."""
    if isinstance(value, str):
        for mark, text in side.items():
            value = value.replace(mark, text)
        return value
    if isinstance(value, list):
        return [fill_placeholders(item, side) for item in value]
    if isinstance(value, dict):
        return {fill_placeholders(key, side): fill_placeholders(item, side) for key, item in value.items()}
    return value


def _texts(value: Any) -> list[str]:
    """List the texts in a nested value; of a mapping whose keys are no axes, the keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        points = [] if set(value) <= {"x", "y", "z"} else list(value)
        return [*points, *(text for item in value.values() for text in _texts(item))]
    return [text for item in value for text in _texts(item)] if isinstance(value, list | tuple) else []
