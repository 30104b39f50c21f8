"""What a law wants of one step: W, w and the hands' Jacobian of equation 4.23, compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.manipulability import manipulability_gradient
from simbench.kinematics.redundancy.anatomy import reluctance
from simbench.kinematics.redundancy.body import SkillBody, add_girdle, carried_along, hand_columns, inertia_of
from simbench.kinematics.redundancy.resolve import Factors, make_factors
from simbench.kinematics.task_matrix import Workspace, make_workspace
from simbench.kinematics.tree import joint_axes

ENERGY, VELOCITY, ERGONOMY, MANIPULABILITY = 0, 1, 2, 3
"""Order of the weights: Tomić (2018), table 4.2."""


class Path(NamedTuple):
    """What a law follows.

    Parameters
    ----------
    start : (n,) array
        Coordinates at sample 0.
    told : (T, n) array
        Where the coordinates are that the law does not resolve; the others are not looked at.
    hand_rotation, hand_position : (T, h, 3, 3), (T, h, 3) array
        World, m.
    points : (T, 4, 3) array
        Left shoulder and elbow, right shoulder and elbow, as recorded, m.
    home : (n,) array
        Posture that a person likes to return to; looked at only if `Constants.habit` is not 0.
    """

    start: Array
    told: Array
    hand_rotation: Array
    hand_position: Array
    points: Array
    home: Array


class Constants(NamedTuple):
    """Numbers of the law.

    Parameters
    ----------
    period : float
        Δt, s.
    gain : float
        p of the manipulability criterion.
    fastest : float
        Speed, rad/s and m/s, up to which coordinates move without moving the hands: the ergonomy criterion
        would jump to its posture within one sample.
    habit : float
        Rate r at which a person returns to the posture the task was begun in, 1/s: all effort counts from
        q̇ = r (q_home − q) on instead of from rest. Without it what resolves redundancy sample by sample
        drifts away, and no criterion alone explains that people do not.
    """

    period: float
    gain: float
    fastest: float
    habit: float = 0.0


class Scratch(NamedTuple):
    """Arrays that a rollout writes to; allocated once."""

    work: Workspace
    factors: Factors
    inertia: Array
    weight: Array
    wish: Array
    columns: Array
    wide: Array
    gradient: Array
    told: Array
    back: Array
    scale: Array
    away: Array
    carried: Array
    error: Array
    least: Array
    most: Array
    move: Array
    locked: NDArray[np.bool_]


def make_scratch(body: SkillBody) -> Scratch:
    """Allocate what a rollout needs."""
    size, rows = len(body.resolved), 6 * len(body.hand_body)
    total, reaching = len(body.tree.parent), len(body.reaching)
    return Scratch(
        make_workspace(body.tree),
        make_factors(size, rows),
        np.zeros((size, size)),
        np.zeros((size, size)),
        np.zeros(size),
        np.zeros((size, rows)),
        np.zeros((reaching, rows)),
        np.zeros(reaching),
        np.zeros(total),
        np.zeros(total),
        np.ones(total),
        np.zeros(total),
        np.zeros(size),
        np.zeros(rows),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, dtype=np.bool_),
    )


@compiled
def preferences(body: SkillBody, constants: Constants, weights: Array, q: Array, scratch: Scratch) -> None:
    """Write W = K⁻¹ and w = −Δt b of equation 4.23, for moves m = Δt q̇, and the hands' Jacobian.

    Φ is of all coordinates, those that move as they are told included: through A their moves m_t and their
    distance from q_erg enter b. Joints near the ends of their ranges are s times as reluctant, so that W is
    S ((k_en + k_erg Δt²)A + (k_vel + k_man)I) S, and effort counts from the habit's moves v on:

    w_r = W_rr v − W_rt m_t − k_erg Δt² A (q(t − Δt) − q_erg) + k_man Δt pω.

    Parameters
    ----------
    body : SkillBody
    constants : Constants
    weights : (4,) array
        k of energy, velocity, ergonomy, manipulability.
    q : (n,) array
        Where the bodies stand.
    scratch : Scratch
        After `tell`: `told` holds m_t and `back` v. `weight`, `wish` and `columns` are overwritten.
    """
    period, size = constants.period, len(body.resolved)
    shape = weights[ENERGY] + weights[ERGONOMY] * period * period
    even = weights[VELOCITY] + weights[MANIPULABILITY]
    if shape != 0.0:
        inertia_of(body, scratch.work, scratch.inertia)
    else:
        joint_axes(
            body.tree,
            scratch.work.rotation,
            scratch.work.position,
            scratch.work.position[0],
            scratch.work.axes,
        )
    hand_columns(body, scratch.work, body.resolved, scratch.columns)
    add_girdle(body, scratch.work, q, scratch.columns)
    reluctance(body.anatomy, q, scratch.scale)
    _efforts(body, shape, even, scratch)
    pull = weights[ERGONOMY] * period * period
    if pull != 0.0:
        _pulls(body, pull, q, scratch)
    if weights[MANIPULABILITY] != 0.0:
        hand_columns(body, scratch.work, body.reaching, scratch.wide)
        manipulability_gradient(scratch.wide, scratch.gradient)
        push, a = weights[MANIPULABILITY] * period * constants.gain, 0
        for s in range(len(body.reaching)):
            if a < size and body.resolved[a] == body.reaching[s]:
                scratch.wish[a] += push * scratch.gradient[s]
                a += 1


@compiled
def _efforts(body: SkillBody, shape: float, even: float, scratch: Scratch) -> None:
    """Write W, and into w what the told coordinates and the habit do to effort."""
    size = len(body.resolved)
    for a in range(size):
        near = scratch.scale[body.resolved[a]]
        for b in range(a + 1):
            value = shape * scratch.inertia[a, b]
            if a == b:
                value += even
            scratch.weight[a, b] = value * near * scratch.scale[body.resolved[b]]
    for a in range(size):
        scratch.wish[a] = 0.0
        for b in range(size):
            weight = scratch.weight[a, b] if a >= b else scratch.weight[b, a]
            scratch.wish[a] += weight * scratch.back[body.resolved[b]]
    if shape != 0.0:
        for t in range(len(scratch.told)):
            scratch.away[t] = shape * scratch.scale[t] * scratch.told[t]
        for a in range(size):
            scratch.away[body.resolved[a]] = 0.0
        carried_along(body, scratch.work, scratch.away, scratch.carried)
        for a in range(size):
            scratch.wish[a] -= scratch.scale[body.resolved[a]] * scratch.carried[a]


@compiled
def _pulls(body: SkillBody, pull: float, q: Array, scratch: Scratch) -> None:
    """Add the pull to the ergonomic posture to w."""
    size = len(body.resolved)
    for t in range(len(q)):
        scratch.away[t] = pull * (q[t] - scratch.told[t] - body.ergonomic[t])
    for a in range(size):
        scratch.away[body.resolved[a]] = 0.0
    for g in range(len(body.anatomy.girdle)):
        for k in body.anatomy.girdle[g, :2]:
            scratch.away[k] = 0.0
    carried_along(body, scratch.work, scratch.away, scratch.carried)
    for a in range(size):
        scratch.wish[a] -= scratch.carried[a]
    for b in range(size):
        away = pull * (q[body.resolved[b]] - body.ergonomic[body.resolved[b]])
        for a in range(size):
            scratch.wish[a] -= scratch.inertia[a, b] * away
