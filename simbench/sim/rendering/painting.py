"""From a robot, its equipment and their motion to what a drawing process of our own renderer gets."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.errors import RunError
from simbench.files.storage import whole_file
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism, part_poses
from simbench.sim.rendering.drawing_process import (
    OPENGL_WORKER,
    Drawing,
    RendererUnavailableError,
    default_processes,
    job_pipes,
    open_encoder,
    start_drawing,
)
from simbench.sim.rendering.scene_view import (
    FIGURE_BAR_COLOUR,
    FIGURE_COLOUR,
    GHOST_COLOUR,
    MOST_CORNERS,
    Camera,
    Content,
    Figure,
    Frames,
    Solid,
    UndrawableShapeError,
    record_type,
)
from simbench.sim.rendering.solids import make_solid, part_solid, read_robot_meshes, robot_solids, tint_solid


def link_poses(robot: Robot, base: Array, joints: Array, links: Sequence[str]) -> Array:
    """Compute the forward kinematics of a robot's links.

    `base` (F, 7): pose of the root link in the world: position, m, and quaternion x, y, z, w; `joints` (F,
    n): joint positions in the order of `robot.joint_names`, rad; `links`: names of the links. Returns (F, L,
    4, 4): pose of each link in the world.
    """
    model, data = robot.model, robot.model.createData()
    configuration = pin.neutral(model)
    frames = [model.getFrameId(name, pin.FrameType.BODY) for name in links]
    poses = np.empty((len(base), len(links), 4, 4))
    for sample, row in enumerate(joints):
        configuration[robot.root_q :] = row
        pin.framesForwardKinematics(model, data, configuration)
        # Relative to the root, which is at the model's origin.
        placements = data.oMf
        for column, frame in enumerate(frames):
            poses[sample, column] = placements[frame].homogeneous
    return np.asarray(homogeneous_poses(base)[:, None] @ poses)


def mechanism_poses(mechanism: Mechanism, positions: Array, stand: Array | None) -> Array:
    """Compute the poses of the parts of a mechanism, and of its furniture.

    `mechanism`: the equipment; `positions` (F, J): joint positions, m or rad; `stand` (F, 7) or None: pose in
    the world of the frame of a mechanism that stands freely: position, m, and quaternion x, y, z, w; None for
    one that is fixed to the world. Returns (F, P, 4, 4): poses in the world of `mechanism.furniture`, then of
    `mechanism.parts`, whose shapes are given in the mechanism's frame with all joints at 0.
    """
    parts = [part_poses(mechanism, part.name, positions) for part in mechanism.parts]
    if stand is not None:
        moved = homogeneous_poses(stand) @ mechanism.pose.inverse().homogeneous
        parts = [moved @ poses for poses in parts]
    still = np.tile(mechanism.pose.homogeneous, (len(positions), 1, 1))
    return np.stack([*[still] * len(mechanism.furniture), *parts], axis=1)


def homogeneous_poses(poses: Array) -> Array:
    """Convert poses to homogeneous transformations.

    `poses` (F, 7): position, m, and unit quaternion x, y, z, w. Returns (F, 4, 4).
    """
    x, y, z, w = poses[:, 3:].T
    matrices = np.zeros((len(poses), 4, 4))
    matrices[:, 3, 3] = 1.0
    matrices[:, :3, 3] = poses[:, :3]
    rows = [
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    ]
    matrices[:, :3, :3] = np.moveaxis(np.array(rows), -1, 0)
    return matrices


_SIDES = 16  # Number of sides of a bar.


def figure_solids(figure: Figure) -> list[Solid]:
    """Build the surfaces of a figure.

    Returns balls about their centres, then bars along z from 0 to 1 m:
    their poses stretch them.
    """
    count = figure.points.shape[1]
    balls = [trimesh.creation.icosphere(subdivisions=3, radius=radius) for radius in figure.radii[:count]]
    # Cylinders without ends.
    k = np.arange(_SIDES)
    angle, after = 2.0 * np.pi * k / _SIDES, (k + 1) % _SIDES
    faces = np.vstack(
        [np.column_stack([k, after, after + _SIDES]), np.column_stack([k, after + _SIDES, k + _SIDES])]
    )
    tubes = []
    for radius in figure.radii[count:]:
        ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
        points = np.vstack([np.column_stack([ring, np.full(_SIDES, z)]) for z in (0.0, 1.0)])
        tubes.append(trimesh.Trimesh(points, faces, process=False))
    return [make_solid(ball, FIGURE_COLOUR) for ball in balls] + [
        make_solid(tube, FIGURE_BAR_COLOUR) for tube in tubes
    ]


def figure_poses(figure: Figure) -> Array:
    """Compute the transformations of a figure's bodies.

    Returns (F, N + B, 4, 4): transformation of each ball and of each bar to the world. That of a bar
    stretches its z axis, across which its surface stands, so that normals stay unit vectors.
    """
    frames, count = figure.points.shape[:2]
    poses = np.tile(np.eye(4), (frames, count + len(figure.bars), 1, 1))
    poses[:, :count, :3, 3] = figure.points
    if figure.bars:
        first, last = (figure.points[:, list(ends)] for ends in zip(*figure.bars, strict=True))
        along = last - first
        length = np.linalg.norm(along, axis=2, keepdims=True)
        # A pelvis may be where the middle of the hips is: nothing is seen of a bar without length.
        z = np.where(length > 1e-9, along / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
        # Any axis that is not parallel to the bar.
        other = np.where(np.abs(z[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
        x = np.cross(other, z)
        x /= np.linalg.norm(x, axis=2, keepdims=True)
        poses[:, count:, :3, :3] = np.stack([x, np.cross(z, x), along], axis=-1)
        poses[:, count:, :3, 3] = first
    return poses


# Number of triangles of a robot in a video, of its second figure, and of what casts their shadows, for each
# row of the picture: smaller triangles than these would show no more, and cost most of the drawing.
TRIANGLES_PER_ROW, GHOST_TRIANGLES_PER_ROW, CASTER_TRIANGLES_PER_ROW = 10.5, 7.0, 3.0
TRIANGLES_IN_PICTURE = 200_000  # Number of triangles of a robot in a single picture.


class Cast:
    """The bodies of a scene, in the order in which they are drawn.

    These are the robot's links that have a surface, furniture and parts of each mechanism, balls and bars of
    the figure, and the ghost's links. `robot`: robot to draw; `mechanisms`: equipment to draw; `camera`:
    viewpoint and size of the pictures; `ghost`: whether there is a second, half transparent figure of the
    robot; `video`: whether pictures are frames of a video; `shadows`: whether bodies cast shadows; `figure`:
    figure beside the robot, in some frames; `average_textures`: whether a surface with a texture is drawn in
    its mean colour.
    """

    def __init__(
        self,
        robot: Robot,
        mechanisms: Sequence[Mechanism],
        camera: Camera,
        *,
        ghost: bool,
        video: bool,
        shadows: bool,
        figure: Figure | None = None,
        average_textures: bool = False,
    ) -> None:
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
        self.robot, self.mechanisms, self.links, self.figure = robot, tuple(mechanisms), tuple(links), figure
        # Their surfaces, and the camera.
        self.content = Content(solids, casters, len(ghosts), camera, video, shadows)


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
        poses.append(link_poses(cast.robot, *frames.ghost, cast.links))
    records = np.zeros(len(frames.base), record_type(len(cast.content.solids)))
    records["poses"] = np.concatenate(poses, axis=1)[:, :, :3]
    if frames.camera_path is not None:
        records["shift"], records["turn_deg"] = frames.camera_path
    for name in ("cog", "zmp", "support"):
        records[name] = np.nan
    if frames.balance is not None:
        records["cog"], records["zmp"], support = frames.balance
        for row, polygon in zip(records["support"], support, strict=True):
            corners = polygon[:MOST_CORNERS]
            row[: len(corners)] = corners
    return records


class StreamBrokenError(Exception):
    """A video stream that cannot go on; the video can still be drawn from the log."""


class VideoStream:
    """A video to which frames are added while they become known.

    `cast`: what it shows; `drawing`: processes that draw it; `pipes`: file descriptors to which the records
    of their frames are written; -1 where closed.
    """

    def __init__(self, cast: Cast, drawing: Drawing, pipes: list[int]) -> None:
        self._cast, self._drawing, self._pipes = cast, drawing, pipes
        self._waiting: list[bytes] = []
        self._sent = 0

    @property
    def count(self) -> int:
        """Number of frames that have been added."""
        return self._sent + len(self._waiting)

    def add(self, frames: Frames, certain: int) -> None:
        """Add frames, which are drawn as soon as may be.

        `frames`: poses in each frame; `certain`: number of frames that the video will have at least; others
        wait. Raises StreamBrokenError if the processes have ended.
        """
        self._waiting += [record.tobytes() for record in make_records(self._cast, frames)]
        self._send(certain)

    def finish(self, count: int, progress: Callable[[int, int], None]) -> None:
        """Wait until all frames are drawn.

        `count`: number of frames of the video; `progress`: called after frames.
        """
        self._send(count)
        if self._sent != count:
            raise StreamBrokenError
        for number, descriptor in enumerate(self._pipes):
            os.close(descriptor)
            self._pipes[number] = -1
        try:
            self._drawing.wait_until_ready()
            for done in self._drawing.drawn_frames():
                progress(done, count)
        except (RendererUnavailableError, RunError, BrokenPipeError):
            raise StreamBrokenError from None

    def _send(self, certain: int) -> None:
        """Send the frames that wait, up to the number that is certain."""
        ready = max(0, certain - self._sent)
        for record in self._waiting[:ready]:
            data = memoryview(record)
            try:
                while data:
                    data = data[os.write(self._pipes[self._sent % len(self._pipes)], data) :]
            except BrokenPipeError:
                raise StreamBrokenError from None
            self._sent += 1
        del self._waiting[:ready]


@contextlib.contextmanager
def open_video_stream(path: Path, cast: Cast) -> Iterator[VideoStream]:
    """Begin a video; its file appears when the body ends without an exception.

    `path`: file to write; its name ends in `.mp4`; `cast`: what it shows, as a video. Raises OSError if the
    file cannot be written.
    """
    with (
        whole_file(path, keep_suffix=True) as part,
        open_encoder(part, cast.content.camera, "nv12") as encoder,
        job_pipes([cast.content] * default_processes()) as (inputs, pipes),
        start_drawing(OPENGL_WORKER, inputs, encoder.input) as drawing,
    ):
        # Else a pipe to a process that has ended would fill, and writing to it wait for ever.
        for _, reading in inputs:
            os.close(reading)
        yield VideoStream(cast, drawing, pipes)
