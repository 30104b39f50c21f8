"""A whole motion by the weighted law, compiled: the hands keep their path, the criteria choose the joints."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.redundancy.anatomy import follow_arms, least_angle
from simbench.kinematics.redundancy.body import (
    SkillBody,
    add_girdle,
    hand_columns,
    hand_errors,
    point_on,
    stand,
)
from simbench.kinematics.redundancy.objective import Constants, Path, Scratch, preferences
from simbench.kinematics.redundancy.resolve import resolve
from simbench.kinematics.tree import joint_axes

TOLERANCE = 1e-7
"""Farthest that a hand may be from its path, m and rad."""
_CORRECTIONS = 30
_SLOW = 0.2
"""Corrections that leave more than this of an error need a new Jacobian."""


@compiled
def advance(
    body: SkillBody, constants: Constants, rotation: Array, position: Array, q: Array, scratch: Scratch
) -> float:
    """Take one step by the preferences, in place, and bring the hands to their place exactly.

    Parameters
    ----------
    body : SkillBody
    constants : Constants
    rotation, position : (h, 3, 3), (h, 3) array
        Where the hands are to be.
    q : (n,) array
        Changed in place; the bodies stand there before and after.
    scratch : Scratch
        After `preferences`.

    Returns
    -------
    float
        What is left of the hands' error, m or rad; infinite where the joints cannot do it.
    """
    s = scratch
    left = hand_errors(body, s.work, rotation, position, s.error)
    for a in range(len(s.move)):
        s.locked[a] = False
    ready, longest = False, constants.fastest * constants.period
    gentle = constants.period / body.anatomy.stopping if body.anatomy.stopping > 0.0 else 1.0
    for _ in range(_CORRECTIONS):
        _bounds(body, q, gentle, s)
        if not _resolve(s, longest, ready):
            # Limits leave too few joints for all that is wished: the hands come first.
            for a in range(len(s.move)):
                s.locked[a] = False
            if not _resolve(s, 0.0, False):
                return np.inf
        for a in range(len(s.move)):
            q[body.resolved[a]] += s.move[a]
        follow_arms(body.anatomy, q)
        stand(body, q, s.work)
        before, left = left, hand_errors(body, s.work, rotation, position, s.error)
        if left <= TOLERANCE:
            break
        # From here on only the hands count, by the same factors as long as these bring them nearer.
        ready, longest, gentle = left <= _SLOW * before, 0.0, 1.0
        if not ready:
            joint_axes(body.tree, s.work.rotation, s.work.position, s.work.position[0], s.work.axes)
            hand_columns(body, s.work, body.resolved, s.columns)
            add_girdle(body, s.work, q, s.columns)
    return left


@compiled
def _bounds(body: SkillBody, q: Array, gentle: float, s: Scratch) -> None:
    """Write the bounds of the next move: the part `gentle` of what is left to the limits."""
    for a in range(len(s.move)):
        joint = body.resolved[a]
        least = least_angle(body.anatomy, body.low[joint], joint, q) - q[joint]
        most = body.high[joint] - q[joint]
        if gentle >= 1.0:
            # A start beyond a limit may stay there, but not go further.
            least, most = min(least, 0.0), max(most, 0.0)
        s.least[a], s.most[a] = gentle * least, gentle * most


@compiled
def _resolve(s: Scratch, longest: float, ready: bool) -> bool:
    for a in range(len(s.move)):
        if s.locked[a]:
            s.move[a] = 0.0
    return resolve(
        s.weight, s.wish, s.columns, s.error, s.least, s.most, longest, s.locked, s.move, s.factors, ready
    )


@compiled
def roll(
    body: SkillBody, path: Path, constants: Constants, weights: Array, scratch: Scratch, motion: Array
) -> int:
    """Follow a whole path by the weighted law.

    Parameters
    ----------
    body, path, constants : SkillBody, Path, Constants
    weights : (4,) array
        k of energy, velocity, ergonomy, manipulability: not negative, not all 0.
    scratch : Scratch
    motion : (T, n) array
        Overwritten: the coordinates.

    Returns
    -------
    int
        Samples before the first that cannot be reached; T if all are.
    """
    q = path.start.copy()
    stand(body, q, scratch.work)
    for t in range(len(motion)):
        if t > 0 and not _next(body, path, constants, weights, t, q, scratch):
            return t
        for k in range(len(q)):
            motion[t, k] = q[k]
    return len(motion)


@compiled
def _next(
    body: SkillBody, path: Path, constants: Constants, weights: Array, t: int, q: Array, scratch: Scratch
) -> bool:
    """Go on to sample t, in place; whether it is reached."""
    tell(body, path, constants, t, q, scratch)
    preferences(body, constants, weights, q, scratch)
    left = advance(body, constants, path.hand_rotation[t], path.hand_position[t], q, scratch)
    return bool(left <= TOLERANCE)


@compiled
def tell(body: SkillBody, path: Path, constants: Constants, t: int, q: Array, scratch: Scratch) -> None:
    """Move the coordinates that no law resolves to where they are at sample t; the bodies go along.

    `scratch.told` gets by how much, `scratch.back` by how much the habit would move those that a law
    resolves; the clavicles, which go along with the arms, are in neither.
    """
    for k in body.resolved:
        scratch.back[k] = constants.habit * constants.period * (path.home[k] - q[k])
    if len(body.resolved) == len(q):
        return
    following = 0
    for k in range(len(q)):
        if following < len(body.resolved) and body.resolved[following] == k:
            following += 1
        else:
            scratch.told[k] = path.told[t, k] - q[k]
            q[k] = path.told[t, k]
    for g in range(len(body.anatomy.girdle)):
        for k in body.anatomy.girdle[g, :2]:
            scratch.told[k] = 0.0
    follow_arms(body.anatomy, q)
    stand(body, q, scratch.work)


@compiled
def roll_errors(
    body: SkillBody,
    path: Path,
    constants: Constants,
    weights: Array,
    scratch: Scratch,
    errors: Array,
) -> None:
    """Follow a path by many laws, one after the other: how far shoulders and elbows are from their paths.

    Parameters
    ----------
    body, path, constants, scratch
        As in `roll`.
    weights : (m, 4) array
    errors : (m, T) array
        Overwritten: norm of the four points' errors, 12 numbers, m; infinite from a sample on that cannot be
        reached.
    """
    place = np.empty(3)
    for k in range(len(weights)):
        q = path.start.copy()
        stand(body, q, scratch.work)
        for t in range(errors.shape[1]):
            if t > 0 and not _next(body, path, constants, weights[k], t, q, scratch):
                for later in range(t, errors.shape[1]):
                    errors[k, later] = np.inf
                break
            total = 0.0
            for p in range(len(body.point_body)):
                point_on(scratch.work, body.point_body[p], body.point[p], place)
                for i in range(3):
                    away = path.points[t, p, i] - place[i]
                    total += away * away
            errors[k, t] = np.sqrt(total)
