"""Bias torques of a tree: gravity, Coriolis and centrifugal forces."""

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import momentum
from simbench.kinematics.tree import KinematicTree


@compiled
def bias_torque(
    tree: KinematicTree,
    axes: Array,
    moment: Array,
    velocity: Array,
    gravity: float,
    twist: Array,
    effort: Array,
    torque: Array,
) -> None:
    """Compute h(q, q̇) of a tree whose root rests: recursive Newton-Euler with no joint acceleration.

    All twists and wrenches are about one point, in world axes, so that nothing is carried from frame to
    frame. With S the joint's unit twist, V_k = V_parent + S q̇, A_k = A_parent + V_k × S q̇, the root's A
    being gravity upwards, F_k = I A_k + V_k × (I V_k), and the torque Sᵀ Σ F of the subtree on the joint
    (Featherstone 2008, §5.3). `tree`: kinematic tree of n joints; `axes` (n, 6); `moment` (n + 1, 10): mass
    moments of the single bodies about the same point, from `body_moments`; `velocity` (n,): joint velocities,
    rad/s or m/s; `gravity`: along −z, m/s²; `twist` (n + 1, 12): overwritten: V (linear, angular) and A of
    the bodies; `effort` (n + 1, 6): overwritten: force and moment that the bodies with their subtrees need;
    `torque` (n,): overwritten: h, N·m or N.
    """
    n = len(tree.parent)
    for i in range(12):
        twist[0, i] = 0.0
    twist[0, 8] = gravity
    for k in range(n):
        carrier, body, rate = tree.parent[k], k + 1, velocity[k]
        sx, sy, sz = axes[k, 0] * rate, axes[k, 1] * rate, axes[k, 2] * rate
        rx, ry, rz = axes[k, 3] * rate, axes[k, 4] * rate, axes[k, 5] * rate
        vx, vy, vz = twist[carrier, 0] + sx, twist[carrier, 1] + sy, twist[carrier, 2] + sz
        wx, wy, wz = twist[carrier, 3] + rx, twist[carrier, 4] + ry, twist[carrier, 5] + rz
        ax = twist[carrier, 6] + wy * sz - wz * sy + vy * rz - vz * ry
        ay = twist[carrier, 7] + wz * sx - wx * sz + vz * rx - vx * rz
        az = twist[carrier, 8] + wx * sy - wy * sx + vx * ry - vy * rx
        bx = twist[carrier, 9] + wy * rz - wz * ry
        by = twist[carrier, 10] + wz * rx - wx * rz
        bz = twist[carrier, 11] + wx * ry - wy * rx
        twist[body, 0], twist[body, 1], twist[body, 2] = vx, vy, vz
        twist[body, 3], twist[body, 4], twist[body, 5] = wx, wy, wz
        twist[body, 6], twist[body, 7], twist[body, 8] = ax, ay, az
        twist[body, 9], twist[body, 10], twist[body, 11] = bx, by, bz
        m = moment[body]
        px, py, pz, lx, ly, lz = momentum(m, vx, vy, vz, wx, wy, wz)
        fx, fy, fz, tx, ty, tz = momentum(m, ax, ay, az, bx, by, bz)
        f = effort[body]
        f[0] = fx + wy * pz - wz * py
        f[1] = fy + wz * px - wx * pz
        f[2] = fz + wx * py - wy * px
        f[3] = tx + wy * lz - wz * ly + vy * pz - vz * py
        f[4] = ty + wz * lx - wx * lz + vz * px - vx * pz
        f[5] = tz + wx * ly - wy * lx + vx * py - vy * px
    for i in range(6):
        effort[0, i] = 0.0
    for k in range(n - 1, -1, -1):
        total, carrier = 0.0, tree.parent[k]
        for i in range(6):
            total += axes[k, i] * effort[k + 1, i]
            effort[carrier, i] += effort[k + 1, i]
        torque[k] = total
