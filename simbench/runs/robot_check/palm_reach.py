"""Whether a robot's hands reach where a person's do, without simulation."""

from functools import cache

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares, minimize
from scipy.spatial import KDTree

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import PALM_OFFSET
from simbench.motion.readers import read_motion
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.robot_check.findings import Finding, Limits, judge

# Recordings whose palm paths are the reference: one in the air, three on equipment.
MOTIONS = ("fast_waving", "drawer", "valves", "steering_wheel")
_CELL = 0.15  # Points that are nearer than this, in lengths of the arm, count as one.
_REACHED = Limits(0.95, 0.7)
_TURNED = Limits(0.7, 0.0)
_POSITION_ERROR = 0.01  # Position error with which a pose counts as reached, in lengths of the arm.
# Angle between the robot's palm and the person's with which it counts as turned alike, rad.
_ROTATION_ERROR = 0.5
# Random configurations of which the farthest reaching ones are improved to find the length of the arm.
_REACH_SAMPLES, _REACH_STARTS = 200, 3
_CLOUD = 4000  # Random configurations that say roughly where a palm can be.
_NEAR = 0.06  # Distance from one of them, in lengths of the arm, that counts as reached there.
# Displacements of the person's palms along each axis that are tried, in lengths of the arm.
_SHIFTS = np.linspace(-0.4, 0.4, 9)
_STARTS = 3  # Random starts of the inverse kinematics after the last solution.


@cache
def palm_poses(side: str) -> Array:
    """Collect where a person's palm goes in the reference motions.

    `side`: `left` or `right`. Returns (N, 4, 4): poses of the palm in the person's axes (x forward, y left, z
    up), x along the fingers and z out of the back of the hand; the origin is the shoulder, lengths are in
    lengths of the arm from shoulder to palm.
    """
    found = []
    for name in MOTIONS:
        motion = read_motion(f"actor:{name}")
        shoulder, elbow, wrist = (motion.joints[f"{side}_{each}"] for each in ("shoulder", "elbow", "wrist"))
        hand = motion.segments[f"{side}_hand"][:, :3, :3]
        segments = (elbow - shoulder, wrist - elbow)
        length = sum(float(np.linalg.norm(each, axis=1).mean()) for each in segments)
        length = length + np.linalg.norm(PALM_OFFSET)
        poses = np.tile(np.eye(4), (len(wrist), 1, 1))
        poses[:, :3, :3] = hand
        poses[:, :3, 3] = (wrist + hand @ PALM_OFFSET - shoulder) / length
        found.append(poses)
    poses = np.concatenate(found)
    cells = np.round(poses[:, :3, 3] / _CELL).astype(int)
    _, first = np.unique(cells, axis=0, return_index=True)
    return poses[np.sort(first)]


def check_reaching(robot: Robot, posture: Array) -> list[Finding]:
    """Judge whether the hands of a robot reach where a person's do, with the trunk at rest.

    The person's palms in free and equipment motions are scaled from the length of the person's arm to the
    robot's, around the shoulder. Each point is looked for within the joint limits. `robot`: any robot;
    `posture` (n,): posture of the other joints, rad. Returns what speaks for and against it; empty for a
    robot without arms.
    """
    sides = [side for side in SIDES if f"{side}_arm" in robot.groups]
    findings = []
    for side in sides:
        lacking = [role for role in ("shoulder", "hand") if f"{side}_{role}" not in robot.frames]
        if lacking:
            reason = f"frames.{side}_{lacking[0]} is missing"
            findings.append(Finding("reach", f"{side}_hand", "no", None, "", reason))
            continue
        q = np.concatenate([pin.neutral(robot.model)[: robot.root_q], posture])
        arm = _Arm(robot, side, q)
        poses = arm.place_poses(palm_poses(side))
        errors = np.array([arm.solve_pose(pose, index) for index, pose in enumerate(poses)])
        reached = errors[:, 0] <= _POSITION_ERROR
        turned = reached & (errors[:, 1] <= _ROTATION_ERROR)
        paths = f"{len(poses)} points of a person's palm ({', '.join(MOTIONS)}) scaled to {arm.length:.3g} m"
        reason = f"of {paths} are reached"
        findings.append(judge("reach", f"{side}_hand_fraction", float(reached.mean()), _REACHED, reason))
        reason = (
            f"of them with the palm turned as the person's to {np.degrees(_ROTATION_ERROR):.0f}°, "
            f"by {len(robot.groups[f'{side}_arm'])} joints"
        )
        findings.append(judge("reach", f"{side}_palm_fraction", float(turned.mean()), _TURNED, reason))
    if len(sides) == 2 and robot.floating:
        reason = "it has the roles, legs and arms that a human motion needs"
        finding = Finding("reach", "human_form", "yes", None, "", reason)
        try:
            require_human_form(robot)
        except RetargetError as error:
            finding = Finding("reach", "human_form", "no", None, "", str(error))
        findings.append(finding)
    return findings


class _Arm:
    """Inverse kinematics of an arm: the other joints keep their posture."""

    def __init__(self, robot: Robot, side: str, q: Array) -> None:
        """Find the arm in the configuration `q` (nq,), and measure its length."""
        self.model, self.data, self.q = robot.model, robot.model.createData(), q
        pin.framesForwardKinematics(self.model, self.data, q)
        joints = [self.model.getJointId(name) for name in robot.groups[f"{side}_arm"]]
        self.palm = self.model.getFrameId(robot.frames[f"{side}_hand"])
        shoulder = self.data.oMf[self.model.getFrameId(robot.frames[f"{side}_shoulder"])]
        self.shoulder = shoulder.translation.copy()
        self.coordinates = np.array([self.model.joints[joint].idx_q for joint in joints])
        self.columns = np.array([self.model.joints[joint].idx_v for joint in joints])
        # Joints without limits are bounded by half a turn.
        low = np.maximum(self.model.lowerPositionLimit[self.coordinates], -np.pi)
        high = np.minimum(self.model.upperPositionLimit[self.coordinates], np.pi)
        self.low, self.high = low - 1e-9, np.maximum(high, low) + 1e-9
        # The largest distance from the shoulder to the palm within the joint limits, m.
        random = np.random.default_rng(0)
        samples = random.uniform(self.low, self.high, (_REACH_SAMPLES, len(low)))
        best = sorted(samples, key=self.nearness)[:_REACH_STARTS]
        bounds = np.column_stack([self.low, self.high])
        self.length = -min(float(minimize(self.nearness, start, bounds=bounds).fun) for start in best)

    def palm_pose(self, values: Array) -> pin.SE3:
        """Compute the pose of the palm at joint positions `values`, rad, by forward kinematics."""
        moved = self.q.copy()
        moved[self.coordinates] = values
        pin.framesForwardKinematics(self.model, self.data, moved)
        return self.data.oMf[self.palm]

    def nearness(self, values: Array) -> float:
        """Compute the negative distance from the shoulder to the palm, m."""
        return -float(np.linalg.norm(self.palm_pose(values).translation - self.shoulder))

    def place_poses(self, poses: Array) -> Array:
        """Move a person's palm poses as a whole to where the arm reaches most of them.

        A robot stands, and equipment is put, where it suits the robot. Palm positions in random
        configurations say roughly what is reached.
        """
        random = np.random.default_rng(0)
        cloud = random.uniform(self.low, self.high, (_CLOUD, len(self.columns)))
        points = np.array([self.palm_pose(values).translation - self.shoulder for values in cloud])
        near = KDTree(points / self.length)
        shifts = np.stack(np.meshgrid(_SHIFTS, _SHIFTS, _SHIFTS, indexing="ij"), axis=-1).reshape(-1, 3)
        shifts = shifts[np.argsort(np.linalg.norm(shifts, axis=1), kind="stable")]
        distance, _ = near.query(shifts[:, None] + poses[None, :, :3, 3])
        placed = poses.copy()
        placed[:, :3, 3] += shifts[int((distance < _NEAR).sum(axis=1).argmax())]
        return placed

    def solve_pose(self, pose: Array, seed: int) -> tuple[float, float]:
        """Find the errors of position, in lengths of the arm, and rotation, rad, at a pose."""
        goal = pin.SE3(pose[:3, :3], self.shoulder + self.length * pose[:3, 3])

        def residual(values: Array, weight: float) -> Array:
            palm = self.palm_pose(values)
            offset = (palm.translation - goal.translation) / self.length
            return np.concatenate([offset, weight * pin.log3(goal.rotation.T @ palm.rotation)])

        def slopes(values: Array, weight: float) -> Array:
            moved = self.q.copy()
            moved[self.coordinates] = values
            jacobian = pin.computeFrameJacobian(
                self.model, self.data, moved, self.palm, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )[:, self.columns]
            palm = pin.updateFramePlacement(self.model, self.data, self.palm)
            turned = goal.rotation.T @ palm.rotation
            local = palm.rotation.T @ jacobian[3:]
            return np.vstack([jacobian[:3] / self.length, weight * pin.Jlog3(turned) @ local])

        random, low, high = np.random.default_rng(seed), self.low, self.high
        starts = [
            np.clip(self.q[self.coordinates], low, high),
            *random.uniform(low, high, (_STARTS, len(low))),
        ]
        best = (np.inf, np.inf)
        for start in starts:
            for weight in (0.05, 0.0):
                found = least_squares(
                    residual, start, slopes, bounds=(low, high), args=(weight,), max_nfev=40, xtol=1e-6
                )
                start = np.clip(found.x, low, high)
                errors = residual(found.x, 1.0)
                reached = (float(np.linalg.norm(errors[:3])), float(np.linalg.norm(errors[3:])))
                far = (reached[0] > _POSITION_ERROR, reached[1] > _ROTATION_ERROR)
                if far < (best[0] > _POSITION_ERROR, best[1] > _ROTATION_ERROR) or not np.isfinite(best[0]):
                    best = reached
                if not any(far):
                    return reached
        return best
