"""Imitation as a stream: frames in, postures out, for recordings and for real-time input."""

from dataclasses import dataclass

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import Bounds, TrackingModel
from simbench.kinematics.follow import follow
from simbench.kinematics.task_matrix import Targets, Tasks, Workspace, make_workspace
from simbench.kinematics.tree import KinematicTree, kinematic_tree
from simbench.retargeting.imitation.calibration import ScaledActor
from simbench.retargeting.imitation.tasks import ImitationWeights, imitation_tasks

FARTHEST = 1e3
"""Distance from the world's origin, m, beyond which a target is no measurement."""


@dataclass(frozen=True)
class ImitationStream:
    """The scaled model on its way: it holds one posture, whatever the length of the stream.

    Parameters
    ----------
    actor : ScaledActor
    weights : ImitationWeights
    tree : KinematicTree
    tasks : Tasks
    bounds : Bounds
    rounds : int
        Most steps a frame; 0 is one, as in `follow`.
    hold : float
        How firmly those steps hold to the posture of the frame before, as part of `weights.damping` squared.
    q : (nq,) array
        The present posture; every frame changes it.
    work : Workspace
    """

    actor: ScaledActor
    weights: ImitationWeights
    tree: KinematicTree
    tasks: Tasks
    bounds: Bounds
    rounds: int
    hold: float
    q: Array
    work: Workspace


def open_stream(
    actor: ScaledActor,
    q: Array,
    weights: ImitationWeights,
    *,
    rounds: int = 0,
    hold: float = 0.0,
    limited: bool = False,
) -> ImitationStream:
    """Start a stream in a posture.

    Parameters
    ----------
    actor : ScaledActor
    q : (nq,) array
        Configuration of `actor.model`.
    weights : ImitationWeights
    rounds : int
        0: one Gauss-Newton step a frame, the analytical method, and more only where that one is long. Else
        steps to the least error, at most so many.
    hold : float
        How firmly those hold to the posture of the frame before, as part of `weights.damping` squared.
    limited : bool
        Keep the robot's joint limits.

    Returns
    -------
    ImitationStream
    """
    model = actor.model
    tree = kinematic_tree(model)
    limits = (model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy())
    low, high = limits if limited else (np.full_like(limits[0], -np.inf), np.full_like(limits[1], np.inf))
    damping = np.full(model.nv, weights.damping**2)
    if limited:
        damping[6:] = weights.limited_damping**2
    bounds = Bounds(low, high, damping, True)
    return ImitationStream(
        actor,
        weights,
        tree,
        imitation_tasks(actor, weights),
        bounds,
        rounds,
        hold,
        np.array(q, dtype=float),
        make_workspace(tree),
    )


def follow_frames(stream: ImitationStream, points: Array, turns: Array) -> tuple[Array, Array]:
    """Follow frames one after the other; the stream goes on from its last posture.

    Parameters
    ----------
    stream : ImitationStream
    points, turns : (T, 12, 3), (T, R, 3, 3) array
        Targets in the order of `criterion.imitation_targets`; one frame or many at once.

    Returns
    -------
    q : (T, nq) array
        Configurations of `actor.model`; the quaternion is continuous in sign.
    cost : (T,) array
        ‖ε‖² of the frame; for the analytical method before its step.

    Raises
    ------
    MotionError
        If a shape is wrong, or a target is not finite or too far away; the stream stays where it was.
    """
    expected = (len(stream.tasks.point_body), 3), (len(stream.tasks.rotation_body), 3, 3)
    if points.shape[1:] != expected[0] or turns.shape != (len(points), *expected[1]):
        raise MotionError(
            f"frames: points {points.shape} and turns {turns.shape} must be (T, {expected[0][0]}, 3) and "
            f"(T, {expected[1][0]}, 3, 3)"
        )
    # Comparisons with NaN are false.
    if not (np.abs(points) < FARTHEST).all() or not (np.abs(turns) < 2.0).all():
        bad = [np.abs(points) < FARTHEST, np.abs(turns) < 2.0]
        frame = min(int(np.argmax(~ok.reshape(len(ok), -1).all(axis=1))) for ok in bad if not ok.all())
        raise MotionError(
            f"frame {frame}: targets must be finite rotations and within {FARTHEST:g} m of the origin"
        )
    path, cost = np.empty((len(points), len(stream.q))), np.empty(len(points))
    model = TrackingModel(stream.tree, stream.tasks, stream.bounds, stream.work)
    targets = Targets(np.ascontiguousarray(points), np.ascontiguousarray(turns))
    follow(model, targets, stream.q, stream.rounds, stream.hold, path, cost)
    return path, cost
