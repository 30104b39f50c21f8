"""Make the recordings, calibration data and URDF in `samples/`, or check that the files are up to date.

python scripts/tools/make_samples.py [--check]
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce" / "ohtsuki"))
from forward_dynamics import simulate_motions

from simbench.calibration.arm_recording import CHANNELS, TIP, ArmMotion, Feedback
from simbench.calibration.kinematic_calibration import read_numbers, replace_numbers, tip_position
from simbench.dynamics.arm import read_arm
from simbench.motion.human_motion import HumanMotion
from simbench.motion.readers import read_motion
from simbench.motion.writers import write_motion
from simbench.resources import resource_dir
from simbench.robot.dh import DhJoint, DhRow, DhTable, Sigma

Array = NDArray[np.float64]

# ---------------------------------------------------------------- recordings


def make_walk(folder: Path) -> list[Path]:
    """Write the walking actor as a laboratory exports it: markers as C3D and TRC, the skeleton as BVH."""
    motion = read_motion("actor:walking")
    # Only markers, as a motion-capture system gives them; the writer adds joint centres otherwise.
    write_motion(replace(motion, joints={}, segments={}), folder / "walk.c3d")
    write_trc(motion, folder / "walk.trc")
    write_motion(motion, folder / "walk.bvh")
    return [folder / f"walk.{suffix}" for suffix in ("c3d", "trc", "bvh")]


def make_wave(folder: Path) -> list[Path]:
    """Write the waving actor as BVH."""
    write_motion(read_motion("actor:waving"), folder / "wave.bvh")
    return [folder / "wave.bvh"]


def write_trc(motion: HumanMotion, path: Path) -> None:
    """Write the markers of a recording as TRC, the text format of OpenSim: millimetres, y up, x forward."""
    rate, count, markers = round(motion.rate, 6), len(motion.time), motion.markers
    tracks = 1000.0 * np.stack(list(markers.values()), axis=1)[:, :, [0, 2, 1]] * [1.0, 1.0, -1.0]
    columns = "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames"
    values = (rate, rate, count, len(markers), "mm", rate, 1, count)
    axes = (f"{axis}{k + 1}" for k in range(len(markers)) for axis in "XYZ")
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        columns.replace(" ", "\t"),
        "\t".join(map(str, values)),
        "Frame#\tTime\t" + "\t\t\t".join(markers) + "\t\t",
        "\t\t" + "\t".join(axes),
        "",
    ]
    for k, (time, frame) in enumerate(zip(motion.time, tracks.reshape(count, -1), strict=True)):
        lines.append(f"{k + 1}\t{time:.6f}\t" + "\t".join(f"{value:.4f}" for value in frame))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


# ---------------------------------------------------------------- calibration

LAW = Feedback(position=9.5, velocity=-9.5)
"""The law that drives `direct_drive_arm`: N·m/rad and N·m·s/rad."""
STARTS = ((-1.0, 0.5), (0.9, 1.8))
TARGETS = ((1.2, -1.3), (-1.1, -0.2))
"""Where each of the two motions starts from rest, and the target, rad."""
STEP, STEPS, EVERY = 0.001, 5000, 10
"""Time step of the simulation, s, their number, and every how many are recorded (100 Hz)."""
NOISE = (2e-5, 1e-4, 0.01)
"""Standard deviations of measured position (rad), velocity (rad/s) and acceleration (rad/s²)."""

TIP_DEVIATIONS = {
    "joint2.d": 0.0012,
    "joint3.a": 0.0021,
    "joint4.a": -0.0008,
    "joint4.d": 0.0017,
    "joint2.theta": 0.008,
    "joint3.theta": -0.012,
    "joint3.alpha": 0.004,
    "joint5.theta": 0.006,
}
"""What the measured PUMA 560 differs by from the model's Denavit-Hartenberg table, m and rad."""
TIP_A, TIP_D = 0.03, 0.12
"""Where the measured point is on the last link: distance from the axis of joint 6 and along it, m."""
TIP_NOISE, ANGLE_NOISE = 5e-5, 2e-5
"""Standard deviations of a laser tracker per axis, m, and of the joint encoders, rad."""
TIP_RATE, TIP_SAMPLES = 10.0, 400
SEED = 2004


def simulate_arm() -> list[ArmMotion]:
    """Simulate the two noise-free motions of `direct_drive_arm`."""
    arm = read_arm("direct_drive_arm")
    return simulate_motions(arm, LAW, STARTS, TARGETS, STEP, STEPS)


def make_motions(folder: Path) -> list[Path]:
    """Write two motions of `direct_drive_arm` under a known law, with noise."""
    joints = [joint.name for joint in read_arm("direct_drive_arm").table.joints]
    rng = np.random.default_rng(SEED)
    paths = []
    for number, motion in enumerate(simulate_arm(), start=1):
        measured = [
            values[::EVERY] + sigma * rng.normal(size=values[::EVERY].shape)
            for values, sigma in zip((motion.q, motion.velocity, motion.acceleration), NOISE, strict=True)
        ]
        table = np.hstack([*measured, motion.target[::EVERY]])
        names = [f"{joint}.{channel}" for channel in CHANNELS for joint in joints]
        paths.append(_write_csv(folder / f"motion{number}.csv", EVERY * STEP, names, table))
    return paths


def measured_table() -> DhTable:
    """Return the table of the measured PUMA 560, with the point of its last link as the row `tip`."""
    table = read_arm("puma560").table
    names = list(TIP_DEVIATIONS)
    table = replace_numbers(table, names, read_numbers(table, names) + list(TIP_DEVIATIONS.values()))
    tip = DhJoint("tip", table.joints[-1].name, DhRow(a=TIP_A, d=TIP_D), Sigma.FIXED)
    return DhTable((*table.joints, tip))


def make_tips(folder: Path) -> list[Path]:
    """Write positions of a PUMA 560's joints and of a point on its last link, while all joints move."""
    rng, table = np.random.default_rng(SEED), measured_table()
    time = np.arange(TIP_SAMPLES) / TIP_RATE
    frequency, phase = rng.uniform(0.03, 0.08, 6), rng.uniform(0.0, 2.0 * np.pi, 6)
    middle, amplitude = np.array([0.0, -0.8, 2.2, 0.4, 0.3, 0.0]), np.array([1.5, 0.8, 1.0, 1.4, 1.3, 2.0])
    q = middle + amplitude * np.sin(2.0 * np.pi * frequency * time[:, None] + phase)
    tips = tip_position(table, q)
    q = q + ANGLE_NOISE * rng.normal(size=q.shape)
    tips = tips + TIP_NOISE * rng.normal(size=tips.shape)
    names = [f"{joint.name}.position" for joint in table.joints[:-1]]
    return [_write_csv(folder / "tips.csv", 1.0 / TIP_RATE, [*names, *TIP], np.hstack([q, tips]))]


def _write_csv(path: Path, step: float, names: list[str], table: Array) -> Path:
    lines = [",".join(["time", *names])]
    for k, row in enumerate(table):
        lines.append(",".join([f"{k * step:.3f}", *(f"{value:.6f}" for value in row)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


# ---------------------------------------------------------------- the arm

# Links: shape (cylinder: radius, length; box: three sides; m), its centre in the link's frame (m), mass (kg).
# The moments of inertia are those of a solid body.
LINKS = {
    "base": ("cylinder", (0.100, 0.160), (0.0, 0.0, 0.080), 6.0),
    "shoulder": ("cylinder", (0.075, 0.200), (0.0, 0.0, 0.100), 4.2),
    "upper_arm": ("box", (0.110, 0.120, 0.480), (0.0, 0.0, 0.180), 5.0),
    "elbow": ("box", (0.090, 0.100, 0.260), (0.0, 0.0, 0.080), 3.0),
    "forearm": ("cylinder", (0.042, 0.200), (0.0, 0.0, 0.100), 1.8),
    "wrist": ("box", (0.070, 0.080, 0.120), (0.0, 0.0, 0.030), 1.1),
    "flange": ("cylinder", (0.035, 0.030), (0.0, 0.0, 0.015), 0.4),
}
# Joint k leads to the (k + 1)th link: axis, origin in the previous link's frame (m), limits (rad), speed
# (rad/s), torque (N·m).
JOINTS = (
    ("z", (0.0, 0.0, 0.160), 2.90, 2.5, 120.0),
    ("y", (0.0, 0.0, 0.140), 1.90, 2.5, 140.0),
    ("y", (0.0, 0.0, 0.380), 2.40, 2.5, 90.0),
    ("z", (0.0, 0.0, 0.210), 2.90, 4.0, 30.0),
    ("y", (0.0, 0.0, 0.220), 2.00, 4.0, 30.0),
    ("z", (0.0, 0.0, 0.090), 2.90, 4.0, 15.0),
)
COLORS = (("dark", (0.25, 0.27, 0.30, 1.0)), ("light", (0.82, 0.84, 0.86, 1.0)))


def make_arm(folder: Path) -> list[Path]:
    """Write the URDF of the example arm: shapes of cylinders and boxes, inertia of solid bodies."""
    lines = ['<?xml version="1.0"?>', '<robot name="my_arm">']
    for number, (name, (shape, size, centre, mass)) in enumerate(LINKS.items()):
        color = COLORS[number % len(COLORS)]
        material = f'<material name="{color[0]}"><color rgba="{_numbers(color[1])}"/></material>'
        where = f'<origin xyz="{_numbers(centre)}" rpy="0 0 0"/>'
        if shape == "box":
            geometry = f'<box size="{_numbers(size)}"/>'
        else:
            geometry = f'<cylinder radius="{size[0]:g}" length="{size[1]:g}"/>'
        ixx, iyy, izz = solid_moments(shape, size, mass)
        moments = f'ixx="{ixx:.6g}" iyy="{iyy:.6g}" izz="{izz:.6g}" ixy="0" ixz="0" iyz="0"'
        lines += [
            f'  <link name="{name}">',
            f'    <inertial>{where}<mass value="{mass:g}"/><inertia {moments}/></inertial>',
            f"    <visual>{where}<geometry>{geometry}</geometry>{material}</visual>",
            f"    <collision>{where}<geometry>{geometry}</geometry></collision>",
            "  </link>",
        ]
    names = list(LINKS)
    for k, (axis, origin, limit, speed, effort) in enumerate(JOINTS):
        direction = " ".join(str(int(axis == other)) for other in "xyz")
        lines += [
            f'  <joint name="joint{k + 1}" type="revolute">',
            f'    <parent link="{names[k]}"/><child link="{names[k + 1]}"/>',
            f'    <origin xyz="{_numbers(origin)}" rpy="0 0 0"/><axis xyz="{direction}"/>',
            f'    <limit lower="{-limit:g}" upper="{limit:g}" velocity="{speed:g}" effort="{effort:g}"/>',
            "  </joint>",
        ]
    path = folder / "my_arm" / "model.urdf"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([*lines, "</robot>"]) + "\n", encoding="utf-8", newline="\n")
    return [path]


def solid_moments(shape: str, size: tuple[float, ...], mass: float) -> tuple[float, float, float]:
    """Compute the principal moments of inertia, kg·m², of a solid box or of a solid cylinder along z."""
    if shape == "box":
        x, y, z = (side**2 for side in size)
        return mass * (y + z) / 12.0, mass * (x + z) / 12.0, mass * (x + y) / 12.0
    radius, length = size
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return across, across, 0.5 * mass * radius**2


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:g}" for value in values)


# ---------------------------------------------------------------- main

MAKERS: Mapping[str, Callable[[Path], list[Path]]] = {
    "walk": make_walk,
    "wave": make_wave,
    "motions": make_motions,
    "tips": make_tips,
    "arm": make_arm,
}


def find_differences(names: list[str]) -> list[str]:
    """List the files of the named makers that differ in bytes from the committed ones."""
    differing = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for path in MAKERS[name](Path(folder)):
                inside = path.relative_to(folder)
                committed = resource_dir("samples") / inside
                if not committed.is_file() or committed.read_bytes() != path.read_bytes():
                    differing.append(str(inside))
    return differing


def main() -> int:
    """Make or check all samples; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with the committed files only")
    if parser.parse_args().check:
        differing = find_differences(list(MAKERS))
        for name in differing:
            print(f"samples/{name} is not what this script makes", file=sys.stderr)
        return 1 if differing else 0
    folder = resource_dir("samples")
    folder.mkdir(exist_ok=True)
    for make in MAKERS.values():
        for path in make(folder):
            print(f"{path.stat().st_size:8d}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
