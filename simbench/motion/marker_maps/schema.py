"""What a marker map may say: which names identify it, and how its points give joints and segment frames.

`{side}` in a map stands for `left` and `right`, `{Side}` for `Left` and `Right`, `{S}` for `L` and `R`, `{s}`
for `l` and `r`: an entry with a placeholder is written once and holds for both sides. Wherever a recipe may
stand, a list of recipes may: the first one whose points are all in the recording counts.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

Vector = tuple[float, float, float]
# From one point to another, or a constant in the axes of a skeleton's rest pose.
Direction = tuple[str, str] | Vector
SIDE_NAMES = (
    {"{side}": "left", "{Side}": "Left", "{S}": "L", "{s}": "l"},
    {"{side}": "right", "{Side}": "Right", "{S}": "R", "{s}": "r"},
)


class Recipe(BaseModel):
    """What all recipes have."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    # Said to people when this recipe is the one that counts.
    note: str | None = None


class Mean(Recipe):
    """The weighted mean of points; a midpoint without weights."""

    mean: list[str] = Field(min_length=1)
    weights: list[float] | None = None

    @model_validator(mode="after")
    def _same_number(self) -> "Mean":
        if self.weights is not None and (len(self.weights) != len(self.mean) or sum(self.weights) <= 0):
            raise ValueError("needs one weight for each point, with a positive sum")
        return self


class Offset(Recipe):
    """`start` moved by `by` along the axes of `frame`, m, or `times` the mean distance of two points."""

    start: str
    frame: str
    by: Vector
    times: tuple[str, str] | None = None


class Chord(Recipe):
    """A joint centre `offset` m inside a lateral marker, on the joint's axis.

    With `wand`, a marker on the side of the proximal limb, Plug-in Gait's chord function: in the plane of the
    three, `proximal` and marker under a right angle. With `distal`, the axis is normal to the plane in which
    the elbow bends.
    """

    proximal: str
    marker: str
    offset: float = Field(gt=0)
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

    With `turns_with` a skeleton's joint, the axes hold in the rest pose and turn with that joint.
    """

    axes: dict[Literal["x", "y", "z"], Direction] = Field(min_length=2, max_length=2)
    turns_with: str | None = None
    origin: str | None = None


class Limb(Recipe):
    """A limb's frame: x `along` it; about x by the thumb's side, by the lateral side, or by the bend.

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


def _kind(keys: Mapping[str, str]) -> Discriminator:
    """Tell recipes apart by the key only they have."""

    def tag(value: Any) -> str | None:
        return next((name for key, name in keys.items() if isinstance(value, dict) and key in value), None)

    return Discriminator(
        tag,
        custom_error_type="recipe",
        custom_error_message=f"a recipe has one of the keys {', '.join(keys)}",
    )


PointRecipe = Annotated[
    Annotated[Mean, Tag("mean")]
    | Annotated[Offset, Tag("offset")]
    | Annotated[Chord, Tag("chord")]
    | Annotated[ClusterPoint, Tag("cluster")],
    _kind({"mean": "mean", "by": "offset", "offset": "chord", "cluster": "cluster"}),
]
FrameRecipe = Annotated[
    Annotated[Axes, Tag("axes")] | Annotated[Limb, Tag("limb")] | Annotated[ClusterFrame, Tag("cluster")],
    _kind({"axes": "axes", "along": "limb", "cluster": "cluster"}),
]


class MarkerMap(BaseModel):
    """How a marker set or a skeleton gives a person's joints and segments.

    Parameters
    ----------
    description : str
    identified_by : list of lists of str
        Sets of names, any one of which identifies the map; of the names with a side, one side is enough.
    aliases : mapping of str to list of str
        Other names of a point.
    unit, up : str or None
        What holds where neither file nor user declares it.
    in_place : bool
        Whether the recording is in our world already and its joints are final: no turning to the heading, no
        floor, no bones of constant length.
    points, joints : mapping of str to list of recipes
        Points to build on, and the joints a motion holds.
    frames, segments : mapping of str to list of recipes
        Frames to build on, and the segments a motion holds.
    feet : list of str
        Points among which the lowest ones touch the floor.
    facing : list of (str, str)
        From one point to another one in front of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str
    identified_by: list[list[str]] = Field(min_length=1)
    aliases: dict[str, list[str]] = {}
    unit: Literal["m", "cm", "mm", "in", "cmu"] | None = None
    up: Literal["x", "y", "z"] | None = None
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
        """Write out what holds for both sides, and every recipe as a list of recipes."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for section in ("aliases", "points", "joints", "frames", "segments"):
            if isinstance(data.get(section), dict):
                entries = data[section].items()
                both = {
                    _written(name, side): _written(value, side)
                    for side in SIDE_NAMES
                    for name, value in entries
                    if sided(name)
                }
                # What is written for one side counts for it.
                data[section] = both | {name: value for name, value in entries if not sided(name)}
        for section in ("points", "joints", "frames", "segments"):
            if isinstance(data.get(section), dict):
                data[section] = {name: _alternatives(value) for name, value in data[section].items()}
        for section in ("feet", "facing"):
            if isinstance(data.get(section), list):
                data[section] = [
                    _written(item, side)
                    for item in data[section]
                    for side in (SIDE_NAMES if sided(str(item)) else SIDE_NAMES[:1])
                ]
        return data

    @model_validator(mode="after")
    def _sides_known(self) -> "MarkerMap":
        """Check that recipes whose sense depends on the side know theirs."""
        for section in (self.points, self.joints, self.frames, self.segments):
            for name, recipes in section.items():
                needs_side = any(isinstance(r, Limb) or (isinstance(r, Chord) and r.distal) for r in recipes)
                if needs_side and name.partition("_")[0] not in ("left", "right"):
                    raise ValueError(f"{name}: a limb's name must begin with left_ or right_")
        return self


def sided(text: Any) -> bool:
    """Whether a name has a placeholder for the side."""
    return any(mark in str(text) for mark in SIDE_NAMES[0])


def for_side(name: str, side: str) -> str:
    """Fill the placeholders of a name for `left` or `right`."""
    return str(_written(name, SIDE_NAMES[0 if side == "left" else 1]))


def _written(value: Any, side: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for mark, text in side.items():
            value = value.replace(mark, text)
        return value
    if isinstance(value, list):
        return [_written(item, side) for item in value]
    if isinstance(value, dict):
        return {_written(key, side): _written(item, side) for key, item in value.items()}
    return value


def _alternatives(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    # A bare name is that point.
    return [{"mean": [item]} if isinstance(item, str) else item for item in items]
