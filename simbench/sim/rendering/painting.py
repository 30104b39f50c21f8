"""From a robot, its equipment and their motion to what a drawing process of our own renderer gets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.body_poses import link_poses, mechanism_poses
from simbench.sim.rendering.figure import FigureShape, figure_poses, figure_solids
from simbench.sim.rendering.opengl.content import MOST_CORNERS, Content, Solid, record_type
from simbench.sim.rendering.renderer_choice import UndrawableShapeError
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_look import GHOST_COLOUR
from simbench.sim.rendering.scene_view import Camera
from simbench.sim.rendering.solids import (
    part_solid,
    read_robot_meshes,
    robot_solids,
    tint_solid,
)

TRIANGLES_PER_ROW, GHOST_TRIANGLES_PER_ROW, CASTER_TRIANGLES_PER_ROW = 10.5, 7.0, 3.0
"""Number of triangles of a robot in a video, of its second figure, and of what casts their shadows, for each
row of the picture: smaller triangles than these would show no more, and cost most of the drawing."""
TRIANGLES_IN_PICTURE = 200_000
"""Number of triangles of a robot in a single picture."""


@dataclass(frozen=True)
class Cast:
    """The bodies of a scene, in the order in which they are drawn."""

    robot: Robot
    mechanisms: tuple[Mechanism, ...]  # The equipment.
    links: tuple[str, ...]  # Links of the robot that have a surface.
    figure: FigureShape | None  # Figure beside the robot, if any.
    content: Content  # Their surfaces, and the camera.


def make_cast(
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    camera: Camera,
    *,
    ghost: bool,
    video: bool,
    shadows: bool,
    figure: FigureShape | None = None,
    average_textures: bool = False,
) -> Cast:
    """Collect the bodies of a scene.

    `robot`: robot to draw; `mechanisms`: equipment to draw; `camera`: viewpoint and size of the pictures;
    `ghost`: whether there is a second, half transparent figure of the robot; `video`: whether pictures are
    frames of a video; `shadows`: whether bodies cast shadows; `figure`: balls and bars of a figure beside the
    robot; `average_textures`: whether a surface with a texture is drawn in the texture's mean colour. Returns
    the bodies: the robot's links, furniture and parts of each mechanism, balls and bars of the figure, and
    the ghost's links.
    """
    meshes = read_robot_meshes(robot, average_textures=average_textures)
    rows = camera.height
    links = robot_solids(meshes, round(TRIANGLES_PER_ROW * rows) if video else TRIANGLES_IN_PICTURE)
    caster = robot_solids(meshes, round(CASTER_TRIANGLES_PER_ROW * rows)) if video else links
    equipment = [
        part_solid(part) for mechanism in mechanisms for part in (*mechanism.furniture, *mechanism.parts)
    ]
    if figure is not None:
        equipment += figure_solids(figure)
    ghosts: list[Solid] = []
    if ghost:
        # Half transparent and of one colour, it shows less.
        simple = robot_solids(meshes, round(GHOST_TRIANGLES_PER_ROW * rows)) if video else links
        ghosts = [tint_solid(solid, GHOST_COLOUR) for solid in simple.values()]
    solids = (*links.values(), *equipment, *ghosts)
    casters = (*caster.values(), *equipment, *(caster.values() if ghost else ()))
    if not solids:
        raise UndrawableShapeError("nothing has a shape")
    content = Content(solids, casters, len(ghosts), camera, video, shadows)
    return Cast(robot, tuple(mechanisms), tuple(links), figure, content)


def make_records(cast: Cast, frames: Frames) -> NDArray[np.void]:
    """Compute the poses of all bodies in all frames.

    `frames`: poses of robot and equipment. Returns (F,) of `record_type`.
    """
    poses = [link_poses(cast.robot, frames.base, frames.joints, cast.links)]
    for mechanism in cast.mechanisms:
        stand = frames.stands.get(mechanism.name)
        poses.append(mechanism_poses(mechanism, frames.fixtures[mechanism.name], stand))
    if cast.figure is not None and frames.figure is not None:
        poses.append(figure_poses(frames.figure))
    if frames.ghost is not None:
        poses.append(link_poses(cast.robot, frames.ghost.base, frames.ghost.joints, cast.links))
    records = np.zeros(len(frames.base), record_type(len(cast.content.solids)))
    records["poses"] = np.concatenate(poses, axis=1)[:, :, :3]
    path = frames.camera_path
    if path is not None:
        records["shift"], records["turn_deg"] = path.shift, path.turn_deg
    for name in ("cog", "zmp", "support"):
        records[name] = np.nan
    balance = frames.balance
    if balance is not None:
        records["cog"], records["zmp"] = balance.cog, balance.zmp
        for row, polygon in zip(records["support"], balance.support, strict=True):
            corners = polygon[:MOST_CORNERS]
            row[: len(corners)] = corners
    return records
