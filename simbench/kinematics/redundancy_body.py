"""The body whose redundancy is resolved: joint tree, masses, hands, shoulders and elbows; its kinematics.

How a person's joints differ from plain hinges: stiff tissue, the trunk in the arms' way, the clavicles.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.task_matrix import BodyMasses, Workspace, joint_inertia
from simbench.kinematics.tree import KinematicTree, place_bodies


class Anatomy(NamedTuple):
    """How the joints of a body limit and move each other; n coordinates, g shoulders."""

    free_fraction: float  # Middle fraction of a range in which a joint moves freely.
    # How much stiffer a joint is beyond it: s = 1 + stiffening (|2q − lower − upper| / (upper − lower) −
    # free_fraction)².
    stiffening: float
    # A joint that nears a limit slows down so that it would need this long for the rest of its range, s; 0 if
    # it does not slow down.
    stopping_time: float
    # `lower`, `upper` (n,): ranges of the joints for the stiffness, rad; infinite where a coordinate has
    # none.
    lower: Array
    upper: Array
    # (n,) int: for the abduction of a shoulder, whose adduction the trunk stops: index of the same shoulder's
    # flexion; −1 for all other coordinates.
    flexion: NDArray[np.int64]
    slack: Array  # (n,): how much farther than beside an average trunk the upper arm can be adducted, rad.
    # `least_beside`, `least_before`: least abduction of an arm beside the trunk and in front of it, rad.
    least_beside: float
    least_before: float
    sine_in_front: float  # Sine of the flexion from which the elbow is in front of the trunk.
    # (g, 4) int: for each shoulder the indices of the clavicle's elevation and protraction, which no law
    # resolves, and of the shoulder's flexion and abduction, which they follow.
    clavicles: NDArray[np.int64]
    # `elevation`, `protraction`: angles of the clavicle for an upper arm that points forward, rad.
    elevation: float
    protraction: float


def make_plain_anatomy(coordinates: int) -> Anatomy:
    """Describe joints that are plain hinges: those of a robot, or of the thesis's model of a person.

    `coordinates`: number n of coordinates. Returns nothing stiffens or slows down, and no clavicle follows an
    arm.
    """
    return Anatomy(
        free_fraction=1.0,
        stiffening=0.0,
        stopping_time=0.0,
        lower=np.full(coordinates, -np.inf),
        upper=np.full(coordinates, np.inf),
        flexion=np.full(coordinates, -1),
        slack=np.zeros(coordinates),
        least_beside=0.0,
        least_before=0.0,
        sine_in_front=1.0,
        clavicles=np.zeros((0, 4), dtype=np.int64),
        elevation=0.0,
        protraction=0.0,
    )


@compiled_entry("anatomy.lower (n), q (n), stiffness (n)")
def compute_joint_limit_stiffness(anatomy: Anatomy, q: Array, stiffness: Array) -> None:
    """Compute how stiff joints are near the ends of their ranges.

    The speed of a joint counts s times in every criterion of effort, its square s². Passive tissue stiffens
    there, so that a joint comes to its limit gently. `anatomy`: ranges and how much joints stiffen; `q` (n,):
    coordinates, rad or m; `stiffness` (n,): s, overwritten; 1 in the middle of a range.
    """
    for k in range(len(q)):
        stiffness[k] = 1.0
        if anatomy.stiffening > 0.0 and anatomy.upper[k] < np.inf:
            middle, half = anatomy.lower[k] + anatomy.upper[k], anatomy.upper[k] - anatomy.lower[k]
            beyond = min(abs(2.0 * q[k] - middle) / half, 1.0) - anatomy.free_fraction
            if beyond > 0.0:
                stiffness[k] += anatomy.stiffening * beyond * beyond


@compiled
def compute_lower_limit(anatomy: Anatomy, lower: float, joint: int, q: Array) -> float:
    """Compute the lower limit of a joint: the end of its range, or the trunk that stops the arm.

    `anatomy`: limits that the trunk sets to the arms; `lower`: lower end of the joint's range, rad or m;
    `joint`: index of the joint in q; `q` (n,): coordinates, rad or m. Returns lower limit at this posture,
    rad or m.
    """
    flexion = anatomy.flexion[joint]
    if flexion < 0:
        return lower
    forward = min(max(np.sin(q[flexion]) / anatomy.sine_in_front, 0.0), 1.0)
    trunk = anatomy.least_before + (anatomy.least_beside - anatomy.least_before) * np.sqrt(
        1.0 - forward * forward
    )
    return max(lower, trunk - anatomy.slack[joint])


@compiled
def compute_step_bounds(
    anatomy: Anatomy,
    limits: tuple[Array, Array],
    joints: NDArray[np.int64],
    q: Array,
    fraction: float,
    bounds: tuple[Array, Array],
) -> None:
    """Compute between which bounds joints may move in one step.

    `anatomy`: limits that the trunk sets to the arms. `limits` two (n,) arrays: lower and upper limits of the
    coordinates, rad or m. `joints` (r,) int: indices in q of the coordinates that move. `q` (n,): coordinates
    before the step, rad or m. `fraction`: fraction of the distance to a limit that a joint may go in one
    step. From 1 on, a joint that begins beyond a limit may stay there, but not go farther. `bounds` two (r,)
    arrays: least and greatest displacement of the joints, rad or m; overwritten.
    """
    for a in range(len(joints)):
        joint = joints[a]
        below = limits[0][joint] - q[joint]
        if anatomy.flexion[joint] >= 0:
            below = compute_lower_limit(anatomy, limits[0][joint], joint, q) - q[joint]
        above = limits[1][joint] - q[joint]
        if fraction >= 1.0:
            below, above = min(below, 0.0), max(above, 0.0)
        bounds[0][a], bounds[1][a] = fraction * below, fraction * above


@compiled_entry("anatomy.lower (n), q (n)")
def update_clavicles(anatomy: Anatomy, q: Array) -> None:
    """Set the clavicles' angles to what follows from the upper arms' directions.

    `anatomy`: which coordinates are the clavicles', and how far they follow; `q` (n,): coordinates, rad or m;
    changed in place.
    """
    for g in range(len(anatomy.clavicles)):
        up, forward, flexion, abduction = anatomy.clavicles[g]
        q[up] = anatomy.elevation * (1.0 - np.cos(q[abduction]) * np.cos(q[flexion]))
        q[forward] = anatomy.protraction * np.cos(q[abduction]) * np.sin(q[flexion])


@compiled
def compute_clavicle_slopes(anatomy: Anatomy, shoulder: int, q: Array, slopes: Array) -> None:
    """Compute the derivatives of a clavicle's angles by the angles of its shoulder.

    `anatomy`: which coordinates are the clavicles', and how far they follow; `shoulder`: row of
    `Anatomy.clavicles`; `q` (n,): coordinates, rad or m; `slopes` (2, 2): derivatives of elevation and
    protraction (rows) by flexion and abduction (columns); overwritten.
    """
    flexion, abduction = q[anatomy.clavicles[shoulder, 2]], q[anatomy.clavicles[shoulder, 3]]
    slopes[0, 0] = anatomy.elevation * np.cos(abduction) * np.sin(flexion)
    slopes[0, 1] = anatomy.elevation * np.sin(abduction) * np.cos(flexion)
    slopes[1, 0] = anatomy.protraction * np.cos(abduction) * np.cos(flexion)
    slopes[1, 1] = -anatomy.protraction * np.sin(abduction) * np.sin(flexion)


class SkillBody(NamedTuple):
    """Upper body of a person or a robot whose redundancy is resolved; coordinates in its tree's order."""

    tree: KinematicTree  # n joints of one degree of freedom.
    masses: BodyMasses  # Masses, centres of mass and inertias of the tree's bodies.
    # (n,): inertia of what turns with a joint only, reflected through its gear, kg·m²; a person has none.
    rotor_inertia: Array
    # (r,) int: indices of the coordinates that a law resolves, ascending; the others move as prescribed.
    resolved: NDArray[np.int64]
    # (s,) int: indices of the coordinates whose Jacobian is that of manipulability, ascending: those
    # resolved, and of the others those that bend the body.
    manipulating: NDArray[np.int64]
    hand_body: NDArray[np.int64]  # (h,) int: index of the body that each hand is fixed to.
    hand_point: Array  # (h, 3): position of each hand in the axes of that body, m.
    moves_hand: NDArray[np.bool_]  # (h, n) bool: whether a joint moves a hand.
    # `point_body`, `point` (4,) int , (4, 3) array: bodies of left shoulder, left elbow, right shoulder and
    # right elbow, and positions in their axes, m.
    point_body: NDArray[np.int64]
    point: Array
    ergonomic: Array  # (n,): ergonomic posture q_erg, rad or m.
    lower: Array  # `lower`, `upper` (n,): limits of the coordinates, rad or m; infinite where there is none.
    upper: Array
    anatomy: Anatomy  # How the joints of a person limit and move each other.


@compiled_entry("body.tree.parent (n), q (n), work.rotation (n + 1, 3, 3), work.position (n + 1, 3)")
def update_body_poses(body: SkillBody, q: Array, work: Workspace) -> None:
    """Compute the poses of all bodies in the world, the tree's root at its origin.

    `body`: body to be placed; `q` (n,): coordinates, rad or m; `work`: its `rotation` and `position` are
    overwritten.
    """
    for i in range(3):
        work.position[0, i] = 0.0
        for j in range(3):
            work.rotation[0, i, j] = 1.0 if i == j else 0.0
    place_bodies(body.tree, q, work.rotation, work.position)


@compiled_entry("body.resolved (r), work.axes (n, 6), work.matrix (n + 6, n + 6), inertia (r, r)")
def compute_inertia_matrix(body: SkillBody, work: Workspace, inertia: Array) -> None:
    """Compute the inertia matrix of the resolved coordinates, A of Tomić (2018).

    `body`: its masses and rotors count; `work`: after `update_body_poses`; its `axes` are overwritten with
    the joints' twists, its `matrix` with the inertia matrix of all coordinates; `inertia` (r, r): A, kg·m²
    (kg where a coordinate slides); overwritten.
    """
    joint_inertia(body.tree, body.masses, work)
    for a in range(len(body.resolved)):
        row = 6 + body.resolved[a]
        for b in range(a + 1):
            value = work.matrix[row, 6 + body.resolved[b]]
            inertia[a, b] = value
            inertia[b, a] = value
        inertia[a, a] += body.rotor_inertia[body.resolved[a]]


@compiled_entry("body.tree.parent (n), prescribed (n), body.resolved (r), coupling (r)")
def compute_inertial_coupling(body: SkillBody, work: Workspace, prescribed: Array, coupling: Array) -> None:
    """Compute A_rt x: the effect of prescribed coordinates on the resolved ones through the inertia matrix.

    `body`: its `resolved` coordinates are the rows; `work`: after `compute_inertia_matrix`; `prescribed`
    (n,): x of the prescribed coordinates; 0 where a law resolves; `coupling` (r,): overwritten.
    """
    for a in range(len(body.resolved)):
        joint, total = body.resolved[a], 0.0
        for t in range(len(prescribed)):
            if prescribed[t] != 0.0:
                total += work.matrix[6 + max(joint, t), 6 + min(joint, t)] * prescribed[t]
        coupling[a] = total


@compiled_entry("body.hand_body (h), joints (r), columns (r, 6 * h)")
def compute_hand_jacobian(
    body: SkillBody, work: Workspace, joints: NDArray[np.int64], columns: Array
) -> None:
    """Compute the Jacobian of the hands, transposed, from the joints' twists.

    `body`: says where its hands are and which joints move them; `work`: bodies in place, and `axes` from
    `joint_axes` at the world's origin; `joints` (r,) int: indices of the coordinates whose rows are wanted;
    `columns` (r, 6 h): overwritten: velocity of each hand's point and its angular velocity per unit of joint
    speed, world axes.
    """
    position = np.empty(3)
    for h in range(len(body.hand_body)):
        compute_point_position(work, body.hand_body[h], body.hand_point[h], position)
        x, y, z = position[0], position[1], position[2]
        first = 6 * h
        for a in range(len(joints)):
            joint = joints[a]
            if body.moves_hand[h, joint]:
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


@compiled_entry("body.tree.parent (n), q (n), body.resolved (r), body.hand_body (h), columns (r, 6 * h)")
def add_clavicle_jacobian(body: SkillBody, work: Workspace, q: Array, columns: Array) -> None:
    """Add to the Jacobian of the hands, transposed, the motion of the clavicles that follow the arms.

    `body`: its anatomy says how clavicles follow; `work`: bodies in place, and `axes` from `joint_axes` at
    the world's origin; `q` (n,): coordinates at which the bodies are, rad or m; `columns` (r, 6 h): Jacobian
    of the resolved coordinates from `compute_hand_jacobian`; changed in place.
    """
    clavicles = body.anatomy.clavicles
    if len(clavicles) == 0:
        return
    slopes, by_clavicle = np.empty((2, 2)), np.empty((2, columns.shape[1]))
    for g in range(len(clavicles)):
        compute_clavicle_slopes(body.anatomy, g, q, slopes)
        compute_hand_jacobian(body, work, clavicles[g, :2], by_clavicle)
        for a in range(len(body.resolved)):
            for k in range(2):
                if body.resolved[a] == clavicles[g, 2 + k]:
                    for i in range(columns.shape[1]):
                        columns[a, i] += slopes[0, k] * by_clavicle[0, i] + slopes[1, k] * by_clavicle[1, i]


@compiled_entry("point (3), position (3)")
def compute_point_position(work: Workspace, body: int, point: Array, position: Array) -> None:
    """Compute the position of a point of a body in the world.

    `work`: after `update_body_poses`; `body`: index of the body; `point` (3,): position in the body's axes,
    m; `position` (3,): position in the world, m; overwritten.
    """
    r = work.rotation[body]
    for i in range(3):
        position[i] = work.position[body, i] + r[i, 0] * point[0] + r[i, 1] * point[1] + r[i, 2] * point[2]


@compiled
def compute_hand_errors(
    body: SkillBody, work: Workspace, rotation: Array, position: Array, error: Array
) -> float:
    """Compute the pose errors of the hands, target less actual, in world axes.

    `body`: says where its hands are; `work`: after `update_body_poses`; `rotation`, `position` (h, 3, 3), (h,
    3) array: target poses of the hands in the world, positions in m; `error` (6 h,): overwritten: for each
    hand the position error, m, then the rotation vector, rad. Returns largest absolute value among them.
    """
    actual = np.empty(3)
    relative = np.empty((3, 3))
    greatest = 0.0
    for h in range(len(body.hand_body)):
        r = work.rotation[body.hand_body[h]]
        compute_point_position(work, body.hand_body[h], body.hand_point[h], actual)
        for i in range(3):
            error[6 * h + i] = position[h, i] - actual[i]
            for j in range(3):
                relative[i, j] = (
                    rotation[h, i, 0] * r[j, 0] + rotation[h, i, 1] * r[j, 1] + rotation[h, i, 2] * r[j, 2]
                )
        x, y = relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0]
        z = relative[1, 0] - relative[0, 1]
        sine = 0.5 * np.sqrt(x * x + y * y + z * z)
        angle = np.arctan2(sine, 0.5 * (relative[0, 0] + relative[1, 1] + relative[2, 2] - 1.0))
        # A rotation by 180 degrees has no axis here, and no step is that long.
        scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
        error[6 * h + 3], error[6 * h + 4], error[6 * h + 5] = scale * x, scale * y, scale * z
        for i in range(6):
            greatest = max(greatest, abs(error[6 * h + i]))
    return greatest
