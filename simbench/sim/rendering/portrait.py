"""Portrait of a robot with captions; and cameras that fit a robot."""

import contextlib
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial import ConvexHull, QhullError

from simbench.errors import RetargetError, RunError
from simbench.files.storage import whole_file
from simbench.kinematics.arrays import Array
from simbench.options import CameraSection
from simbench.retargeting.match.body import BONES, match_body, place_points
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.urdf.elements import UrdfTree
from simbench.robot.urdf.mesh_files import shape_points
from simbench.sim.rendering.camera import Renderer, draw_views
from simbench.sim.rendering.scene_view import Camera, Frames, in_front, project, view_matrix

_TALL = 1.3  # Height of the highest frame of a robot as tall as a person above its soles, m.
_ALIKE = 1.25  # Largest ratio of heights at which robots get the same camera.
# Target and distance of the camera for a robot as tall as a person, or with a fixed base, m.
_TARGET, _DISTANCE = (0.1, 0.0, 0.75), 2.2
_BESIDE, _ABOVE = 0.5, 0.85  # Half of the width and of the height that such a robot needs in the picture, m.
_TRAVEL = 0.3  # Way of the root up to which the camera is that of a robot that stays, m.


def fit_camera(
    robot: Robot, posture: Array | None, section: CameraSection, path: Array | None = None
) -> CameraSection:
    """Complete the camera of a scenario by what the robot's height and its way decide.

    `posture` (n,) or None: joint positions in which a robot with legs stands, rad; None for zero positions;
    `path` (T, 2): where the root will be, m, if it is known before: all of it is in the picture. Returns the
    section with target and distance.
    """
    scale = 1.0
    if robot.floating:
        # Height of the standing robot as a multiple of a person's; 1 for a similar one.
        model, data = robot.model, robot.model.createData()
        joints = np.zeros(len(robot.joint_names)) if posture is None else posture
        q = np.concatenate([pin.neutral(model)[: robot.root_q], joints])
        pin.framesForwardKinematics(model, data, q)
        heights = [frame.translation[2] for frame in data.oMf]
        scale = float(max(heights) - min(heights)) / _TALL
        if 1.0 / _ALIKE < scale < _ALIKE or scale <= 0.0:
            scale = 1.0
    middle, distance = scale * np.array(_TARGET), scale * _DISTANCE
    if path is not None and np.ptp(path, axis=0).max() > _TRAVEL:
        middle[:2], distance = _see_whole(path, section, scale)
    target = (
        tuple(round(float(value), 3) for value in middle) if section.target_m is None else section.target_m
    )
    distance = round(float(distance), 3) if section.distance_m is None else section.distance_m
    return section.model_copy(update={"target_m": target, "distance_m": distance})


def _see_whole(path: Array, section: CameraSection, scale: float) -> tuple[Array, float]:
    """Aim at the middle of a way (T, 2) from so far that the robot is in the picture all along it."""
    yaw, pitch = np.radians([section.yaw_deg, section.pitch_deg])
    axes = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    # Across the picture, and away from the camera.
    seen = path @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    across, away = 0.5 * (high - low)
    vertical = np.tan(0.5 * np.radians(section.fov_deg))
    needed = max(
        scale * _DISTANCE,
        (across + scale * _BESIDE) / (vertical * section.width / section.height),
        (away * abs(np.sin(pitch)) + scale * _ABOVE) / vertical,
    )
    return 0.5 * (low + high) @ axes, float(away + needed)


def link_hulls(robot: Robot) -> dict[str, NDArray[np.float64]]:
    """Compute the vertices of the convex hull of each link's visible shapes.

    `robot`: robot with its URDF. Returns dict of str to (N, 3) array: vertices in the link's frame, m, by
    link; without links that have no shape of known extent.
    """
    hulls = {}
    for link in UrdfTree(ET.fromstring(robot.urdf_text)).links:
        # Those that Bullet shows: visual or, without any, collision shapes.
        visual = [shape for shape in link.shapes if shape.role == "visual"]
        # The URDF text names meshes by absolute path.
        clouds = [shape_points(shape, Path("/")) for shape in visual or link.shapes]
        known = [cloud for cloud in clouds if cloud is not None]
        if not known:
            continue
        points = np.vstack(known)
        # Of points in a plane Qhull finds no hull, and all are kept.
        with contextlib.suppress(QhullError):
            points = np.asarray(points[ConvexHull(points).vertices])
        hulls[link.name] = points
    return hulls


def robot_points(
    robot: Robot, hulls: Mapping[str, NDArray[np.float64]], posture: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the hull vertices of all links of a robot in a posture, its root link at the origin.

    `robot`: robot with its kinematic model; `hulls` mapping of str to (N, 3) array: hull vertices of each
    link in its frame, m, from `link_hulls`; `posture` (n,): joint positions in the order of
    `robot.joint_names`, rad. Returns (M, 3): vertices in the root link's frame, m.
    """
    q = pin.neutral(robot.model)
    q[robot.root_q :] = posture
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    poses = {name: data.oMf[robot.model.getFrameId(name, pin.FrameType.BODY)] for name in hulls}
    placed = [points @ poses[name].rotation.T + poses[name].translation for name, points in hulls.items()]
    return np.vstack([np.empty((0, 3)), *placed])


FILLED = 0.88  # Fraction of the picture's width or height that the robot fills at most.
# Degrees. The field of view is narrow, so that the near arm does not look longer than the far one.
PITCH, FIELD_OF_VIEW = -9.0, 22.0
SHEET_WIDTH = 1480  # Width of all panels of a row together, pixels.
MIN_PANEL_HEIGHT = 420
MAX_PANEL_HEIGHT = {4: 840, 2: 580}  # Pixels, by the number of panels in a row.
SLENDER = 0.8  # Four panels are put in one row if the robot's width is less than this fraction of its height.


def panel_size(points: NDArray[np.float64]) -> tuple[int, int, int]:
    """Choose the layout of four pictures of a robot.

    `points` (N, 3): points on the robot's surface in the world, m. Returns `columns`: number of panels in a
    row; `width`: width of a panel, pixels; even; `height`: height of a panel, pixels; even.
    """
    breadth, depth, tall = np.ptp(points, axis=0).tolist()
    slenderness = max(breadth, depth) / max(tall, 1e-6)
    columns = 4 if slenderness < SLENDER else 2
    width = SHEET_WIDTH // columns
    height = int(np.clip(width / slenderness, MIN_PANEL_HEIGHT, MAX_PANEL_HEIGHT[columns]))
    return columns, width - width % 2, height - height % 2


def frame_cameras(
    clouds: Sequence[NDArray[np.float64]],
    yaws: Sequence[float],
    width: int,
    height: int,
    pitch: float = PITCH,
) -> list[Camera]:
    """Place one camera for each picture, so that all pictures have the same scale and floor line.

    `clouds` sequence of (N, 3) arrays: points on the robot's surface in each picture, in the world, m;
    `yaws`: yaw of each camera, degrees; `width`: width of a picture, pixels; `height`: height of a picture,
    pixels; `pitch`: pitch of all cameras, degrees.
    """
    everything = np.vstack(clouds)
    x, y, z = (0.5 * (everything.min(axis=0) + everything.max(axis=0))).tolist()
    cameras = [Camera((x, y, z), 1.0, yaw, pitch, FIELD_OF_VIEW, width, height, fps=1) for yaw in yaws]
    # With perspective, distance and centre of the outline depend on each other: a few iterations settle both.
    for _ in range(3):
        distance = max(
            _distance(camera, cloud, everything) for camera, cloud in zip(cameras, clouds, strict=True)
        )
        cameras = [
            _centered(replace(camera, distance_m=distance), cloud, everything)
            for camera, cloud in zip(cameras, clouds, strict=True)
        ]
    return cameras


def _distance(camera: Camera, points: Array, everything: Array) -> float:
    """Find by bisection the least distance, m, at which the robot fills at most `FILLED` of the picture."""
    size = float(np.ptp(everything, axis=0).max()) + 1e-3
    near, far = 0.1 * size, 100.0 * size
    for _ in range(24):
        between = float(np.sqrt(near * far))
        nearer = replace(camera, distance_m=between)
        fits = bool(in_front(nearer, everything).all())
        if fits:
            (left, top), (right, bottom) = _outline(nearer, points, everything)
            fits = bool(right - left <= FILLED * camera.width and bottom - top <= FILLED * camera.height)
        near, far = (near, between) if fits else (between, far)
    return far


def _outline(camera: Camera, points: Array, everything: Array) -> NDArray[np.float64]:
    """Compute the upper left and lower right corner, pixels: width of one posture, height of all postures."""
    x, y = project(camera, points)[:, 0], project(camera, everything)[:, 1]
    return np.array([[x.min(), y.min()], [x.max(), y.max()]])


def _centered(camera: Camera, points: Array, everything: Array) -> Camera:
    """Move the target parallel to the picture's plane, so that the robot is in the middle of the picture."""
    off = _outline(camera, points, everything).mean(axis=0) - 0.5 * np.array([camera.width, camera.height])
    scale = 2.0 * camera.distance_m * np.tan(0.5 * np.radians(camera.fov_deg)) / camera.height
    rotation = view_matrix(camera)[:3, :3]
    right, up = rotation[0], rotation[1]
    x, y, z = (np.array(camera.target_m) + scale * (off[0] * right - off[1] * up)).tolist()
    return replace(camera, target_m=(x, y, z))


VIEWS = {"front": 90.0, "side": 0.0}  # Yaw of the camera in degrees; the robot looks along x.
UNLIMITED = 100.0  # Joints with a limit beyond this value, rad or m, are shown at zero instead of mid-range.
# Height of a line of text, margin of the sheet and gap between its panels, pixels.
BAND, MARGIN, GAP = 46, 18, 4
TITLE_SIZE, CAPTION_SIZE = 26, 20
PAPER, INK, FAINT = (255, 255, 255), (30, 33, 38), (95, 100, 108)
# Colours of the bones of both sides and of the trunk.
LEFT, RIGHT, MIDDLE = (214, 69, 65), (31, 119, 180), (34, 139, 94)


def draw_portrait(robot: Robot, path: Path, *, fast: bool = False, bones: bool = False) -> Renderer:
    """Draw a robot from the front and the side, at zero and in a natural posture, as one PNG.

    The lowest point of a robot with a floating base is on the floor in each posture; of a robot with a fixed
    base, the lowest point over both postures. `path`: PNG file to write; `fast`: whether shadows are left
    out; `bones`: whether the bones that imitate a person's are drawn over the robot. Returns which renderer
    drew it: `OpenGL` or `TinyRenderer`. Raises RetargetError if bones are asked for, and the robot has
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
    if bones:
        # Links without shapes are seen by their bones.
        links = {link.name for link in UrdfTree(ET.fromstring(robot.urdf_text)).links if link.mass > 0.0}
        bare = {name: np.zeros((1, 3)) for name in links - hulls.keys()}
        points = [robot_points(robot, {**hulls, **bare}, posture) for posture in postures]
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
    mass = sum(inertia.mass for inertia in robot.model.inertias)
    kind = "floating" if robot.floating else "fixed"
    title = f"{robot.name}   {len(robot.joint_names)} joints, {mass:.4g} kg, {kind} base"
    sheet = _sheet(panels, columns, title)
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
