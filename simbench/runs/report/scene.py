"""The scene of a run for an interactive page: surfaces of all bodies, and their motion.

Links of the robot move by forward kinematics in the page: the page has the log's joint positions and
base instead of the links' poses.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray

from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.runs.report.contact_forces import contact_forces
from simbench.runs.report.packing import Packer
from simbench.runs.video import DrawnRun, reconstruct_planned_base
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.body_poses import mechanism_poses
from simbench.sim.rendering.opengl.content import Solid
from simbench.sim.rendering.solids import part_solid, read_robot_meshes, robot_solids

TRIANGLES = 14_000
"""Number of triangles of a robot, about: more are not seen at the size of a page."""
SCENE_RATE = 50.0
"""Poses per second; the page interpolates between them."""
MOST_POSES = 6000
"""Number of poses of a long run."""
_STILL = 1e-9
"""Largest change of a pose's numbers of a body that does not move."""


def scene_samples(time: Array) -> NDArray[np.intp]:
    """Choose the samples of a log that a scene shows: evenly many a second, and the last.

    `time` (T,): times of the log's samples, s. Returns (S,) of int: indices of samples.
    """
    period = max(1.0 / SCENE_RATE, float(time[-1] - time[0]) / MOST_POSES)
    wanted = np.arange(time[0], time[-1] + 0.5 * period, period)
    return np.unique(
        np.append(np.clip(np.searchsorted(time, wanted - 1e-9), 0, len(time) - 1), len(time) - 1)
    )


def make_scene(run: DrawnRun, packer: Packer) -> dict[str, Any]:
    """Describe the bodies of a run, their motion, and what is drawn between them.

    `run`: from `load_drawn_run`; `packer`: gets the arrays. Returns part `scene` of a run in the page's
    document; `report/scripts/scene.js` draws it. Raises UndrawableShapeError if a mesh cannot be read.
    """
    samples = scene_samples(run.log.time.values)
    log = run.log.isel(time=samples)
    camera = run.scenario.camera
    bodies = _robot_bodies(run.robot, packer) + _equipment_bodies(run.mechanisms, log, packer)
    planned = reconstruct_planned_base(run.robot, run.log)[samples]
    return {
        "camera": {
            "target": list(camera.target_m or (0.0, 0.0, 0.0)),
            "distance": camera.distance_m or 3.0,
            "yaw": camera.yaw_deg,
            "pitch": camera.pitch_deg,
            "fov": camera.fov_deg,
        },
        "joints": _joint_tree(run.robot),
        "bodies": bodies,
        "floating": run.robot.floating,
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
        "weight": _weight(log),
        **_points(log, packer),
    }


def _weight(log: xr.Dataset) -> float:
    """Weight of the robot, N; 0 if the log does not say it."""
    return float(log.attrs.get("mass_kg", 0.0) * log.attrs.get("gravity_m_s2", 0.0))


def _points(log: xr.Dataset, packer: Packer) -> dict[str, Any]:
    """Points and polygons over time, those that the log has."""
    names = {
        "zmp": "zmp",
        "plannedZmp": "zmp_desired",
        "plannedCog": "cog_desired",
        "support": "support_polygon",
        "palms": "palm_position",
        "targets": "palm_target",
        "actor": "palm_actor",
    }
    if "zmp" in log:
        names["cog"] = "cog"
    return {key: packer.add_signals(log[name].values) for key, name in names.items() if name in log}


def _robot_bodies(robot: Robot, packer: Packer) -> list[dict[str, Any]]:
    """Surfaces of the links, with the joint that each hangs on and its pose there."""
    model, bodies = robot.model, []
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
    return bodies


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


def _equipment_bodies(
    mechanisms: Sequence[Mechanism], log: xr.Dataset, packer: Packer
) -> list[dict[str, Any]]:
    """Surfaces of furniture and equipment, with their poses over time, or the one of what stands still."""
    bodies: list[dict[str, Any]] = []
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
    return bodies


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
