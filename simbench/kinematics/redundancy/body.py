"""The body whose skills are studied: joints as a tree, masses, hands, shoulders and elbows; where it is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.joint_inertia import BodyMasses, joint_inertia
from simbench.kinematics.redundancy.anatomy import Anatomy, girdle_slopes
from simbench.kinematics.task_matrix import Workspace
from simbench.kinematics.tree import KinematicTree, place_bodies


class SkillBody(NamedTuple):
    """Upper body of a person or a robot for the laws of this folder; coordinates in the order of its tree.

    Parameters
    ----------
    tree : KinematicTree
        n joints of one degree of freedom.
    masses : BodyMasses
    rotors : (n,) array
        Inertia of what turns with a joint only, reflected through its gear, kg·m²; a person has none.
    resolved : (r,) int array
        Coordinates that a law resolves, ascending; the others move as they are told.
    reaching : (s,) int array
        Coordinates whose Jacobian is that of manipulability, ascending: those resolved, and of the others
        those that bend the body.
    hand_body : (h,) int array
        Body whose pose is a hand's.
    hand_point : (h, 3) array
        Its place on that body, m.
    carries : (h, n) bool array
        Whether a joint moves a hand.
    point_body, point : (4,) int array, (4, 3) array
        Left shoulder and elbow, right shoulder and elbow.
    ergonomic : (n,) array
        q_erg, rad or m.
    low, high : (n,) array
        Limits; infinite where there is none.
    anatomy : Anatomy
        How the joints of a person hang together.
    """

    tree: KinematicTree
    masses: BodyMasses
    rotors: Array
    resolved: NDArray[np.int64]
    reaching: NDArray[np.int64]
    hand_body: NDArray[np.int64]
    hand_point: Array
    carries: NDArray[np.bool_]
    point_body: NDArray[np.int64]
    point: Array
    ergonomic: Array
    low: Array
    high: Array
    anatomy: Anatomy


@compiled
def stand(body: SkillBody, q: Array, work: Workspace) -> None:
    """Put the bodies where the joints (n,) are; the root is the world."""
    for i in range(3):
        work.position[0, i] = 0.0
        for j in range(3):
            work.rotation[0, i, j] = 1.0 if i == j else 0.0
    place_bodies(body.tree, q, work.rotation, work.position)


@compiled
def inertia_of(body: SkillBody, work: Workspace, inertia: Array) -> None:
    """Compute the inertia matrix (r, r) of the resolved coordinates, A of Tomić (2018), for bodies in place.

    Parameters
    ----------
    body : SkillBody
    work : Workspace
        After `stand`; its `axes` are overwritten with the joints' twists.
    inertia : (r, r) array
        Overwritten.
    """
    joint_inertia(body.tree, body.masses, work)
    for a in range(len(body.resolved)):
        row = 6 + body.resolved[a]
        for b in range(a + 1):
            value = work.matrix[row, 6 + body.resolved[b]]
            inertia[a, b] = value
            inertia[b, a] = value
        inertia[a, a] += body.rotors[body.resolved[a]]


@compiled
def carried_along(body: SkillBody, work: Workspace, told: Array, carried: Array) -> None:
    """Compute A_rt x of coordinates that move as they are told: what their motion does to the resolved ones.

    Parameters
    ----------
    body : SkillBody
    work : Workspace
        After `inertia_of`.
    told : (n,) array
        x; 0 where a law resolves.
    carried : (r,) array
        Overwritten.
    """
    for a in range(len(body.resolved)):
        joint, total = body.resolved[a], 0.0
        for t in range(len(told)):
            if told[t] != 0.0:
                total += work.matrix[6 + max(joint, t), 6 + min(joint, t)] * told[t]
        carried[a] = total


@compiled
def hand_columns(body: SkillBody, work: Workspace, joints: NDArray[np.int64], columns: Array) -> None:
    """Compute the Jacobian of the hands, transposed, from the joints' twists.

    Parameters
    ----------
    body : SkillBody
    work : Workspace
        Bodies in place and `axes` from `joint_axes` at the world's origin.
    joints : (r,) int array
    columns : (r, 6 h) array
        Overwritten: velocity of each hand's point and its angular velocity, world axes.
    """
    place = np.empty(3)
    for h in range(len(body.hand_body)):
        point_on(work, body.hand_body[h], body.hand_point[h], place)
        x, y, z = place[0], place[1], place[2]
        first = 6 * h
        for a in range(len(joints)):
            joint = joints[a]
            if body.carries[h, joint]:
                axis = work.axes[joint]
                columns[a, first] = axis[0] + axis[4] * z - axis[5] * y
                columns[a, first + 1] = axis[1] + axis[5] * x - axis[3] * z
                columns[a, first + 2] = axis[2] + axis[3] * y - axis[4] * x
                columns[a, first + 3] = axis[3]
                columns[a, first + 4] = axis[4]
                columns[a, first + 5] = axis[5]
            else:
                for i in range(6):
                    columns[a, first + i] = 0.0


@compiled
def add_girdle(body: SkillBody, work: Workspace, q: Array, columns: Array) -> None:
    """Add to the Jacobian of the hands, transposed, what the clavicles that follow the arms do.

    Parameters
    ----------
    body : SkillBody
    work : Workspace
        As for `hand_columns`.
    q : (n,) array
        Where the bodies stand.
    columns : (r, 6 h) array
        Those of the resolved coordinates; changed in place.
    """
    girdle = body.anatomy.girdle
    slopes, moved = np.empty((2, 2)), np.empty((2, columns.shape[1]))
    for g in range(len(girdle)):
        girdle_slopes(body.anatomy, g, q, slopes)
        hand_columns(body, work, girdle[g, :2], moved)
        for a in range(len(body.resolved)):
            for k in range(2):
                if body.resolved[a] == girdle[g, 2 + k]:
                    for i in range(columns.shape[1]):
                        columns[a, i] += slopes[0, k] * moved[0, i] + slopes[1, k] * moved[1, i]


@compiled
def point_on(work: Workspace, body: int, point: Array, place: Array) -> None:
    """Compute where a point (3,) of a body is in the world, m."""
    r = work.rotation[body]
    for i in range(3):
        place[i] = work.position[body, i] + r[i, 0] * point[0] + r[i, 1] * point[1] + r[i, 2] * point[2]


@compiled
def hand_errors(body: SkillBody, work: Workspace, rotation: Array, position: Array, error: Array) -> float:
    """Compute how far the hands have to go: (6 h,) m and rad, world axes.

    Parameters
    ----------
    body : SkillBody
    work : Workspace
        After `stand`.
    rotation, position : (h, 3, 3), (h, 3) array
        Where the hands should be.
    error : (6 h,) array
        Overwritten: a hand's way, then its rotation vector.

    Returns
    -------
    float
        The greatest of them.
    """
    place = np.empty(3)
    turn = np.empty((3, 3))
    greatest = 0.0
    for h in range(len(body.hand_body)):
        r = work.rotation[body.hand_body[h]]
        point_on(work, body.hand_body[h], body.hand_point[h], place)
        for i in range(3):
            error[6 * h + i] = position[h, i] - place[i]
            for j in range(3):
                turn[i, j] = (
                    rotation[h, i, 0] * r[j, 0] + rotation[h, i, 1] * r[j, 1] + rotation[h, i, 2] * r[j, 2]
                )
        x, y, z = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
        sine = 0.5 * np.sqrt(x * x + y * y + z * z)
        angle = np.arctan2(sine, 0.5 * (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1.0))
        # Half a turn has no axis here, and no step is that long.
        scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
        error[6 * h + 3], error[6 * h + 4], error[6 * h + 5] = scale * x, scale * y, scale * z
        for i in range(6):
            greatest = max(greatest, abs(error[6 * h + i]))
    return greatest
