"""Costs of imitation as residuals whose squares are summed, by Pinocchio, one frame after the other."""

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.retargeting.imitate import clip, problem


class HandCosts:
    """Residuals of configurations (7 + n,) in frames of an imitation problem."""

    def __init__(self, given):
        self.problem, self.body, self.targets = given, given.body, given.targets
        self.model = given.body.robot.model
        self.data = self.model.createData()
        feet = [side for side in ("left", "right") if f"{side}_sole_0" in self.body.names]
        # Left and right corners of heel and toe of each foot.
        self.edges = [
            [[self.body.index(f"{side}_sole_{k}") for k in pair] for pair in ((0, 3), (1, 2))]
            for side in feet[: self.targets.contact.shape[1]]
        ]

    def place(self, q):
        """Points (P, 3)."""
        pin.forwardKinematics(self.model, self.data, q)
        pairs = zip(self.body.body, self.body.position, strict=True)
        return np.array([self.data.oMi[int(k) + 1].act(position) for k, position in pairs])

    def frame(self, q, frame, points=None):
        """Residuals of one configuration against the targets of a frame."""
        targets, body = self.targets, self.body
        points = self.place(q) if points is None else points
        lines = targets.lines @ points
        lines /= np.linalg.norm(lines, axis=1, keepdims=True)
        found = [(np.sqrt(targets.weights)[:, None] * (lines - targets.directions[frame])).ravel()]
        found.append(np.sqrt(targets.root_weight) * (targets.root_point @ points - targets.root[frame]))
        for foot, edges in enumerate(self.edges):
            for edge, corners in enumerate(edges):
                stands, clearance = targets.contact[frame, foot, edge], targets.clearance[frame, foot, edge]
                z = points[corners, 2]
                weight = np.where(z < 0.0, problem.CONTACT_WEIGHT, problem._FLAT_WEIGHT * stands)
                found.append(np.sqrt(weight) * z)
                near = np.sqrt(problem._CLEARANCE_WEIGHT) / (1.0 + clearance / problem._FADE)
                found.append([0.0 if stands else near * (z.mean() - clearance)])
        found.append(np.sqrt(problem._REST_WEIGHT) * (q[7 + body.joints] - body.rest[body.joints]))
        return np.concatenate(found)

    def clip(self, q, interval):
        """Residuals of configurations (T, 7 + n), of the first T frames: of each one, and between them."""
        points = [self.place(each) for each in q]
        found = [self.frame(*each) for each in zip(q, range(len(q)), points, strict=True)]
        turn = Rotation.from_quat(q[1:, 3:7]) * Rotation.from_quat(q[:-1, 3:7]).inv()
        joints = q[:, 7 + self.body.joints]
        rate = np.hstack([np.diff(q[:, :3], axis=0), turn.as_rotvec(), np.diff(joints, axis=0)]) / interval
        unit = np.where(np.arange(rate.shape[1]) < 3, clip._ROOT_LENGTH, 1.0)
        if len(q) > 3:
            jerk = (rate[2:] - 2.0 * rate[1:-1] + rate[:-2]) / interval**2
            found.append((0.02**3 * jerk / unit).ravel())
        for step, limit in (
            (rate * interval, self.problem.speed * interval),
            (np.diff(rate, axis=0) * interval, self.problem.speed / clip._SHORTEST_START * interval**2),
        ):
            found.append(np.sqrt(clip._EXCESS_WEIGHT) * np.maximum(np.abs(step) - limit, 0.0).ravel())
        stands = self.targets.contact[: len(q)]
        for foot, edges in enumerate(self.edges):
            for edge, corners in enumerate(edges):
                middle = np.array([each[corners, :2].mean(axis=0) for each in points])
                stays = stands[1:, foot, edge] & stands[:-1, foot, edge]
                found.append((np.sqrt(1e5) * stays[:, None] * np.diff(middle, axis=0)).ravel())
        return np.concatenate(found)
