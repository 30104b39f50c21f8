"""Portrait of a robot: front and side view, at zero and in a natural posture, with captions."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simbench.errors import RetargetError, RunError
from simbench.files.storage import whole_file
from simbench.kinematics.arrays import Array
from simbench.retargeting.match.body import BONES, match_body, place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.sim.rendering.camera import Frames, Renderer, draw_views
from simbench.sim.rendering.portrait_camera import frame_cameras, panel_size
from simbench.sim.rendering.robot_points import link_hulls, robot_points
from simbench.sim.rendering.scene_view import Camera, project

VIEWS = {"front": 90.0, "side": 0.0}
"""Yaw of the camera in degrees; the robot looks along x."""
UNLIMITED = 100.0
"""Joints with a limit beyond this value, rad or m, are shown at zero instead of mid-range."""
BAND, MARGIN, GAP = 46, 18, 4
"""Height of a line of text, margin of the sheet and gap between its panels, pixels."""
TITLE_SIZE, CAPTION_SIZE = 26, 20
PAPER, INK, FAINT = (255, 255, 255), (30, 33, 38), (95, 100, 108)
LEFT, RIGHT, MIDDLE = (214, 69, 65), (31, 119, 180), (34, 139, 94)
"""Colours of the bones of both sides and of the trunk."""


def draw_portrait(robot: Robot, path: Path, *, fast: bool = False, bones: bool = False) -> Renderer:
    """Draw a robot from the front and the side, at zero and in a natural posture, as one PNG.

    The lowest point of a robot with a floating base is on the floor in each posture; of a robot with a fixed
    base, the lowest point over both postures. `path`: PNG file to write; `fast`: whether shadows are left
    out; `bones`: whether the bones that imitate a person's are drawn over the robot. Returns which renderer
    drew it: `OpenGL`, `EGL` or `TinyRenderer`. Raises RetargetError if bones are asked for, and the robot has
    no limb as a person's, or one has no joint that bends it.
    """
    natural, name = natural_posture(robot)
    postures = np.array([np.zeros(len(robot.joint_names)), natural])
    hulls = link_hulls(robot)
    if not hulls:
        raise RunError(f"{robot.name}: has no shape to draw")
    points = [robot_points(robot, hulls, posture) for posture in postures]
    lowest = np.array([cloud[:, 2].min() for cloud in points])
    heights = -lowest if robot.floating else np.full(2, -lowest.min())
    standing = [cloud + np.array([0.0, 0.0, z]) for cloud, z in zip(points, heights, strict=True)]
    base = np.column_stack([np.zeros((2, 2)), heights, np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))])
    frames = Frames(base, postures, {}, None)

    columns, width, height = panel_size(np.vstack(standing))
    shots = [(posture, view) for posture in range(2) for view in VIEWS]
    clouds, yaws = [standing[posture] for posture, _ in shots], [VIEWS[view] for _, view in shots]
    cameras = frame_cameras(clouds, yaws, width, height)
    postures_shown = [posture for posture, _ in shots]
    pictures, renderer = draw_views(robot, frames, postures_shown, cameras, shadows=not fast)
    if bones:
        shown = np.hstack([base, postures])[postures_shown]
        pictures = _with_bones(robot, shown, pictures, cameras)
    panels = [
        (picture, f"{('zero', name)[posture]}, {view}")
        for (posture, view), picture in zip(shots, pictures, strict=True)
    ]
    sheet = _sheet(panels, columns, _title(robot))
    try:
        with whole_file(path) as part:
            sheet.save(part, format="PNG")
    except OSError as error:
        raise RunError(f"{path}: cannot write the picture: {error.strerror}") from error
    return renderer


def _with_bones(
    robot: Robot, configurations: Array, pictures: list[NDArray[np.uint8]], cameras: list[Camera]
) -> list[NDArray[np.uint8]]:
    """Draw the bones that imitate a person's over pictures of configurations (K, 7 + n), and their joints."""
    body, drawn = match_body(robot), []
    if not body.flexion:
        raise RetargetError(f"{robot.name}: has no arm or leg that imitates a person's; leave out --bones")
    places = place_points(body, configurations).points
    for points, picture, camera in zip(places, pictures, cameras, strict=True):
        at = dict(zip(body.names, points, strict=True))
        lines = [
            ([f"{side}_{end}" for end in ends], colour)
            for side, colour in zip(SIDES, (LEFT, RIGHT), strict=True)
            for ends in (
                *BONES.values(),
                ("palm", "fingers"),
                ("sole_0", "sole_1", "sole_2", "sole_3", "sole_0"),
            )
        ]
        lines += [([f"{side}_{part}" for side in SIDES], MIDDLE) for part in ("shoulder", "hip")]
        for part in ("shoulder", "hip"):
            if f"left_{part}" in at and f"right_{part}" in at:
                at[f"{part}s"] = 0.5 * (at[f"left_{part}"] + at[f"right_{part}"])
        lines.append((["hips", "shoulders"], MIDDLE))
        if robot.groups.get("head"):
            lines.append((["head_base", "head_top"], MIDDLE))
        image = Image.fromarray(picture)
        pen, width = ImageDraw.Draw(image), max(2, round(picture.shape[0] / 160))
        for names, colour in lines:
            if all(name in at for name in names):
                pixels = [tuple(pixel) for pixel in project(camera, np.array([at[name] for name in names]))]
                pen.line(pixels, fill=colour, width=width)
                for x, y in pixels if len(names) == 2 else ():
                    pen.ellipse((x - width, y - width, x + width, y + width), fill=colour, outline=PAPER)
        drawn.append(np.asarray(image))
    return drawn


def natural_posture(robot: Robot) -> tuple[NDArray[np.float64], str]:
    """Choose the posture to show beside zero.

    `robot`: robot whose postures are considered. Returns (n,): `standing` if the robot has it, else its first
    named posture that is not zero, else the middle of the joints' ranges (zero for joints without limits),
    rad; name of the posture for the caption.
    """
    named = {name: posture for name, posture in robot.postures.items() if np.any(posture)}
    for name in ("standing", *named):
        if name in named:
            return named[name], name
    lower = robot.model.lowerPositionLimit[robot.root_q :]
    upper = robot.model.upperPositionLimit[robot.root_q :]
    limited = (lower > -UNLIMITED) & (upper < UNLIMITED)
    return np.where(limited, 0.5 * (lower + upper), 0.0), "middle of the joint ranges"


def _title(robot: Robot) -> str:
    """Say name, number of joints, mass and kind of base."""
    mass = sum(inertia.mass for inertia in robot.model.inertias)
    base = "floating" if robot.floating else "fixed"
    return f"{robot.name}   {len(robot.joint_names)} joints, {mass:.4g} kg, {base} base"


def _sheet(panels: list[tuple[NDArray[np.uint8], str]], columns: int, title: str) -> Image.Image:
    """Lay out pictures, each with a caption below it, on a page with a title."""
    height, width = panels[0][0].shape[:2]
    rows = -(-len(panels) // columns)
    page = (columns * (width + GAP) - GAP + 2 * MARGIN, BAND + rows * (height + BAND) + MARGIN)
    sheet = Image.new("RGB", page, PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, BAND // 2 + 4), title, INK, ImageFont.load_default(TITLE_SIZE), anchor="lm")
    font = ImageFont.load_default(CAPTION_SIZE)
    for position, (picture, caption) in enumerate(panels):
        row, column = divmod(position, columns)
        left, top = MARGIN + column * (width + GAP), BAND + 8 + row * (height + BAND)
        sheet.paste(Image.fromarray(picture), (left, top))
        pen.text((left + width // 2, top + height + BAND // 2 - 2), caption, FAINT, font, anchor="mm")
    return sheet
