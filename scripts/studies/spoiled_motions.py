"""Spoil good recordings of skeletons and count what is read right, told, refused, and misread silently.

    python scripts/studies/spoiled_motions.py [--files 200] [--seed 0] [--only KIND ...] [--list]

A known motion is written in the layout of every kind of software and spoiled: the world's axes turned by
right angles or obliquely, left and right exchanged in the names, the file mirrored, a bone or the whole body
scaled, names of joints exchanged. Arrays of joints without names are spoiled too: velocities, rotations and
other blocks of columns beside the positions, other orders of the joints, mirrored axes. What is read is
compared with the truth after a rotation about the vertical and a shift: joints to 2 cm, frames of trunk and
arms to 30 degrees. A reading that is neither right nor told by a doubt is a silent misreading; exit status 1
if there is any.
"""

import argparse
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import SimbenchError
from simbench.motion.human_motion import HumanMotion
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.readers import read_motion
from simbench.motion.readers.joint_names import LAYOUTS

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
import motion_arrays
import skeleton_dialects as known

# Joints and segments that are compared, where both are known.
JOINTS = tuple(
    f"{side}_{joint}"
    for side in ("left", "right")
    for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
)
SEGMENTS = ("trunk", *(f"{s}_{part}" for s in ("left", "right") for part in ("upper_arm", "forearm", "hand")))
CLOSE, ALIGNED = 0.02, np.radians(30.0)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


class Spoiled(NamedTuple):
    """A spoiled file.

    Parameters
    ----------
    content : str or array
        The text of a BVH file, or an array of an archive.
    factor : float
        Factor by which the body is larger than the truth.
    must_tell : bool
        Whether even a reading like the truth must be told, because the file is not one of a human body.
    """

    content: str | np.ndarray
    factor: float = 1.0
    must_tell: bool = False


def main() -> int:
    """Spoil, read, compare, and print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=200, help="Good files, each spoiled in every way.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*SPOILERS, *ARRAY_SPOILERS], nargs="+", metavar="KIND")
    parser.add_argument("--list", action="store_true", help="Print every outcome.")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    layouts = list(known.dialects().values())
    kinds = {
        kind: spoil
        for kind, spoil in (SPOILERS | ARRAY_SPOILERS).items()
        if arguments.only is None or kind in arguments.only
    }
    counts: dict[str, Counter[str]] = {name: Counter() for name in kinds}
    silent = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.files):
            dialect = layouts[number % len(layouts)]
            body = known.known_motion(frames=60, rate=dialect.rate, heading=float(rng.uniform(-3.0, 3.0)))
            for kind, spoil in kinds.items():
                spoiled = spoil(dialect, body, rng)
                outcome, detail = judge(write(spoiled, Path(folder), dialect.rate), body, spoiled)
                counts[kind][outcome] += 1
                if outcome == "silent":
                    silent.append(f"{number} {dialect.name}, {kind}: {detail}")
                if arguments.list:
                    print(number, dialect.name, kind, outcome, detail, sep="\t", flush=True)
    outcomes = ("right", "right, told", "told", "refused", "silent")
    print("\t".join(["spoiled", *outcomes]))
    for kind, found in counts.items():
        print("\t".join([kind, *(str(found[outcome]) for outcome in outcomes)]))
    for line in silent:
        print(f"SILENT {line}")
    return 1 if silent else 0


def write(spoiled: Spoiled, folder: Path, rate: float) -> Path:
    """Write a file."""
    if isinstance(spoiled.content, str):
        path = folder / "spoiled.bvh"
        path.write_text(spoiled.content, encoding="utf-8")
    else:
        path = folder / "spoiled.npz"
        np.savez(path, motion=spoiled.content, fps=rate)
    return path


def judge(path: Path, body: Any, spoiled: Spoiled) -> tuple[str, str]:
    """Read a file and compare it with the truth."""
    try:
        motion = read_motion(path)
    except SimbenchError as error:
        return "refused", str(error)[:120]
    told = list(inspect_motion(motion).warnings)
    distance, angle = compare(motion, body, spoiled.factor)
    right = distance < CLOSE and angle < ALIGNED
    detail = f"{1000 * distance:.0f} mm, {np.degrees(angle):.0f}°; {'; '.join(told)[:160]}"
    if right and not spoiled.must_tell:
        return ("right, told" if told else "right"), detail
    return ("told" if told else "silent"), detail


def compare(motion: HumanMotion, body: Any, factor: float) -> tuple[float, float]:
    """Measure how far joints and frames are off the truth: the largest medians, m and rad."""
    names = [name for name in JOINTS if name in motion.joints]
    # A pose before the motion may have been kept.
    count = min(len(motion.time), len(body.time))
    found = np.stack([motion.joints[name][-count:] for name in names], axis=1)
    truth = factor * np.stack([known.true_joint(body, name)[-count:] for name in names], axis=1)
    # A scaled body is known by its shape.
    found, truth = found - found.mean(axis=(0, 1)), truth - truth.mean(axis=(0, 1))
    size = np.sqrt((truth**2).sum() / (found**2).sum())
    if not 0.98 < size < 1.02:
        found = found * size
    plane = np.einsum("tji,tjk->ik", found[..., :2], truth[..., :2])
    yaw = np.arctan2(plane[0, 1] - plane[1, 0], plane[0, 0] + plane[1, 1])
    turn = Rotation.from_euler("z", yaw).as_matrix()
    distance = np.median(np.linalg.norm(found @ turn.T - truth, axis=2), axis=0).max() / max(factor, 1e-9)
    angles = [
        np.median(
            Rotation.from_matrix(
                np.swapaxes(turn @ motion.segments[name][-count:, :3, :3], 1, 2)
                @ body.segments[name][-count:]
            ).magnitude()
        )
        for name in SEGMENTS
        if name in motion.segments and name not in motion.missing
    ]
    return float(distance), float(max(angles, default=0.0))


def _rewrite_motion(text: str, change: Callable[[np.ndarray, list[str]], np.ndarray]) -> str:
    """Change the numbers of the motion of a BVH text, given the names of the channels."""
    head, motion = text.split("MOTION\n")
    lines = motion.splitlines()
    channels = [word for line in re.findall(r"CHANNELS \d+ (.*)", head) for word in line.split()]
    table = change(np.array([[float(word) for word in line.split()] for line in lines[2:]]), channels)
    rows = "\n".join(" ".join(f"{value:.9f}" for value in row) for row in table)
    return "\n".join([f"{head}MOTION", *lines[:2], rows]) + "\n"


def keep(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Leave the file as it is."""
    return Spoiled(known.write_bvh(dialect, body))


def turn_world(turn: np.ndarray, text: str) -> str:
    """Turn the world's axes: position and rotation of the root, not the rest pose."""
    root = re.search(r"CHANNELS 6 (.*)", text)
    assert root is not None
    order = "".join(word[0] for word in root[1].split() if word.endswith("rotation"))

    def change(table: np.ndarray, channels: list[str]) -> np.ndarray:
        table = table.copy()
        table[:, :3] = table[:, :3] @ turn.T
        own = Rotation.from_euler(order, table[:, 3:6], degrees=True)
        # A turn by right angles may lead to a singularity of the angles, where any of them will do.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table[:, 3:6] = (Rotation.from_matrix(turn) * own).as_euler(order, degrees=True)
        return table

    return _rewrite_motion(text, change)


def turn_right(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Turn the world's axes by right angles."""
    turn = Rotation.create_group("O")[int(rng.integers(24))].as_matrix()
    return Spoiled(turn_world(turn, known.write_bvh(dialect, body)))


def turn_oblique(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Tilt the world's axes obliquely about a horizontal axis."""
    up = known.FILE_AXES[dialect.up] @ [0.0, 0.0, 1.0]
    axis = np.cross(up, rng.normal(size=3))
    angle = rng.uniform(np.radians(30.0), np.radians(60.0))
    turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    return Spoiled(turn_world(turn, known.write_bvh(dialect, body)))


def swap_sides(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Exchange left and right in the names."""
    joints, other = dialect.joints, {}
    for name, (place, _) in joints.items():
        if place and place.startswith(("left", "right")):
            side, _, part = place.partition("_")
            mirrored = f"{'right' if side == 'left' else 'left'}_{part}"
            other[name] = next((n for n, (p, _) in joints.items() if p == mirrored), name)
    return Spoiled(
        known.write_bvh(known.rename(dialect, lambda name: other.get(name, name)), body), 1.0, True
    )


def mirror(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Mirror the file in its x axis: positions and offsets along it, rotations about the other two."""
    text = known.write_bvh(dialect, body)
    text = re.sub(r"OFFSET (\S+) ", lambda match: f"OFFSET {-float(match[1])!r} ", text)

    def change(table: np.ndarray, channels: list[str]) -> np.ndarray:
        signs = [-1.0 if word in ("Xposition", "Yrotation", "Zrotation") else 1.0 for word in channels]
        return table * signs

    return Spoiled(_rewrite_motion(text, change), 1.0, True)


def scale_bone(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Make one bone of an arm or a leg much longer or shorter."""
    ends = [
        name
        for name, (place, parent) in dialect.joints.items()
        if place
        and place.partition("_")[2] in ("elbow", "wrist", "knee", "ankle")
        # A second joint at the same place ends no bone.
        and dialect.joints[parent][0] != place
    ]
    name = ends[int(rng.integers(len(ends)))]
    spoiled = replace(dialect, spoil={name: float(rng.choice([0.5, 1.8]))})
    return Spoiled(known.write_bvh(spoiled, body), 1.0, True)


def scale_body(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Scale the whole body by a factor that no unit explains."""
    factor = float(rng.uniform(0.2, 5.0))
    text = known.write_bvh(dialect, body)
    text = re.sub(
        r"OFFSET (\S+) (\S+) (\S+)",
        lambda match: "OFFSET " + " ".join(repr(factor * float(word)) for word in match.groups()),
        text,
    )

    def change(table: np.ndarray, channels: list[str]) -> np.ndarray:
        return table * [factor if word.endswith("position") else 1.0 for word in channels]

    return Spoiled(_rewrite_motion(text, change), factor)


def exchange_names(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Exchange the names of two joints of different parts of the body."""
    parts = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    sided = {
        place: name
        for name, (place, _) in dialect.joints.items()
        if place and place.partition("_")[2] in parts and place.startswith(("left", "right"))
    }
    side = str(rng.choice(["left", "right"]))
    first, second = rng.choice(len(parts), size=2, replace=False)
    one, two = sided.get(f"{side}_{parts[first]}"), sided.get(f"{side}_{parts[second]}")
    other = {} if one is None or two is None else {one: two, two: one}
    return Spoiled(known.write_bvh(known.rename(dialect, lambda name: other.get(name, name)), body))


def joints_of(body: Any, rng: np.random.Generator) -> np.ndarray:
    """Joints (T, J, 3) of a body in the order of a data set."""
    names = LAYOUTS[str(rng.choice(["smpl", "lafan1", "kit"]))][0][:22]
    return np.stack([known.true_joint(body, PLACES.get(name, name)) for name in names], axis=1)


def keep_array(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Write joints without names."""
    return Spoiled(joints_of(body, rng))


def add_velocities(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Write velocities before or behind the positions, per frame or per second."""
    flat = joints_of(body, rng).reshape(len(body.time), -1)
    blocks = [flat, motion_arrays.velocities(flat, float(rng.choice([1.0, dialect.rate])))]
    return Spoiled(np.hstack(blocks if rng.random() < 0.5 else blocks[::-1]))


def add_blocks(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Write rotations in any form, velocities and contacts around the positions, in any order."""
    joints = joints_of(body, rng)
    frames, count, flat = *joints.shape[:2], joints.reshape(len(joints), -1)
    turns = motion_arrays.turns(frames, count, seed=int(rng.integers(1000)))
    others = [
        motion_arrays.six_numbers(frames, count),
        motion_arrays.six_numbers(frames, count, pairs=True),
        turns.as_quat().reshape(frames, -1),
        turns.as_matrix().reshape(frames, -1),
        turns.as_rotvec().reshape(frames, -1),
        motion_arrays.velocities(flat),
        np.ones((frames, 4)),
    ]
    chosen = [others[k] for k in rng.permutation(len(others))[: int(rng.integers(1, 4))]]
    chosen.insert(int(rng.integers(len(chosen) + 1)), flat)
    return Spoiled(np.hstack(chosen))


def reorder(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Exchange joints of the body: all, or two of them."""
    joints = joints_of(body, rng)
    order = np.arange(joints.shape[1])
    moved = order if rng.random() < 0.3 else rng.choice(order, 2, replace=False)
    order[moved] = rng.permutation(moved) if len(moved) > 2 else moved[::-1]
    return Spoiled(joints[:, order])


def mirror_array(dialect: Any, body: Any, rng: np.random.Generator) -> Spoiled:
    """Mirror the array: one axis negated, or two exchanged."""
    joints = joints_of(body, rng)
    if rng.random() < 0.5:
        return Spoiled(joints[..., rng.permutation([[1, 0, 2], [0, 2, 1], [2, 1, 0]])[0]], 1.0, True)
    signs = np.ones(3)
    signs[int(rng.integers(3))] = -1.0
    return Spoiled(joints * signs, 1.0, True)


# Joints of the body that stand for others of the data sets.
PLACES = {
    "spine1": "spine",
    "spine3": "chest",
    **{
        f"{side}_{name}": f"{side}_{place}"
        for side in ("left", "right")
        for name, place in (("collar", "clavicle"), ("foot", "toe"))
    },
}
ARRAY_SPOILERS: dict[str, Callable[[Any, Any, np.random.Generator], Spoiled]] = {
    "an array, not at all": keep_array,
    "velocities beside positions": add_velocities,
    "extra blocks of columns": add_blocks,
    "another order of joints": reorder,
    "a mirrored array": mirror_array,
}
SPOILERS: dict[str, Callable[[Any, Any, np.random.Generator], Spoiled]] = {
    "not at all": keep,
    "axes turned by right angles": turn_right,
    "axes turned obliquely": turn_oblique,
    "sides exchanged in the names": swap_sides,
    "mirrored": mirror,
    "a bone scaled": scale_bone,
    "the body scaled": scale_body,
    "names of joints exchanged": exchange_names,
}

if __name__ == "__main__":
    raise SystemExit(main())
