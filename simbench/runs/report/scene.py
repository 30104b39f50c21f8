"""The scene of a run for an interactive page: surfaces of all bodies, their motion, and contact forces.

Links of the robot move by forward kinematics in the page: the page has the log's joint positions and
base instead of the links' poses.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray

from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.runs.report.page_data import Packer
from simbench.runs.scenario.schema import Scenario
from simbench.runs.video import reconstruct_planned_base
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.painting import mechanism_poses
from simbench.sim.rendering.scene_view import Solid
from simbench.sim.rendering.solids import part_solid, read_robot_meshes, robot_solids

TRIANGLES = 14_000  # Number of triangles of a robot, about: more are not seen at the size of a page.
SCENE_RATE = 50.0  # Poses per second; the page interpolates between them.
MOST_POSES = 6000  # Number of poses of a long run.
_STILL = 1e-9  # Largest change of a pose's numbers of a body that does not move.
_LEAST = 1.0  # Least force that has an arrow, N.
# Points and polygons over time in the page, and the log's variables that hold them.
_POINTS = {
    "zmp": "zmp",
    "plannedZmp": "zmp_desired",
    "plannedCog": "cog_desired",
    "support": "support_polygon",
    "palms": "palm_position",
    "targets": "palm_target",
    "actor": "palm_actor",
    "cog": "cog",
}


class ForceArrow(NamedTuple):
    """A force over time."""

    layer: str  # `feet`, `grips`, `equipment` or `pushes`.
    name: str  # What it acts on.
    point: Array  # (T, 3): point of application in the world, m; NaN where there is no force.
    force: Array  # (T, 3): force in the world, N; NaN where there is none.


def scene_samples(time: Array) -> NDArray[np.intp]:
    """Choose the samples of a log that a scene shows: evenly many a second, and the last.

    `time` (T,): times of the log's samples, s. Returns (S,) of int: indices of samples.
    """
    period = max(1.0 / SCENE_RATE, float(time[-1] - time[0]) / MOST_POSES)
    wanted = np.arange(time[0], time[-1] + 0.5 * period, period)
    return np.unique(
        np.append(np.clip(np.searchsorted(time, wanted - 1e-9), 0, len(time) - 1), len(time) - 1)
    )


def make_scene(
    scenario: Scenario, robot: Robot, mechanisms: Sequence[Mechanism], log: xr.Dataset, packer: Packer
) -> dict[str, Any]:
    """Describe the bodies of a run, their motion, and what is drawn between them.

    `scenario`, `robot`, `mechanisms`, `log`: from `load_drawn_run`; `packer`: gets the arrays. Returns part
    `scene` of a run in the page's document; `report/scripts/scene.js` draws it. Raises UndrawableShapeError
    if a mesh cannot be read.
    """
    samples = scene_samples(log.time.values)
    planned = reconstruct_planned_base(robot, log)[samples]
    log, camera, model = log.isel(time=samples), scenario.camera, robot.model
    # Surfaces of the links, with the joint that each hangs on and its pose there.
    bodies: list[dict[str, Any]] = []
    for name, solid in robot_solids(read_robot_meshes(robot, average_textures=True), TRIANGLES).items():
        frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
        bodies.append(
            {
                "name": printable(name),
                "robot": True,
                "joint": int(frame.parentJoint),
                "pose": pin.SE3ToXYZQUAT(frame.placement).tolist(),
                "surface": pack_surface(solid, packer),
            }
        )
    # Furniture and equipment have poses over time, or one if they stand still.
    for mechanism in mechanisms:
        columns = [log[f"{mechanism.name}_{joint.name}"].values for joint in mechanism.joints]
        positions = np.stack(columns, axis=1) if columns else np.empty((log.sizes["time"], 0))
        stand = log[f"{mechanism.name}_stand"].values if mechanism.standing else None
        poses = mechanism_poses(mechanism, positions, stand)
        for column, part in enumerate((*mechanism.furniture, *mechanism.parts)):
            body: dict[str, Any] = {
                "name": printable(f"{mechanism.name}/{part.name}"),
                "robot": False,
                "surface": pack_surface(part_solid(part), packer),
            }
            track = continuous_poses(pose_numbers(poses[:, column]))
            if np.ptp(track, axis=0).max() <= _STILL:
                body["pose"] = track[0].tolist()
            else:
                body["track"] = packer.add_signals(track)
            bodies.append(body)
    return {
        "camera": {
            "target": list(camera.target_m or (0.0, 0.0, 0.0)),
            "distance": camera.distance_m or 3.0,
            "yaw": camera.yaw_deg,
            "pitch": camera.pitch_deg,
            "fov": camera.fov_deg,
        },
        "joints": _joint_tree(robot),
        "bodies": bodies,
        "floating": robot.floating,
        "base": packer.add_signals(continuous_poses(log["base_pose"].values)),
        "plannedBase": packer.add_signals(continuous_poses(planned)),
        "forces": [
            {
                "layer": force.layer,
                "name": force.name,
                "point": packer.add_signals(force.point),
                "force": packer.add_signals(force.force),
            }
            for force in contact_forces(log)
        ],
        # N; 0 if the log does not say it.
        "weight": float(log.attrs.get("mass_kg", 0.0) * log.attrs.get("gravity_m_s2", 0.0)),
        **{
            key: packer.add_signals(log[name].values)
            for key, name in _POINTS.items()
            if name in log and (key != "cog" or "zmp" in log)
        },
    }


def _joint_tree(robot: Robot) -> list[dict[str, Any]]:
    """Joints of a robot from the root on: parent, pose in the parent's frame, axis, and column of positions.

    The first is the world, or the root link of a robot with a floating base.
    """
    model = robot.model
    data, neutral = model.createData(), pin.neutral(model)
    first = model.joints[1].idx_v + model.joints[1].nv if robot.floating else 0
    joints: list[dict[str, Any]] = [{"parent": -1, "pose": [0.0] * 6 + [1.0], "column": -1}]
    for joint in range(1, model.njoints):
        entry = {
            "parent": int(model.parents[joint]),
            "pose": pin.SE3ToXYZQUAT(model.jointPlacements[joint]).tolist(),
            "column": int(model.joints[joint].idx_v) - first,
        }
        if entry["column"] >= 0:
            # The joint's twist in its own frame: linear for one that slides, angular for one that turns.
            twist = pin.computeJointJacobian(model, data, neutral, joint)[:, model.joints[joint].idx_v]
            slides = bool(np.linalg.norm(twist[3:]) < 0.5)
            entry |= {"slides": slides, "axis": (twist[:3] if slides else twist[3:]).tolist()}
        joints.append(entry)
    return joints


def pack_surface(solid: Solid, packer: Packer) -> dict[str, Any]:
    """Pack a surface: positions rounded to 16 bits of its size, normals to 8 bits.

    `packer`: gets the arrays. Returns description of the surface.
    """
    low = solid.points.min(axis=0).astype(float)
    size = np.maximum(np.ptp(solid.points, axis=0).astype(float), 1e-9)
    wide = len(solid.points) > 65535
    colours, inverse = np.unique(solid.colours, axis=0, return_inverse=True)
    one = len(colours) == 1
    surface: dict[str, Any] = {
        "low": low.tolist(),
        "step": (size / 65535.0).tolist(),
        "points": packer.add_array(np.rint((solid.points - low) / size * 65535.0), "uint16"),
        "normals": packer.add_array(np.rint(127.0 * solid.normals), "int8"),
        "triangles": packer.add_array(solid.triangles, "uint32" if wide else "uint16"),
        "colour": colours[0].tolist() if one else None,
    }
    if not one:
        surface["colours"] = packer.add_array(colours[inverse.ravel()], "uint8")
    return surface


def pose_numbers(matrices: Array) -> Array:
    """Convert homogeneous transformations to positions and quaternions.

    `matrices` (T, 4, 4): transformations, m. Returns (T, 7): position x, y, z, m, and quaternion x, y, z, w.
    """
    return np.array([pin.SE3ToXYZQUAT(pin.SE3(matrix)) for matrix in matrices])


def continuous_poses(poses: Array) -> Array:
    """Choose the signs of quaternions so that each is near the one before it.

    `poses` (T, 7): position and quaternion x, y, z, w. Returns (T, 7): the same poses.
    """
    turned = np.array(poses, dtype=float)
    dots = np.einsum("ti,ti->t", turned[1:, 3:], turned[:-1, 3:])
    signs = np.cumprod(np.append(1.0, np.where(dots < 0.0, -1.0, 1.0)))
    turned[:, 3:] *= signs[:, None]
    return turned


def contact_forces(log: xr.Dataset) -> list[ForceArrow]:
    """Collect the contact forces of a log.

    The floor's force on a foot acts at the foot's centre of pressure; a grip's at its grip point. The force
    of contacts on equipment, and of a push, is drawn on its line of action (the central axis of its wrench):
    where it is nearest to a palm, and where it is nearest to the COG. `log`: log from `open_run`, or some of
    its samples. Returns forces of at least 1 N at some sample.
    """
    arrows = []
    if "foot_wrench" in log:
        for column, side in enumerate(log["foot"].values.astype(str)):
            wrench = log["foot_wrench"].values[:, column]
            arrows.append(ForceArrow("feet", f"{side} foot", centre_of_pressure(wrench), wrench[:, :3]))
    if "grip_wrench" in log and "grip_point" in log:
        for column, side in enumerate(log["hand"].values.astype(str)):
            point, wrench = log["grip_point"].values[:, column], log["grip_wrench"].values[:, column]
            arrows.append(ForceArrow("grips", f"grip of the {side} hand", point, wrench[:, :3]))
    palms = log["palm_position"].values if "palm_position" in log else np.empty((0, 0, 3))
    for name in map(str, log) if palms.shape[1] else ():
        if not name.endswith("_contact_wrench") or log[name].dims != ("time", "axis6"):
            continue
        wrench = log[name].values
        near = [nearest_on_axis(wrench, palms[:, hand]) for hand in range(palms.shape[1])]
        candidates = np.stack(near, axis=1)
        distance = np.linalg.norm(candidates - palms, axis=2)
        nearest = np.where(np.isnan(distance), np.inf, distance).argmin(axis=1)
        point = candidates[np.arange(len(candidates)), nearest]
        words = f"contacts on {name.removesuffix('_contact_wrench')}"
        arrows.append(ForceArrow("equipment", words, point, wrench[:, :3]))
    if "push_wrench" in log and "cog" in log:
        wrench = log["push_wrench"].values
        point = nearest_on_axis(wrench, log["cog"].values)
        arrows.append(ForceArrow("pushes", "push", point, wrench[:, :3]))
    shown = []
    for layer, name, point, force in arrows:
        enough = (np.linalg.norm(force, axis=1) >= _LEAST) & np.isfinite(point).all(axis=1)
        if enough.any():
            point, force = (np.where(enough[:, None], each, np.nan) for each in (point, force))
            shown.append(ForceArrow(layer, name, point, force))
    return shown


def centre_of_pressure(wrench: Array) -> Array:
    """Compute where the floor's force on a foot acts.

    `wrench` (T, 6): force, N, and moment about the world's origin, N·m. Returns (T, 3): point on the floor z
    = 0, m; NaN where the floor does not press.
    """
    vertical = np.where(wrench[:, 2] > 0.0, wrench[:, 2], np.nan)
    return np.stack([-wrench[:, 4] / vertical, wrench[:, 3] / vertical, 0.0 * vertical], axis=1)


def nearest_on_axis(wrench: Array, near: Array) -> Array:
    """Compute the point of a wrench's central axis that is nearest to a given one.

    `wrench` (T, 6): force, N, and moment about the world's origin, N·m; `near` (T, 3): points in the world,
    m. Returns (T, 3): points, m; NaN where there is no force.
    """
    force, moment = wrench[:, :3], wrench[:, 3:]
    square = np.sum(force**2, axis=1, keepdims=True)
    square = np.where(square > 0.0, square, np.nan)
    foot = np.cross(force, moment) / square
    along = np.sum((near - foot) * force, axis=1, keepdims=True) / square
    return np.asarray(foot + along * force)
