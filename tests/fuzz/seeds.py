"""Valid files that cases damage, small enough that thousands of them are read in a minute."""

import base64
import contextlib
import io
import json
import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import trimesh
from motion_arrays import humanml3d, omomo, poselib, save_object, torch_archive
from skeleton_dialects import dialects, known_motion, write_bvh
from smpl_files import amass_archive, body_model
from written_animations import acclaim_person, gltf_person, write_acclaim
from written_tables import joint_array, motive, motive_markers, mvnx, qualisys, table

from simbench import read_motion
from simbench.cli.main import main
from simbench.motion.human_motion import HumanMotion
from simbench.motion.readers.joint_names import LAYOUTS
from simbench.motion.shipped import clip_folder
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.native import write_trajectory
from simbench.motion.trajectory_files.write import write_robot_motion
from simbench.motion.writers import write_motion
from simbench.resources import resource_dir
from simbench.robot.robot import load_robot

FRAMES = 24
SCENARIO = b"""\
name: short
summary: The example arm moves by a hundredth of a radian and back.
seed: 0
robot:
  name: my_arm/robot.yaml
  posture: ready
motion:
  source: joints:sweep
  task: {amplitude_rad: 0.01, speed_rad_s: 1.0}
control:
  law: computed_torque
simulation:
  settle_s: 0.02
  hold_s: 0.02
camera:
  target_m: [0.0, 0.0, 0.5]
  distance_m: 2.6
  yaw_deg: 45
  pitch_deg: -15
checks:
  tracking.rms_rad: {max: 0.005}
  torque.saturated_fraction: {max: 0.0}
"""


STUDY = SCENARIO.replace(b"short", b"study").replace(b"my_arm/robot.yaml", b"puma560")
"""A study belongs to absolute paths, and cases work in folders of their own: this one names no file."""
STUDY_COMMAND = (
    *("sweep", "study.yaml", "--vary", "simulation.settle_s=0.02,0.04"),
    *("--out", "study", "--jobs", "1"),
)


class Seeds(NamedTuple):
    """Valid files by name, each group with all that one command reads.

    Parameters
    ----------
    motions : mapping of str to bytes
        Short recordings, one of each format that is read.
    arm : mapping of str to bytes
        A robot with a mesh and a scenario: `my_arm/model.urdf`, `my_arm/robot.yaml`, `short.yaml`.
    robots, scenarios, maps, baselines : mapping of str to bytes
        Descriptions, scenarios, marker maps and baselines that ship with simbench.
    calibration : mapping of str to bytes
        Recordings of an arm.
    run : mapping of str to bytes
        A run directory of `short.yaml`, below `run/`.
    study : mapping of str to bytes
        A finished study of `study.yaml`, below `study/`.
    trajectories : mapping of str to bytes
        A joint trajectory in each format that simbench writes without a robot.
    robot_motions : mapping of str to bytes
        A motion of ROMEO in each format of other programs.
    models : mapping of str to bytes
        A body model of SMPL's layout in each format, with few vertices.
    """

    motions: Mapping[str, bytes]
    arm: Mapping[str, bytes]
    robots: Mapping[str, bytes]
    scenarios: Mapping[str, bytes]
    maps: Mapping[str, bytes]
    baselines: Mapping[str, bytes]
    calibration: Mapping[str, bytes]
    run: Mapping[str, bytes]
    study: Mapping[str, bytes]
    trajectories: Mapping[str, bytes]
    robot_motions: Mapping[str, bytes]
    models: Mapping[str, bytes]


def make_seeds(folder: Path) -> Seeds:
    """Make the valid files; this also compiles and imports what the commands need.

    Parameters
    ----------
    folder : Path
        Empty folder to work in.

    Returns
    -------
    Seeds
        The files.
    """
    _simbench("samples", "samples")
    arm = dict(_read(folder, "samples/my_arm", "my_arm"))
    arm["short.yaml"] = SCENARIO
    _add_mesh(arm)
    for name, content in arm.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    _simbench("run", "short.yaml", "--out", "run")
    (folder / "study.yaml").write_bytes(STUDY)
    _simbench(*STUDY_COMMAND)
    _simbench("report", "run", "--out", "report.html")
    _simbench("robot", "inspect", "my_arm/robot.yaml")
    motions, calibration = _motions(folder), _calibration(folder)
    for name, content in motions.items():
        (folder / name).write_bytes(content)
    for name in motions:
        # The skeleton of an AMC file is no motion.
        if not name.endswith(".asf"):
            _simbench("motion", "inspect", name)
    _simbench("calibrate", "motion1.csv", "--model", "direct_drive_arm", "--kp", "9.5", "--kv", "-9.5")
    _simbench("video", "run", "--end", "0.01", "--out", "video.mp4")
    run = {name: data for name, data in _read(folder, "run", "run").items() if "plots" not in name}
    shipped = {
        kind: {path.name: path.read_bytes() for path in sorted(resource_dir(kind).glob("*.yaml"))}
        for kind in ("scenarios", "marker_maps")
    }
    robots = {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted(resource_dir("robots").glob("*/*"))
        if path.suffix in (".yaml", ".urdf")
    }
    baselines = {
        path.name: path.read_bytes() for path in sorted(resource_dir("scenarios").glob("baselines/*.json"))
    }
    return Seeds(
        *map(
            MappingProxyType,
            (
                motions,
                arm,
                robots,
                shipped["scenarios"],
                shipped["marker_maps"],
                baselines,
                calibration,
                run,
                _read(folder, "study", "study"),
                _trajectories(folder),
                _robot_motions(folder),
                _models(),
            ),
        )
    )


class ReaderSeeds(NamedTuple):
    """Valid files of the readers of motions, as in `Seeds`."""

    motions: Mapping[str, bytes]
    robot_motions: Mapping[str, bytes]
    models: Mapping[str, bytes]


def make_reader_seeds(folder: Path) -> ReaderSeeds:
    """Make the valid files of the readers of motions alone.

    Parameters
    ----------
    folder : Path
        Empty folder to work in, which is the current directory.

    Returns
    -------
    ReaderSeeds
        The files.
    """
    _simbench("samples", "samples")
    return ReaderSeeds(_motions(folder), _robot_motions(folder), _models())


def _simbench(*arguments: str) -> None:
    """Run a command that must succeed, without its output."""
    out, err = io.StringIO(), io.StringIO()
    for stream in (out, err):
        stream.reconfigure = lambda **_: None  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    if status not in (0, 1):
        raise RuntimeError(f"simbench {' '.join(arguments)}: {err.getvalue()}")


def _read(folder: Path, below: str, name: str) -> dict[str, bytes]:
    root = folder / below
    return {
        f"{name}/{path.relative_to(root)}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _add_mesh(arm: dict[str, bytes]) -> None:
    """Give the example arm a mesh in two formats, as shape of one of its links."""
    box = trimesh.creation.box((0.02, 0.03, 0.04))
    arm["my_arm/box.stl"] = box.export(file_type="stl")
    arm["my_arm/box.obj"] = box.export(file_type="obj").encode()
    urdf = arm["my_arm/model.urdf"].decode()
    shapes = "".join(
        f'<{kind}><geometry><mesh filename="{name}"/></geometry></{kind}>'
        for kind, name in (("visual", "box.obj"), ("collision", "box.stl"))
    )
    head, closing, tail = urdf.rpartition("</link>")
    arm["my_arm/model.urdf"] = f"{head}{shapes}{closing}{tail}".encode()


def _motions(folder: Path) -> dict[str, bytes]:
    """Write the first frames of a sample recording in every format."""
    motion = _first_frames(read_motion("sample:walk"))
    found = {}
    for suffix in (".bvh", ".c3d", ".csv", ".nc"):
        path = folder / f"short{suffix}"
        write_motion(motion, path)
        found[path.name] = path.read_bytes()
    lines = (folder / "samples/walk.trc").read_bytes().split(b"\n")
    header = lines[2].replace(b"\t529\t", b"\t%d\t" % FRAMES).rpartition(b"\t")[0] + b"\t%d" % FRAMES
    found["short.trc"] = b"\n".join((*lines[:2], header, *lines[3 : 6 + FRAMES])) + b"\n"
    for name in ("walk.c3d", "wave.bvh"):
        found[name] = (folder / "samples" / name).read_bytes()
    # Of seed 1, because no elbow bends backwards.
    for layout, name in (("SMPL", "smpl"), ("SMPL-H", "smplh"), ("SMPL-X", "smplx")):
        found[f"{name}.npz"], found[f"{name}.pkl"] = _both_formats(amass_archive(layout, FRAMES, seed=1))
    parameters = {"body_pose": np.zeros((FRAMES, 63)), "global_orient": np.zeros((FRAMES, 3))}
    found["gvhmr.pt"] = torch_archive({"smpl_params_global": parameters})
    found |= _tables(_first_frames(read_motion("sample:walk")))
    # Skeletons without a map, with fingers and with a rest pose that nobody takes.
    for name in ("mixamo", "lafan1"):
        found[f"{name}.bvh"] = write_bvh(dialects()[name], known_motion(FRAMES)).encode()
    scene = gltf_person()
    found["person.glb"] = scene.glb(folder / "person.glb").read_bytes()
    numbers = "data:application/octet-stream;base64," + base64.b64encode(scene.data).decode()
    found["person.gltf"] = scene.gltf(folder / "person.gltf", numbers).read_bytes()
    found["person.amc"] = write_acclaim(
        folder, *acclaim_person(FRAMES), stem="person", asf="person"
    ).read_bytes()
    found["person.asf"] = (folder / "person.asf").read_bytes()
    if clips := clip_folder():
        found["clip.txt"] = (clips / "humanoid3d_walk.txt").read_bytes()
    return found


def _tables(motion: HumanMotion) -> dict[str, bytes]:
    """Write a recording, with legs added, as the programs do that know joints or segments."""
    joints = dict(motion.joints)
    for side in ("left", "right"):
        below = (("knee", 0.0, 0.42), ("ankle", 0.0, 0.82), ("heel", -0.05, 0.88), ("toe", 0.15, 0.88))
        joints |= {f"{side}_{name}": joints[f"{side}_hip"] + [x, 0.0, -z] for name, x, z in below}
    rotations = {name: frames[:, :3, :3] for name, frames in motion.segments.items()}
    joints["chest"] = joints["pelvis"] + rotations["pelvis"] @ [0.0, 0.0, 0.3]
    person = SimpleNamespace(
        time=motion.time, joints=joints, rotations=rotations, pelvis_place=joints["pelvis"]
    )
    plain = [*(f"{side}_{joint}" for side in ("left", "right") for joint in ("shoulder", "elbow", "wrist"))]
    markers = {name: joints[name] for name in (*plain, "pelvis")}
    landmarks = joint_array(person, LAYOUTS["mediapipe"][0]).round(6).tolist()
    found = {
        "marks.tsv": qualisys(markers, person.time),
        "points.json": json.dumps(
            {"fps": 60, "frames": [{"pose_world_landmarks": each} for each in landmarks]}
        ),
        "take.mvnx": mvnx(person),
        "bones.csv": motive(person),
        "marks.csv": motive_markers(markers, person.time),
        "joints.csv": table(person, lambda name: [f"{name}_{axis}" for axis in "xyz"]),
    }
    array, archive = io.BytesIO(), io.BytesIO()
    np.save(array, joint_array(person, LAYOUTS["smpl"][0]).astype(np.float32))
    keypoints = {"keypoints_3d": joint_array(person, LAYOUTS["coco"][0]), "fps": 60}
    np.savez_compressed(archive, **keypoints)
    texts = {name: text.encode() for name, text in found.items()}
    arrays = {"joints.npy": array.getvalue(), "joints.npz": archive.getvalue()}
    joints = joint_array(person, LAYOUTS["smpl"][0], up="y")
    arrays["features.npz"], arrays["features.pkl"] = _both_formats({"motion": humanml3d(joints[:, :22])})
    arrays["columns.npz"], arrays["columns.pkl"] = _both_formats({"motion": omomo(joints)})
    skeleton = poselib(FRAMES)[0]
    arrays |= {"poselib.npy": save_object(skeleton), "poselib.pkl": pickle.dumps(skeleton)}
    return {**texts, **arrays, "joints.pkl": pickle.dumps(keypoints)}


def _first_frames(motion: HumanMotion) -> HumanMotion:
    first = slice(FRAMES)
    return replace(
        motion,
        time=motion.time[first],
        joints={name: track[first] for name, track in motion.joints.items()},
        segments={name: track[first] for name, track in motion.segments.items()},
        markers={name: track[first] for name, track in motion.markers.items()},
        strokes=None,
    )


def _both_formats(arrays: Mapping[str, np.ndarray]) -> tuple[bytes, bytes]:
    """Write arrays as an archive and as a pickle."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue(), pickle.dumps(dict(arrays), 2)


def _models() -> dict[str, bytes]:
    """Take as many vertices of a body model as its joints need."""
    model = body_model("SMPL", np.random.default_rng(0))
    few = {name: model[name][:240] for name in ("v_template", "shapedirs", "weights")}
    few |= {"J_regressor": model["J_regressor"][:, :240], "kintree_table": model["kintree_table"]}
    archive, content = _both_formats(few)
    return {"model.npz": archive, "model.pkl": content}


def _calibration(folder: Path) -> dict[str, bytes]:
    """Take every eighth sample of the sample recordings of arms."""
    found = {}
    for name in ("motion1.csv", "tips.csv"):
        header, *rows = (folder / "samples" / name).read_bytes().splitlines()
        found[name] = b"\n".join((header, *rows[::4])) + b"\n"
        (folder / name).write_bytes(found[name])
    return found


def _trajectories(folder: Path) -> dict[str, bytes]:
    time = np.linspace(0.0, 0.2, 21)
    names = tuple(f"joint{number}" for number in range(4))
    motion = np.sin(time)[:, None] * np.arange(1.0, 5.0)
    base = np.tile([0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0], (len(time), 1))
    trajectory = JointTrajectory(time, motion, names, base)
    found = {}
    for suffix in (".csv", ".nc"):
        path = folder / f"trajectory{suffix}"
        write_trajectory(trajectory, path, ["rad"] * 4, {"robot": "none"})
        found[path.name] = path.read_bytes()
    return found


def _robot_motions(folder: Path) -> dict[str, bytes]:
    """Write a short motion of ROMEO in each format, and in the layouts that are read and not written."""
    romeo = load_robot("romeo")
    time = np.arange(12) / 30.0
    q = np.tile(romeo.postures["standing"], (len(time), 1))
    q[:, romeo.joint_names.index("LShoulderPitch")] += 0.2 * np.sin(time)
    base = np.tile([0.1, 0.2, 0.6, 0.0, 0.0, np.sin(0.5), np.cos(0.5)], (len(time), 1))
    motion = JointTrajectory(time, q, romeo.joint_names, base)
    found = {}
    for name, suffix in (("unitree", ".csv"), ("gmr", ".pkl"), ("npz", ".npz")):
        path = folder / f"{name}{suffix}"
        write_robot_motion(motion, romeo, path, name, {})
        found[path.name] = path.read_bytes()
    header = ["Frame", *(f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ")]
    rows = np.hstack([np.arange(len(time))[:, None], 100.0 * base[:, :3], base[:, 3:6], np.degrees(q)])
    text = io.BytesIO()
    names = ",".join([*header, *(f"{name}_dof" for name in romeo.joint_names)])
    np.savetxt(text, rows, delimiter=",", header=names, comments="")
    found["named.csv"] = text.getvalue()
    first = {"fps": 30, "root_trans_offset": base[:, :3], "root_rot": base[:, 3:], "dof": q[..., None]}
    found["phc.pkl"] = pickle.dumps({"walk": first})
    array = io.BytesIO()
    np.save(array, np.hstack([base, q]))
    found["table.npy"] = array.getvalue()
    w_first = base[:, [0, 1, 2, 6, 3, 4, 5]]
    found["qpos.npz"], found["qpos.pkl"] = _both_formats({"qpos": np.hstack([w_first, q]), "fps": 30.0})
    lists = {
        "fps": 30,
        "root_pos": base[:, :3].tolist(),
        "root_rot": base[:, 3:].tolist(),
        "dof_pos": q.tolist(),
    }
    found["lists.pkl"] = pickle.dumps({**lists, "local_body_pos": None, "link_body_list": None})
    return found
