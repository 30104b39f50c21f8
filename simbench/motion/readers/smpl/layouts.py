"""The joints of SMPL, SMPL-H and SMPL-X: names, parents, and their order in the pose parameters."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BODY = {
    "pelvis": None,
    "left_hip": "pelvis",
    "right_hip": "pelvis",
    "spine1": "pelvis",
    "left_knee": "left_hip",
    "right_knee": "right_hip",
    "spine2": "spine1",
    "left_ankle": "left_knee",
    "right_ankle": "right_knee",
    "spine3": "spine2",
    "left_foot": "left_ankle",
    "right_foot": "right_ankle",
    "neck": "spine3",
    "left_collar": "spine3",
    "right_collar": "spine3",
    "head": "neck",
    "left_shoulder": "left_collar",
    "right_shoulder": "right_collar",
    "left_elbow": "left_shoulder",
    "right_elbow": "right_shoulder",
    "left_wrist": "left_elbow",
    "right_wrist": "right_elbow",
}
_HANDS = {"left_hand": "left_wrist", "right_hand": "right_wrist"}
_FACE = {"jaw": "head", "left_eye": "head", "right_eye": "head"}
FINGERS = ("index", "middle", "pinky", "ring", "thumb")
_FINGERS = {
    f"{side}_{finger}{k}": f"{side}_{finger}{k - 1}" if k > 1 else f"{side}_wrist"
    for side in ("left", "right")
    for finger in FINGERS
    for k in (1, 2, 3)
}
BODY_COUNT = len(_BODY)
"""Number of the joints that all three models begin with."""


class Layout(NamedTuple):
    """The joints of one body model."""

    model: str  # `SMPL`, `SMPL-H` or `SMPL-X`.
    # Names of the joints in the order of the pose parameters, parents before children.
    names: tuple[str, ...]
    parents: NDArray[np.int64]  # (J,) int: index of each joint's parent, -1 for the pelvis.


def _layout(model: str, parents: dict[str, str | None]) -> Layout:
    """Make a layout from the name of each joint's parent."""
    names = tuple(parents)
    index = [-1 if parent is None else names.index(parent) for parent in parents.values()]
    return Layout(model, names, np.array(index, dtype=np.int64))


SMPL = _layout("SMPL", {**_BODY, **_HANDS})
SMPL_H = _layout("SMPL-H", {**_BODY, **_FINGERS})
SMPL_X = _layout("SMPL-X", {**_BODY, **_FACE, **_FINGERS})
LAYOUTS = {len(layout.names): layout for layout in (SMPL, SMPL_H, SMPL_X)}
"""Layouts by number of joints: 24, 52, 55."""
