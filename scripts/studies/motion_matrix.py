"""Read recordings without any option, judge what is made of them by geometry alone, and print a table.

    python scripts/studies/motion_matrix.py [FILE ...] [--dialects] [--robots romeo,mahru] [--map FILE]

A line for each recording: whether it is read and with how many doubts; the largest change of a bone's
length; height of the lowest foot point over the floor, at its lowest and in the median of the standing
frames; share of the frames in which left is left and the trunk's front is the front, judged from toes and
knees alone; and the mean error of the hands and of the upper arms that retargeting to each robot leaves.
`--dialects` adds a file in the layout of each kind of software, written from one known motion.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from simbench.errors import SimbenchError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.retargeting.api import retarget_motion

BONES = {
    **{f"{side} upper arm": (f"{side}_shoulder", f"{side}_elbow") for side in ("left", "right")},
    **{f"{side} forearm": (f"{side}_elbow", f"{side}_wrist") for side in ("left", "right")},
    **{f"{side} thigh": (f"{side}_hip", f"{side}_knee") for side in ("left", "right")},
    **{f"{side} shank": (f"{side}_knee", f"{side}_ankle") for side in ("left", "right")},
}
FEET = ("ankle", "heel", "toe", "foot", "sole")
COLUMNS = (
    "file",
    "read",
    "doubts",
    "bones %",
    "lowest m",
    "standing m",
    "left",
    "front",
    "left out, assumed",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="Recordings, as simbench reads them.")
    parser.add_argument("--dialects", action="store_true", help="Also a file in each known layout.")
    parser.add_argument("--robots", default="", help="Robots to retarget to, separated by commas.")
    parser.add_argument("--texts", action="store_true", help="Also print notes and doubts.")
    arguments = parser.parse_args()
    robots = [name for name in arguments.robots.split(",") if name]
    print("\t".join([*COLUMNS[:-1], *(f"{name} hands mm, arms °" for name in robots), COLUMNS[-1]]))
    with tempfile.TemporaryDirectory() as folder:
        files = [*arguments.files, *(_write_dialects(Path(folder)) if arguments.dialects else ())]
        total = read = 0
        for file in files:
            total += 1
            line, motion = describe(str(file), robots)
            read += motion is not None
            print(line, flush=True)
            if arguments.texts and motion is not None:
                for text in (*motion.notes, *(f"DOUBT {doubt}" for doubt in motion.doubts)):
                    print(f"    {text}")
    print(f"{read} of {total} read")


def describe(source: str, robots: list[str]) -> tuple[str, HumanMotion | None]:
    """Read a recording and judge it; return a line of the table, and the motion if it was read."""
    name = Path(source).name
    try:
        motion = read_motion(source, ReadOptions())
    except SimbenchError as error:
        return f"{name}\tno\t{str(error).removeprefix(source)[:160]}", None
    lowest, standing = judge_feet(motion)
    left, front = judge_sides(motion)
    cells = [
        *(name, "yes", len(inspect_motion(motion).warnings), f"{100 * judge_bones(motion):.2f}"),
        *(lowest, standing, left, front),
        *(_retarget(source, robot) for robot in robots),
        "; ".join(motion.doubts)[:160],
    ]
    return "\t".join(map(str, cells)), motion


def judge_bones(motion: HumanMotion) -> float:
    """Measure the largest change of a bone's length, as a fraction of it."""
    changes = []
    for first, second in BONES.values():
        if first in motion.joints and second in motion.joints:
            length = np.linalg.norm(motion.joints[second] - motion.joints[first], axis=1)
            changes.append(float(np.ptp(length) / np.median(length)))
    return max(changes, default=0.0)


def judge_feet(motion: HumanMotion) -> tuple[str, str]:
    """Measure the height of the lowest foot point: at its lowest, and in the median while it is slow."""
    tracks = [track for name, track in motion.joints.items() if name.partition("_")[2] in FEET]
    if not tracks:
        return "-", "-"
    heights = np.array([track[:, 2] for track in tracks])
    speeds = np.array([np.linalg.norm(np.gradient(track, motion.time, axis=0), axis=1) for track in tracks])
    lowest = heights.argmin(axis=0)
    frames = np.arange(len(motion.time))
    slow = speeds[lowest, frames] < 0.3
    standing = f"{np.median(heights.min(axis=0)[slow]):.3f}" if slow.any() else "-"
    return f"{heights.min():.3f}", standing


def judge_sides(motion: HumanMotion) -> tuple[str, str]:
    """Measure how often left is left and the trunk's front the front, by toes and knees."""
    joints = motion.joints
    vectors = []
    for side in ("left", "right"):
        ankle, knee, hip = (joints.get(f"{side}_{name}") for name in ("ankle", "knee", "hip"))
        toe = joints.get(f"{side}_toe")
        if ankle is not None and toe is not None:
            vectors.append(_horizontal(toe - ankle))
        if ankle is not None and knee is not None and hip is not None:
            bend = knee - (hip + ankle) / 2.0
            vectors.append(_horizontal(bend) * (np.linalg.norm(bend, axis=1) > 0.05)[:, None])
    across = next(
        (
            joints[f"left_{name}"] - joints[f"right_{name}"]
            for name in ("hip", "shoulder")
            if f"left_{name}" in joints and f"right_{name}" in joints
        ),
        None,
    )
    if not vectors or across is None:
        return "-", "-"
    forward = np.sum(vectors, axis=0)
    shown = np.linalg.norm(forward, axis=1) > 0.5
    if not shown.any():
        return "-", "-"
    leftward = np.cross([0.0, 0.0, 1.0], forward)
    left = f"{float(((leftward * across).sum(axis=1)[shown] > 0.0).mean()):.2f}"
    if "trunk" not in motion.segments:
        return left, "-"
    front = (motion.segments["trunk"][:, :3, 0] * forward).sum(axis=1)[shown] > 0.0
    return left, f"{float(front.mean()):.2f}"


def _horizontal(vectors: Array) -> Array:
    """Horizontal unit vectors (T, 3); zero for vertical ones."""
    flat = vectors * [1.0, 1.0, 0.0]
    length = np.linalg.norm(flat, axis=1, keepdims=True)
    return np.asarray(flat / np.where(length > 1e-6, length, 1.0))


def _retarget(source: str, robot: str) -> str:
    """Retarget a recording, and return the robot's mean errors of hands and upper arms."""
    try:
        metrics = retarget_motion(source, robot).plan.metrics
    except SimbenchError as error:
        return f"no: {str(error)[:60]}"
    hands = metrics["retarget.robot_hand_mean_m"]
    return f"{1000 * hands:.0f}, {np.degrees(metrics['retarget.robot_upper_arm_mean_rad']):.1f}"


def _write_dialects(folder: Path) -> Iterator[Path]:
    """Write a file in the layout of each kind of software."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
    from skeleton_dialects import dialects, known_motion, write_bvh

    for name, dialect in dialects().items():
        path = folder / f"{name}.bvh"
        frames = round(2.0 * dialect.rate)
        path.write_text(write_bvh(dialect, known_motion(frames, dialect.rate)), encoding="utf-8")
        yield path


if __name__ == "__main__":
    main()
