"""From where can each robot do each task? Eight tasks by three robots, with margins or what is missing.

python scripts/place_tasks.py [--participant N] [--seed N] [--robot NAME]... [--task NAME]...
                              [--turn] [--brute N]

PUMA 560 takes the right hand's handle. --turn also asks of each refused case whether a grip that lets the
hand turn about its handle would do. --brute N looks for a place of each refused case in another way, with
Pinocchio's kinematics and scipy's bounded least squares: place and postures in eight poses of the path are
one problem, solved from N random starts. The root may sway 3 cm from where the COG's way would have it,
either way; collisions, bent elbows and continuity are not asked for. That is less than the search asks for:
what this does not find is not there, as far as N starts can tell.
"""

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table
from scipy.optimize import least_squares

from simbench.balance.standing import height_range, stand
from simbench.display import progress_bars
from simbench.motion.actors.session import perform_in_session
from simbench.motion.actors.tasks import PLACES
from simbench.motion.handles import Handle
from simbench.place import Placed, Spot, choose_posture, find_spot, handles_for, judge_spot
from simbench.robot.robot import Robot, load_robot

ROBOTS = ("romeo", "mahru", "puma560")
TURN_AXES = {
    "along the fingers": (1.0, 0.0, 0.0),
    "across the palm": (0.0, 1.0, 0.0),
    "out of the palm": (0.0, 0.0, 1.0),
}
RADIAN = 0.1
"""Metres that a radian counts as in the brute force."""
SWAY_SLACK = 0.03
"""How far the root may be from where the COG's way would have it, either way, m."""


@dataclass(frozen=True)
class Everything:
    """A robot, some poses of its handles' way, and the bounds of all that it may do there.

    The unknowns are x, y, z and heading of the root, and pose by pose its sway (x, y) and the joints.
    """

    robot: Robot
    handles: dict[str, Handle]
    samples: np.ndarray
    joints: tuple[str, ...]
    start_low: np.ndarray
    start_high: np.ndarray
    low: np.ndarray
    high: np.ndarray


def everything(robot: Robot, handles: dict[str, Handle], poses: int = 8) -> Everything:
    """Ask for no more than limits with their margin, the legs' range of heights and a likely sway."""
    count = max(len(handle.poses) for handle in handles.values())
    samples = np.unique(np.linspace(0, count - 1, poses).astype(int))
    names = [*robot.groups.get("trunk", ())]
    names += [name for side in handles for name in robot.groups[f"{side}_arm"]]
    at = [robot.model.joints[robot.model.getJointId(name)].idx_q for name in names]
    limits = np.stack([robot.model.lowerPositionLimit[at] + 0.03, robot.model.upperPositionLimit[at] - 0.03])
    ways = [handle.poses[:, :2, 3] for handle in handles.values()]
    middles = [0.5 * (way.min(axis=0) + way.max(axis=0)) for way in ways]
    middle, sway, heights, height = np.mean(middles, axis=0), np.zeros((count, 2)), (0.0, 0.0), 0.0
    slack, reach = 0.0, 0.9
    if robot.floating:
        posture = choose_posture(robot)
        height, heights = stand(robot, (0.0, 0.0), 0.0, posture).base[2], height_range(robot, posture)
        # As the COG does when it follows the hands.
        sway = 0.2 * sum(way - centre for way, centre in zip(ways, middles, strict=True))
        slack, reach = SWAY_SLACK, 0.55
    place = [
        [*(middle + side * reach), height + lift, side * 1.2]
        for side, lift in zip((-1, 1), heights, strict=True)
    ]
    bounds = [
        np.concatenate(
            [place[i], *(np.concatenate([sway[k] + (2 * i - 1) * slack, limits[i]]) for k in samples)]
        )
        for i in (0, 1)
    ]
    wide = [bounds[0].copy(), bounds[1].copy()]
    wide[0][[0, 1, 3]] -= 0.5
    wide[1][[0, 1, 3]] += 0.5
    return Everything(robot, handles, samples, tuple(names), *bounds, wide[0] - 1e-9, wide[1] + 1e-9)


def misses(asked: Everything, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors of all palms in all poses (a radian counts RADIAN), their derivatives, and off and turned."""
    robot, model = asked.robot, asked.robot.model
    data, q = model.createData(), pin.neutral(model)
    joints = [model.joints[model.getJointId(name)] for name in asked.joints]
    at, columns = [joint.idx_q for joint in joints], [joint.idx_v for joint in joints]
    width = 2 + len(joints)
    turn = pin.utils.rotate("z", unknowns[3])
    wrong, slopes, measured = [], [], []
    for number, sample in enumerate(asked.samples):
        first = 4 + number * width
        root = pin.SE3(turn, unknowns[:3] + np.array([*unknowns[first : first + 2], 0.0]))
        q[at] = unknowns[first + 2 : first + width]
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        for side, handle in asked.handles.items():
            frame = model.getFrameId(robot.frames[f"{side}_hand"])
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            moves = np.zeros((6, len(unknowns)))
            palm = root * data.oMf[frame]
            moves[:3, :3] = np.eye(3)
            moves[:2, first : first + 2] = np.eye(2)
            moves[:3, 3] = np.cross([0.0, 0.0, 1.0], palm.translation - root.translation)
            moves[5, 3] = 1.0
            moves[:3, first + 2 : first + width] = turn @ jacobian[:3, columns]
            moves[3:, first + 2 : first + width] = turn @ jacobian[3:, columns]
            pose = handle.poses[min(sample, len(handle.poses) - 1)]
            off = palm.translation - pose[:3, 3]
            wrong.append(off)
            slopes.append(moves[:3])
            chords = []
            for axis in np.eye(3) if handle.turn_axis is None else handle.turn_axis[None]:
                now, aim = palm.rotation @ axis, pose[:3, :3] @ axis
                chords.append(now - aim)
                wrong.append(RADIAN / np.sqrt(2.0) * (now - aim))
                slopes.append(-RADIAN / np.sqrt(2.0) * pin.skew(now) @ moves[3:])
            whole = 4.0 if handle.turn_axis is not None else 8.0
            turned = 2.0 * np.arcsin(np.sqrt(min(np.square(chords).sum() / whole, 1.0)))
            measured.append([np.linalg.norm(off), turned])
    return np.concatenate(wrong), np.vstack(slopes), np.array(measured)


def brute_force(asked: Everything, trials: int, on_progress) -> tuple[float, float, np.ndarray, int]:
    """Solve for everything at once from random starts.

    Returns the distance (m) and turn (rad) that the best one misses at most, its unknowns, and how many of
    the starts came to within a tenth of its sum of squares.
    """
    random = np.random.default_rng(1)
    width = 2 + len(asked.joints)
    found = []
    for trial in range(trials):
        start = random.uniform(asked.start_low, asked.start_high)
        # The same posture in all poses to begin with.
        posture = start[6 : 4 + width]
        for number in range(len(asked.samples)):
            start[6 + number * width : 4 + (number + 1) * width] = posture
        solved = least_squares(
            lambda unknowns: misses(asked, unknowns)[0],
            start,
            lambda unknowns: misses(asked, unknowns)[1],
            bounds=(asked.low, asked.high),
            max_nfev=80,
        )
        found.append((solved.cost, solved.x))
        on_progress("brute", trial + 1, trials)
        if solved.cost < 1e-9:
            break
    least = min(cost for cost, _ in found)
    best = min(found, key=lambda one: one[0])[1]
    off, turned = misses(asked, best)[2].max(axis=0)
    return off, turned, best, sum(cost < 1.1 * least + 1e-9 for cost, _ in found)


def describe(placed: Placed) -> str:
    """Say the margin and the joint, or what is missing."""
    found = placed.placement
    return f"{found.margin:.3f} rad {found.tightest}" if found.feasible else found.fault


def turning(handles: dict[str, Handle]) -> dict[str, dict[str, Handle]]:
    """The same handles with grips that let the hands turn."""
    return {
        name: {
            side: handle if handle.turn_axis is not None else replace(handle, turn_axis=np.array(axis))
            for side, handle in handles.items()
        }
        for name, axis in TURN_AXES.items()
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--participant", type=int, default=3)
    parser.add_argument("--seed", type=int, default=2018)
    parser.add_argument("--robot", action="append", choices=ROBOTS)
    parser.add_argument("--task", action="append", choices=list(PLACES))
    parser.add_argument("--turn", action="store_true")
    parser.add_argument("--brute", type=int, default=0, metavar="N")
    given = parser.parse_args()
    console = Console()
    table = Table(
        "task",
        "robot",
        "as the actor stood",
        "place x, y (m), heading (rad), height (m)",
        "COG follows, advances",
        "margin or missing",
        "s",
    )
    with progress_bars(Console(stderr=True)) as on_progress:
        for task in given.task or PLACES:
            recorded = perform_in_session(given.seed, given.participant, task).motion.handles
            for name in given.robot or ROBOTS:
                robot = load_robot(name)
                posture, handles = choose_posture(robot), handles_for(robot, recorded)
                start = time.perf_counter()
                here = judge_spot(robot, handles, Spot(), posture)
                found = find_spot(robot, handles, Spot(), posture, on_progress)
                seconds = time.perf_counter() - start
                spot = found.spot
                where = (
                    f"{spot.position[0]:.3f}, {spot.position[1]:.3f}, {spot.heading:.2f}, {spot.height:.3f}"
                )
                follow = f"{spot.follow:.2f}, {spot.advance:.2f}" if robot.floating else ""
                table.add_row(task, name, describe(here), where, follow, describe(found), f"{seconds:.1f}")
                if found.placement.feasible:
                    continue
                if given.turn:
                    for grip, free in turning(handles).items():
                        other = find_spot(robot, free, Spot(), posture, on_progress)
                        console.print(f"{task}, {name}, hands that may turn {grip}: {describe(other)}")
                if given.brute:
                    off, turned, best, same = brute_force(
                        everything(robot, handles), given.brute, on_progress
                    )
                    console.print(
                        f"{task}, {name}, brute force from {given.brute} starts: {1000 * off:.1f} mm and "
                        f"{np.degrees(turned):.1f}° missing with the root at "
                        f"{np.round(best[:4], 3).tolist()}; {same} starts came as near"
                    )
    console.print(table)


if __name__ == "__main__":
    main()
