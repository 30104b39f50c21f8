"""The ZMP of a planned motion on both feet, and the COG offset that shifts it as required."""

import numpy as np
import pinocchio as pin
from scipy.interpolate import make_interp_spline
from scipy.ndimage import gaussian_filter1d

from simbench.balance.inverted_pendulum import GRAVITY, cog_profile, natural_frequency
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_BANDWIDTH = 5.0
"""Bandwidth of the COG's response, Hz: people's arms move below it; above are corners of joint curves and
noise, which the legs would pass on to every torque."""
_RATE = 200.0
"""Least rate of the samples between which the pendulum's ZMP is linear, Hz."""
_MIRRORED = 8.0
"""Time before and after the motion in which it is mirrored, in units of 1 / ω: what happens at its far end
has an effect of exp(−8)."""


def ground_wrench(
    robot: Robot,
    time: Array,
    base: Array,
    joints: Array,
    load: Array | None = None,
    moving: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the wrench of the ground that a motion requires, from the momentum of all bodies, and the COG.

    With the COG c, the mass m, the angular momentum L about the COG and a load's force f and moment n about
    the world's origin, the ground's force and moment there are F = m (c̈ + g ẑ) − f and N = c × m (c̈ + g ẑ)
    + L̇ − n. `robot`: robot with a free root; `time` (T,): time of each sample, s, T ≥ 2; `base` (T, 7): pose
    of the root link in the world frame: position, m, and quaternion x, y, z, w; `joints` (T, n): joint
    positions in the order of `robot.joint_names`, rad; `load` (T, 6): external force (N) on the robot and its
    moment about the world's origin (N·m), world axes; none by default; `moving` (T,): part of m c̈ and L̇
    that counts, 0 to 1; all by default. Returns `wrench` (T, 6): F, N, and N about the world's origin, N·m,
    world axes; `cog` (T, 3): position of the COG in the world frame, m.
    """
    model, data = robot.model, robot.model.createData()
    q = np.hstack([base, joints])
    last = len(q) - 1
    before, after = np.maximum(np.arange(len(q)) - 1, 0), np.minimum(np.arange(len(q)) + 1, last)
    momentum, cog = np.empty((len(q), 6)), np.empty((len(q), 3))
    for sample, (a, b) in enumerate(zip(before, after, strict=True)):
        velocity = pin.difference(model, q[a], q[b]) / (time[b] - time[a])
        momentum[sample] = pin.computeCentroidalMomentum(model, data, q[sample], velocity).vector
        cog[sample] = data.com[0]
    rate: Array = np.asarray(np.gradient(momentum, time, axis=0))
    if moving is not None:
        rate *= moving[:, None]
    force = rate[:, :3] + [0.0, 0.0, GRAVITY * pin.computeTotalMass(model)]
    wrench = np.hstack([force, np.cross(cog, force) + rate[:, 3:]])
    return wrench if load is None else wrench - load, cog


def planned_zmp(
    robot: Robot,
    time: Array,
    base: Array,
    joints: Array,
    load: Array | None = None,
    moving: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the ZMP (T, 2) on the floor z = 0 that a motion requires, m, and the COG (T, 3), m.

    With the force F and the moment N of `ground_wrench`, which takes the same, it is at (−N_y, N_x) / F_z.
    """
    wrench, cog = ground_wrench(robot, time, base, joints, load, moving)
    return zmp_of(wrench), cog


def zmp_of(wrench: Array) -> Array:
    """ZMP (T, 2) on the floor z = 0, m, of wrenches (T, 6) about the world's origin, N and N·m."""
    return np.asarray(np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3])


def lipm_com_offset(time: Array, zmp: Array, height: float) -> Array:
    """Find the COG offset that shifts the ZMP of a linear inverted pendulum as required.

    The bounded solution of d − d̈/ω² = z̄, with z̄ the required ZMP shift up to 5 Hz (a Gaussian without
    delay, half as strong there). Beyond its ends the motion is taken to be its own mirror image, so that the
    offset is at rest at both. `time` (T,): time of each sample, s; `zmp` (T, 2): required shift of the ZMP,
    m; `height`: height of the pendulum, m. Returns (T, 2): offset d of the COG, m.
    """
    omega = natural_frequency(height)
    count = max(2, 1 + int(np.ceil((time[-1] - time[0]) * _RATE)))
    clock = np.linspace(time[0], time[-1], count)
    timestep = float(clock[1] - clock[0])
    even = make_interp_spline(time, zmp, k=1)(clock)
    margin = int(np.ceil(_MIRRORED / (omega * timestep)))
    mirrored = np.pad(even, ((margin, margin), (0, 0)), mode="reflect")
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * _BANDWIDTH * timestep)
    smooth = gaussian_filter1d(mirrored, width, axis=0, mode="nearest")
    offset = cog_profile(smooth, timestep, omega)[0][margin:-margin]
    return np.asarray(make_interp_spline(clock, offset, k=min(3, count - 1))(time))
