"""From where can each robot do each task? Eight tasks by three robots, with margins or what is missing.

python scripts/place_tasks.py [--participant N] [--seed N] [--robot NAME]... [--task NAME]...
                              [--turn] [--brute N]

PUMA 560 takes the right hand's handle. --turn also asks of each refused case whether a grip that lets the
hand turn about its handle would do. --brute N looks for a place of each refused case in another way: N random
places, scipy's bounded least squares from random postures in five poses of the path each, and then the best
ones moved about at random; the legs' balance, collisions and continuity are not asked for, which makes it
easier.
"""

import argparse
import time
from dataclasses import replace

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


class BruteForce:
    """Another way to ask what is missing: Pinocchio, scipy and chance."""

    def __init__(self, robot: Robot, handles: dict[str, Handle], poses: int = 5) -> None:
        self.robot, self.handles, self.model, self.data = (
            robot,
            handles,
            robot.model,
            robot.model.createData(),
        )
        self.random = np.random.default_rng(1)
        names = [*robot.groups.get("trunk", ())]
        names += [name for side in handles for name in robot.groups[f"{side}_arm"]]
        self.columns = [robot.model.joints[robot.model.getJointId(name)].idx_v for name in names]
        at = [robot.model.joints[robot.model.getJointId(name)].idx_q for name in names]
        self.at = at
        self.low, self.high = (
            robot.model.lowerPositionLimit[at] + 0.03,
            robot.model.upperPositionLimit[at] - 0.03,
        )
        count = max(len(handle.poses) for handle in handles.values())
        self.samples = np.unique(np.linspace(0, count - 1, poses).astype(int))
        self.root, self.heights = np.zeros(3), (0.0, 0.0)
        if robot.floating:
            self.root = stand(robot, (0.0, 0.0), 0.0, choose_posture(robot)).base[:3]
            self.heights = height_range(robot, choose_posture(robot))
        self.sway = self._sway(count)

    def _sway(self, count: int) -> np.ndarray:
        """The pelvis goes 0.4 of the way with the hands' mean, as the COG does when it follows them."""
        sway = np.zeros((count, 3))
        if self.robot.floating:
            for handle in self.handles.values():
                way = handle.poses[:, :2, 3]
                sway[:, :2] += 0.2 * (way - 0.5 * (way.min(axis=0) + way.max(axis=0)))
        return sway

    def errors(self, joints: np.ndarray, base: np.ndarray, targets: dict[str, np.ndarray]) -> tuple:
        """Errors (m, radians as metres) and their derivatives."""
        q = pin.neutral(self.model)
        root = pin.SE3(pin.utils.rotate("z", base[3]), base[:3])
        if self.robot.floating:
            q[:7] = pin.SE3ToXYZQUAT(root)
            root = pin.SE3.Identity()
        q[self.at] = joints
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        wrong, slopes = [], []
        for side, pose in targets.items():
            frame = self.model.getFrameId(self.robot.frames[f"{side}_hand"])
            palm = root * self.data.oMf[frame]
            jacobian = pin.getFrameJacobian(self.model, self.data, frame, pin.ReferenceFrame.LOCAL)[
                :, self.columns
            ]
            axis = self.handles[side].turn_axis
            directions = np.eye(3) if axis is None else axis[None]
            wrong.append(palm.translation - pose[:3, 3])
            slopes.append(palm.rotation @ jacobian[:3])
            for direction in directions:
                wrong.append(RADIAN / np.sqrt(2.0) * (palm.rotation @ direction - pose[:3, :3] @ direction))
                slopes.append(-RADIAN / np.sqrt(2.0) * palm.rotation @ pin.skew(direction) @ jacobian[3:])
        return np.concatenate(wrong), np.vstack(slopes)

    def missing(self, place: np.ndarray, seeds: int) -> float:
        """Largest error over the poses at a place x, y, heading, height; each the least over the seeds."""
        worst = 0.0
        for sample in self.samples:
            base = np.array([place[0], place[1], self.root[2] + place[3], place[2]])
            base[:3] += self.sway[sample]
            targets = {
                side: handle.poses[min(sample, len(handle.poses) - 1)]
                for side, handle in self.handles.items()
            }
            least = np.inf
            for seed in range(seeds):
                start = (
                    0.5 * (self.low + self.high) if seed == 0 else self.random.uniform(self.low, self.high)
                )
                found = least_squares(
                    lambda joints, base=base, targets=targets: self.errors(joints, base, targets)[0],
                    start,
                    lambda joints, base=base, targets=targets: self.errors(joints, base, targets)[1],
                    bounds=(self.low, self.high),
                    max_nfev=40,
                )
                least = min(least, float(np.linalg.norm(found.fun)))
                if least < 1e-4:
                    break
            worst = max(worst, least)
        return worst

    def search(self, trials: int, on_progress) -> tuple[float, np.ndarray]:
        """Find the least missing (m, a radian counting 0.1) and the place of the root."""
        ways = [handle.poses[:, :2, 3] for handle in self.handles.values()]
        middle = np.mean([0.5 * (way.min(axis=0) + way.max(axis=0)) for way in ways], axis=0)
        reach = 0.9 if not self.robot.floating else 0.55
        tried = []
        for trial in range(2 * trials):
            if trial < trials:
                heading = self.random.uniform(-1.0, 1.0)
                ahead, aside = self.random.uniform(0.05, reach), self.random.uniform(-0.3, 0.3)
                c, s = np.cos(heading), np.sin(heading)
                spot = middle - np.array([[c, -s], [s, c]]) @ [ahead, aside]
                place = np.array([*spot, heading, self.random.uniform(*self.heights)])
                seeds = 2
            else:
                # Ever smaller steps from one of the best.
                size = 0.06 * 0.02 ** ((trial - trials) / trials)
                place = tried[self.random.integers(3)][1] + size * self.random.normal(size=4) * [1, 1, 3, 1]
                place[3] = np.clip(place[3], *self.heights)
                seeds = 3
            tried.append((self.missing(place, seeds), place))
            if trial >= trials - 1:
                tried = sorted(tried, key=lambda one: one[0])[:8]
            on_progress("brute", trial + 1, 2 * trials)
        return tried[0]


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
                table.add_row(task, name, describe(here), where, describe(found), f"{seconds:.1f}")
                if found.placement.feasible:
                    continue
                if given.turn:
                    for grip, free in turning(handles).items():
                        other = find_spot(robot, free, Spot(), posture, on_progress)
                        console.print(f"{task}, {name}, hands that may turn {grip}: {describe(other)}")
                if given.brute:
                    least, place = BruteForce(robot, handles).search(given.brute, on_progress)
                    console.print(
                        f"{task}, {name}, brute force over {2 * given.brute} places: "
                        f"{1000 * least:.1f} mm missing (a radian counts {RADIAN} m) "
                        f"with the root at {np.round(place, 3).tolist()}"
                    )
    console.print(table)


if __name__ == "__main__":
    main()
