"""Compare guessed descriptions of robots with those written by hand, and print what differs.

    python scripts/studies/scaffold_robots.py [NAME_OR_ROBOT_YAML ...]

Each robot's URDF is given to `scaffold_robot` without its `robot.yaml` and without massless frames. A group
is right if it names the same joints; a frame if its origin is within 5 cm of the one written by hand, or 5 mm
and 1 degree for feet; a palm if it is within 5 cm and 10 degrees; a sole if each corner is within 5 mm. Pairs
of links that only one description lists are counted by how often they touch.
"""

import argparse
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.robot.collision_geometry import build_convex_geometry, count_near, set_collision_pairs
from simbench.robot.robot import Robot, load_robot
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.robot.urdf.source import read_urdf

_CONFIGURATIONS, _SHOWN = 1000, 3


class Row(NamedTuple):
    """A compared key: what is guessed, and how far it is from what was written by hand."""

    key: str
    verdict: str
    detail: str


def main() -> None:
    """Print a table for each robot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robots", nargs="*", default=["romeo", "mahru", "puma560", "g1", "talos"])
    parser.add_argument("--out", type=Path, default=Path("scaffolds"), help="Folder for the guessed files.")
    arguments = parser.parse_args()
    for name in arguments.robots:
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


if __name__ == "__main__":
    main()
