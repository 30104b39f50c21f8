"""How high the root link of a robot with a fixed base is above the floor."""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.convex_geometry import build_convex_geometry
from simbench.robot.native_output import quiet_native_output
from simbench.robot.sides import SIDES

_ARM = ("shoulder", "elbow", "wrist", "hand")
_OWN_STAND = 0.5
"""Height of the shoulder over the length of the arm from which a robot has a stand of its own."""
_SHOULDER_HEIGHT = 0.72
"""Height of the shoulder on a pedestal over the length of the arm: that of PUMA 560 on its own column,
0.672 m to 0.93 m. The arm then reaches from near the floor to above its shoulder."""
_TWO_SHOULDERS_HEIGHT = 1.15
"""The same of two arms, which hang beside the pedestal as a person's do: that of Baxter on its pedestal."""
ROUNDING = 0.01
"""Heights are rounded to this, m; a gap that is smaller is none."""


def default_base_height(
    model: pin.Model, urdf_text: str, frames: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> float:
    """Choose the height of the root link of a robot with a fixed base above the floor.

    The lowest part that no arm moves is on the floor at least. A robot whose shoulders are then lower than
    half the length of its arms is one that is mounted on something: it stands on a pedestal. `model`: model
    of the robot, its root link at the world's origin; `urdf_text`: its URDF, with meshes by absolute path;
    `frames`: frame of each role; `groups`: joints of each part of the body. Returns height, m.
    """
    data, neutral = model.createData(), pin.neutral(model)
    pin.framesForwardKinematics(model, data, neutral)
    arms = {name for side in SIDES for name in groups.get(f"{side}_arm", ())}
    moved = [
        any(model.names[joint] in arms for joint in model.supports[body]) for body in range(model.njoints)
    ]
    height = max(0.0, -float(root_corners(model, urdf_text, moved)[:, 2].min(initial=0.0)))
    lengths, shoulders = [], []
    for side in SIDES:
        roles = [f"{side}_{part}" for part in _ARM]
        if all(role in frames for role in roles):
            places = [data.oMf[model.getFrameId(frames[role])].translation for role in roles]
            lengths.append(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()))
            shoulders.append(float(places[0][2]))
    if lengths:
        length, shoulder = float(np.mean(lengths)), float(np.mean(shoulders))
        if shoulder + height < _OWN_STAND * length:
            part = _SHOULDER_HEIGHT if len(lengths) == 1 else _TWO_SHOULDERS_HEIGHT
            height = part * length - shoulder
    return round(height / ROUNDING) * ROUNDING if height >= ROUNDING else 0.0


def root_corners(model: pin.Model, urdf_text: str, moved: Collection[bool] = ()) -> NDArray[np.float64]:
    """List the corners of the shapes of a robot that no joint moves, or of other ones, at zero positions.

    `model`: model of the robot, its root link at the world's origin; `urdf_text`: its URDF, with meshes by
    absolute path; `moved`: whether each body of the model is left out; by default all but that of the root
    link. Returns (N, 3): corners of convex hulls and bounding boxes in the frame of the root link, m.
    """
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    left_out = list(moved) or [body > 0 for body in range(model.njoints)]
    corners = [np.empty((0, 3))]
    for shape in _read_shapes(model, urdf_text):
        if not left_out[shape.parentJoint]:
            pose = data.oMi[shape.parentJoint] * shape.placement
            corners.append(_local_corners(shape.geometry) @ pose.rotation.T + pose.translation)
    return np.vstack(corners)


def _read_shapes(model: pin.Model, urdf_text: str) -> list[pin.GeometryObject]:
    """Collision shapes, meshes as convex hulls, and visual shapes of links that have none."""
    urdf = ET.fromstring(urdf_text)
    for link in urdf.findall("link"):
        if link.find("collision") is not None:
            for shape in link.findall("visual"):
                link.remove(shape)
    with quiet_native_output():
        visual = pin.buildGeomFromUrdfString(
            model, ET.tostring(urdf, encoding="unicode"), pin.GeometryType.VISUAL
        )
    return [*build_convex_geometry(model, urdf_text).geometryObjects, *visual.geometryObjects]


def _local_corners(form: Any) -> NDArray[np.float64]:
    """Corners (N, 3) of a shape, or of its bounding box, in its axes, m."""
    if hasattr(form, "points"):
        return np.array([*form.points()]).reshape(-1, 3)
    form.computeLocalAABB()
    box = form.aabb_local
    return np.array([*product(*zip(box.min_.tolist(), box.max_.tolist(), strict=True))])
