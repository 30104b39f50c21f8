"""Compare guessed descriptions of robots with those written by hand, or with the names of their joints.

    python scripts/studies/scaffold_robots.py [NAME_OR_ROBOT_YAML_OR_URDF_OR_FOLDER ...]

Of a URDF, xacro or MJCF without a description, and of all of them in a folder, what the names of its joints
say is compared with the guess, which reads no names but to break ties: sides and limbs of joints (shoulder,
elbow, hip, knee, ...), fingers, a free base if there are hips on both sides, and the places of
elbows, wrists and knees, within 3 % of the robot's size. Each is inspected, too, and what is written is
loaded again. Printed are, for each robot, how many are right, wrong but with medium or low confidence or said
to be missing, and wrong with confidence; exit status 1 if any are wrong with confidence, fail with a
traceback, or cannot be loaded again.

Otherwise each robot's URDF is given to `scaffold_robot` without its `robot.yaml` and without massless frames.
A group is right if it names the same joints; a frame if its origin is within 5 cm of the one written by hand,
or 5 mm and 1 degree for feet; a palm if it is within 5 cm and 10 degrees; a sole if each corner is within
5 mm. Pairs of links that only one description lists are counted by how often they touch.
"""

import argparse
import tempfile
import time
import traceback
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.errors import SimbenchError
from simbench.robot.collision_geometry import build_convex_geometry, count_near, set_collision_pairs
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_inspection import RobotInspection
from simbench.robot.scaffold.limb_chains import side_in_name, words_of
from simbench.robot.scaffold.robot_tree import RobotTree
from simbench.robot.scaffold.scaffold import Scaffold, scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.robot.sides import SIDES
from simbench.robot.urdf.source import read_urdf

_CONFIGURATIONS, _SHOWN = 1000, 3


class Row(NamedTuple):
    """A compared key: what is guessed, and how far it is from what was written by hand."""

    key: str
    verdict: str
    detail: str


def main() -> int:
    """Print a table for each robot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robots", nargs="*", default=["romeo", "mahru", "puma560", "g1", "talos"])
    parser.add_argument("--out", type=Path, default=Path("scaffolds"), help="Folder for the guessed files.")
    arguments = parser.parse_args()
    described, files = [], []
    for name in arguments.robots:
        path = Path(name)
        if path.is_dir() and not (path / "robot.yaml").exists():
            found = (each for each in path.rglob("*") if each.suffix.lower() in (".urdf", ".xml", ".xacro"))
            files += sorted(each for each in found if is_robot(each))
        elif path.suffix.lower() in (".urdf", ".xml", ".xacro"):
            files.append(path)
        else:
            described.append(name)
    confident = 0
    for path in files:
        try:
            confident += print_by_names(path)
        except Exception:  # What is looked for: anything but one line.
            print(f"{path.parent.name}/{path.name}: {traceback.format_exc()}")
            confident += 1
    if files:
        print(f"{len(files)} files, {confident} wrong and confident, not loaded again, or with a traceback")
    for name in described:
        by_hand = load_robot(name)
        bare = write_bare_urdf(by_hand.urdf, arguments.out / by_hand.name)
        guessed = load_robot(write_scaffold(scaffold_robot(bare), bare.parent, force=True))
        rows = list(compare(by_hand, guessed))
        print(f"\n{by_hand.name}")
        for row in rows:
            print(f"  {row.key:24s} {row.verdict:8s} {row.detail}")
        counts = {
            verdict: sum(row.verdict == verdict for row in rows) for verdict in ("right", "wrong", "missing")
        }
        print(f"  {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")
    return int(confident > 0)


def write_bare_urdf(urdf: Path, folder: Path) -> Path:
    """Write a URDF without the massless frames that are fixed to its links and would give roles away.

    Parameters
    ----------
    urdf : Path
        URDF of a robot.
    folder : Path
        Folder to write to.

    Returns
    -------
    Path
        The new URDF.
    """
    robot = ET.fromstring(read_urdf(urdf, floating=False)[0])
    parents = {joint.find("parent").get("link") for joint in robot.findall("joint")}
    for joint in robot.findall("joint"):
        child = joint.find("child").get("link")
        link = next(link for link in robot.findall("link") if link.get("name") == child)
        bare = all(link.find(tag) is None for tag in ("visual", "collision")) and _mass(link) == 0.0
        if joint.get("type") == "fixed" and bare and child not in parents:
            robot.remove(joint)
            robot.remove(link)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bare.urdf"
    path.write_text(ET.tostring(robot, encoding="unicode"), encoding="utf-8")
    return path


def _mass(link: ET.Element) -> float:
    mass = link.find("inertial/mass")
    return 0.0 if mass is None else float(mass.get("value", "0"))


def compare(by_hand: Robot, guessed: Robot) -> Iterator[Row]:
    """Compare two descriptions of one robot.

    Parameters
    ----------
    by_hand, guessed : Robot
        The same URDF with the description written by hand, and with the guessed one.

    Yields
    ------
    Row
        A key.
    """
    yield Row(
        "base", _verdict(by_hand.floating == guessed.floating), "floating" if guessed.floating else "fixed"
    )
    for group, joints in by_hand.groups.items():
        found = guessed.groups.get(group)
        verdict = "missing" if found is None else _verdict(set(found) == set(joints))
        yield Row(
            f"groups.{group}", verdict, "" if found is None else f"{len(found)} joints of {len(joints)}"
        )
    for role, frame in by_hand.frames.items():
        yield _compare_frame(by_hand, guessed, role, frame)
    for role in by_hand.soles:
        yield _compare_sole(by_hand, guessed, role)
    for posture in ("basic", "standing") if by_hand.floating else ("ready",):
        if posture in by_hand.postures:
            found = guessed.postures.get(posture)
            error = np.inf if found is None else float(np.abs(found - by_hand.postures[posture]).max())
            yield Row(
                f"postures.{posture}", "missing" if found is None else "-", f"at most {error:.2f} rad off"
            )
    yield from _compare_pairs(by_hand, guessed)


def _compare_pairs(by_hand: Robot, guessed: Robot) -> Iterator[Row]:
    """Pairs of links that only one of the descriptions lists, and in how many configurations they touch."""
    known = {frozenset(pair) for pair in by_hand.self_collision_pairs}
    found = {frozenset(pair) for pair in guessed.self_collision_pairs}
    yield Row(
        "self_collision",
        "-",
        f"{len(known & found)} of {len(known)} listed by hand, {len(found - known)} more",
    )
    for key, pairs in (("only by hand", known - found), ("only guessed", found - known)):
        reasons: dict[str, list[str]] = {}
        for pair, reason in _touching(guessed, sorted(tuple(sorted(pair)) for pair in pairs)):
            reasons.setdefault(reason, []).append("-".join(pair))
        for reason, names in reasons.items():
            listed = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
            yield Row(f"  {key}", "-", f"{len(names)} {reason}: {listed}")


def _touching(robot: Robot, pairs: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], str]]:
    """Say of each pair of links whether it touches in the postures, and in how many random configurations."""
    model = robot.model
    geometry = build_convex_geometry(model, robot.urdf_text)
    shapes: dict[str, list[int]] = {}
    for index, shape in enumerate(geometry.geometryObjects):
        shapes.setdefault(shape.name.rsplit("_", 1)[0], []).append(index)
    root = pin.neutral(model)[: robot.root_q]
    postures = np.array([np.concatenate([root, each]) for each in robot.postures.values()])
    low = np.maximum(model.lowerPositionLimit[robot.root_q :], -np.pi)
    high = np.minimum(model.upperPositionLimit[robot.root_q :], np.pi)
    drawn = np.random.default_rng(1).uniform(low, high, (_CONFIGURATIONS, len(low)))
    configurations = np.hstack([np.tile(root, (_CONFIGURATIONS, 1)), drawn])
    for first, second in pairs:
        parts = [(a, b) for a in shapes.get(first, []) for b in shapes.get(second, [])]
        set_collision_pairs(geometry, parts)
        if not parts:
            yield (first, second), "have no collision shape"
        elif count_near(model, geometry, postures, 0.004).any():
            yield (first, second), "touch in a named posture"
        else:
            share = count_near(model, geometry, configurations, 0.0).max() / _CONFIGURATIONS
            often = "never touch" if not share else "touch seldom" if share < 0.05 else "touch often"
            yield (first, second), f"{often} in {_CONFIGURATIONS} random configurations"


def _verdict(right: bool) -> str:
    return "right" if right else "wrong"


def _placement(robot: Robot, frame: str) -> pin.SE3:
    """Pose of a frame in the root's frame with all joints at zero."""
    data = robot.model.createData()
    q = pin.neutral(robot.model)
    pin.framesForwardKinematics(robot.model, data, q)
    return data.oMf[robot.model.getFrameId(frame)].copy()


def _compare_frame(by_hand: Robot, guessed: Robot, role: str, frame: str) -> Row:
    """Distance and angle between the frames of a role."""
    if role not in guessed.frames:
        return Row(f"frames.{role}", "missing", "")
    offset = _placement(by_hand, frame).actInv(_placement(guessed, guessed.frames[role]))
    distance, angle = (
        np.linalg.norm(offset.translation),
        np.degrees(np.linalg.norm(pin.log3(offset.rotation))),
    )
    part = role.split("_")[-1]
    if part == "hand" and not guessed.hands[role].joints:
        # A flange is round: only its axis means something.
        angle = np.degrees(np.arccos(np.clip(offset.rotation[0, 0], -1.0, 1.0)))
    allowed = {"foot": (0.005, 1.0), "hand": (0.05, 10.0)}.get(part, (0.05, np.inf))
    detail = f"{guessed.frames[role]}: {1000 * distance:.1f} mm, {angle:.1f}° from {frame}"
    return Row(f"frames.{role}", _verdict(distance <= allowed[0] and angle <= allowed[1]), detail)


def _compare_sole(by_hand: Robot, guessed: Robot, role: str) -> Row:
    """Largest distance of the corners of a sole."""
    if role not in guessed.soles:
        return Row(f"soles.{role}", "missing", "")
    corners = [
        np.array([_placement(robot, robot.frames[role]).act(corner) for corner in robot.soles[role]])
        for robot in (by_hand, guessed)
    ]
    error = float(np.linalg.norm(corners[0] - corners[1], axis=1).max())
    return Row(f"soles.{role}", _verdict(error <= 0.005), f"corners within {1000 * error:.2f} mm")


_ARM = {"shoulder", "elbow", "wrist", "forearm", "arm", "clavicle"}
_LEG = {"hip", "knee", "ankle", "leg", "thigh", "calf"}
_GRIP = {"finger", "thumb", "index", "ring", "little", "pinky", "gripper", "jaw", "grip", "knuckle"}
_TURNS = {"yaw", "pitch", "roll"}  # A gripper that turns by an angle of a wrist is one.
_NEAR = 0.03  # Distance, as a part of the robot's size, up to which a frame is where a joint is.


def is_robot(path: Path) -> bool:
    """Tell whether a file describes a robot, and is no part of one, scene or setting."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return "<joint" in text and ("<robot" in text or ("<mujoco" in text and "<worldbody" in text))


def print_by_names(path: Path) -> int:
    """Print what a guess and the names of joints say of a robot; return what is wrong with confidence."""
    start, name = time.perf_counter(), f"{path.parent.name}/{path.name}"
    try:
        RobotInspection(path)
    except SimbenchError as error:
        print(f"{name}: refused by inspect: {error}")
    inspected = time.perf_counter() - start
    try:
        found, tree = scaffold_robot(path), RobotTree(path)
    except SimbenchError as error:
        print(f"{name}: refused: {error}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            load_robot(write_scaffold(found, Path(folder)))
        except SimbenchError as error:
            print(f"{name}: written, but not loaded again: {error}")
            return 1
    rows = list(judge_by_names(found, tree))
    wrong = [(what, confidence) for what, right, confidence in rows if not right]
    confident = [what for what, confidence in wrong if confidence == "high"]
    doubted, seconds = len(wrong) - len(confident), time.perf_counter() - start
    print(
        f"{name}: {len(rows) - len(wrong)} right, {doubted} wrong but doubted, "
        f"{len(confident)} wrong and confident, {seconds:.1f} s, {inspected:.1f} s of them inspection"
    )
    for what in confident:
        print(f"    {what}")
    return len(confident)


def judge_by_names(found: Scaffold, tree: RobotTree) -> Iterator[tuple[str, bool, str]]:
    """Compare a guess with the names of joints: what, whether it is right, and the guess's confidence."""
    description, names = found.description, tree.model.names[1:]
    confidence = {guess.key: guess.confidence for guess in found.guesses}
    group = {joint: name for name, joints in description.groups.items() for joint in joints}
    words = {name: set(words_of(name)) for name in names}
    sides = {name: side_in_name(name) for name in names}
    fingers = {name for name in names if words[name] & _GRIP and not words[name] & _TURNS}
    limbs = {
        name: f"{sides[name]}_{kind}"
        for kind, known in (("leg", _LEG), ("arm", _ARM))
        for name in names
        if words[name] & known and sides[name] and name not in fingers
    }
    pairs = {"left_leg", "right_leg"} <= {*limbs.values()}
    four = any("legs: 4 similar" in line for line in found.missing)
    if pairs:
        yield "base", description.base == "floating", confidence["base"]
    for name, limb in limbs.items():
        got = group.get(name, "no group")
        # What is in no limb, because there is none, is said.
        said = "low" if got == "no group" or four else confidence.get(f"groups.{got}", "medium")
        yield f"{name}: {got}", got == limb, said
    for name in fingers:
        got = group.get(name, "no group")
        yield f"{name}: {got}", not got.endswith("_arm"), confidence.get(f"groups.{got}", "medium")
    fixed = description.fixed_frames
    for side in SIDES:
        for role, word in (("elbow", {"elbow"}), ("wrist", {"wrist"}), ("thigh", {"hip", "thigh"})):
            link = description.frames.get(f"{side}_{role}")
            named = [
                k
                for k, n in enumerate(names, 1)
                if word in words[n] and limbs.get(n, "")[: len(side)] == side
            ]
            if not link or not named or (role == "wrist" and link in fixed):
                continue
            frame = tree.model.frames[tree.model.getFrameId(link, pin.FrameType.BODY)]
            place = (tree.poses[frame.parentJoint] * frame.placement).translation
            distance = min(float(np.linalg.norm(tree.poses[k].translation - place)) for k in named)
            yield f"{side} {role}: {link}", distance < _NEAR * tree.size, confidence[f"frames.{side}_{role}"]


if __name__ == "__main__":
    raise SystemExit(main())
