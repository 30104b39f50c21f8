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

MAX_DISTANCE = 1e3
"""Distance from the world's origin, m, beyond which a target is no measurement."""


@dataclass(frozen=True)
class ImitationStream:
    """State of an imitation that is under way: one posture, whatever the length of the stream.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model that follows the frames.
    weights : ImitationWeights
        Weights of the errors.
    tree : KinematicTree
        Kinematics of the scaled model.
    tasks : Tasks
        Points and orientations of the model that follow the frames.
    bounds : Bounds
        Joint limits and damping.
    rounds : int
        Most steps per frame; 0 is one, as in `follow`.
    hold : float
        Weight of the previous frame's posture in those steps, as a fraction of `weights.damping` squared.
    q : (nq,) array
        Present configuration; every frame changes it.
    work : Workspace
        Preallocated arrays of the solver.
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
        Scaled model that follows the frames.
    q : (nq,) array
        Configuration of `actor.model` to start in.
    weights : ImitationWeights
        Weights of the errors.
    rounds : int
        0: one Gauss-Newton step per frame, the analytical method, and more only where that one is long. Else
        steps to the least error, at most so many.
    hold : float
        Weight of the previous frame's posture in those steps, as a fraction of `weights.damping` squared.
    limited : bool
        Whether to keep the robot's joint limits.

    Returns
    -------
    ImitationStream
        To be fed by `follow_frames`.
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


def follow_frames(stream: ImitationStream, points: Array, rotations: Array) -> tuple[Array, Array]:
    """Follow frames one after the other; the stream goes on from its last posture.

    Parameters
    ----------
    stream : ImitationStream
        Stream to go on; its posture is changed.
    points : (T, 12, 3) array
        Target positions in the order of `imitation_targets`, world frame, m; one frame or many at once.
    rotations : (T, R, 3, 3) array
        Target orientations in that order, world frame.

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
    if points.shape[1:] != expected[0] or rotations.shape != (len(points), *expected[1]):
        raise MotionError(
            f"frames: points {points.shape} and rotations {rotations.shape} must be "
            f"(T, {expected[0][0]}, 3) and (T, {expected[1][0]}, 3, 3)"
        )
    # Comparisons with NaN are false.
    if not (np.abs(points) < MAX_DISTANCE).all() or not (np.abs(rotations) < 2.0).all():
        bad = [np.abs(points) < MAX_DISTANCE, np.abs(rotations) < 2.0]
        frame = min(int(np.argmax(~ok.reshape(len(ok), -1).all(axis=1))) for ok in bad if not ok.all())
        raise MotionError(
            f"frame {frame}: targets must be finite rotations and within {MAX_DISTANCE:g} m of the origin"
        )
    path, cost = np.empty((len(points), len(stream.q))), np.empty(len(points))
    model = TrackingModel(stream.tree, stream.tasks, stream.bounds, stream.work)
    targets = Targets(np.ascontiguousarray(points), np.ascontiguousarray(rotations))
    follow(model, targets, stream.q, stream.rounds, stream.hold, path, cost)
    return path, cost
