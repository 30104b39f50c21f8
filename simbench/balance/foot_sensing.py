"""What a robot senses of its balance: COG by joints and attitude, foot wrenches and ZMP by force sensors."""

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.balance.gait import Gait
from simbench.balance.step_planning import Landing
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_for, compiled, compiled_entry

FORCE_BANDWIDTH = 10.0  # Bandwidth of the force sensors in the feet, Hz.
MIN_LOAD = 5.0  # Vertical force (N) above which a foot counts in the ZMP.
_VELOCITY_BANDWIDTH = 20.0  # Bandwidth of the COG's observed velocity, Hz.
# Cosine of the pelvis' tilt below which a robot is falling and balance holds still.
_MIN_UPRIGHT = np.cos(0.6)


class CogObserver:
    """Position and velocity of the COG over feet that may tilt about their centres of pressure.

    A robot that tips over the edge of its soles does not see it in its joints, but in the attitude of its
    root, as an inertial sensor gives it. What touches the ground is each foot's centre of pressure; with the
    COG r_i away from it, in the attitude measured, c = Σ f_z,i (p_i + r_i) / Σ f_z,i, where p_i is the
    position of that centre in the foot as it lies flat. The velocity is the low-passed rate of change.
    `timestep`: time between readings, s; `start` (2,): horizontal position of the COG in the world frame at
    the start, m.
    """

    def __init__(self, timestep: float, start: Array) -> None:
        self._timestep = timestep
        self._gain = 1.0 - math.exp(-2.0 * math.pi * _VELOCITY_BANDWIDTH * timestep)
        self.position, self.velocity = start.copy(), np.zeros(2)
        self._begun = False

    def read(
        self,
        soles: Sequence[tuple[Array, Array]],
        cog: Array,
        wrench: Array,
        flat_position: Array,
        flat_yaw: Array,
    ) -> None:
        """Update `position` (2,), m, and `velocity` (2,), m/s, by what is sensed at a tick.

        `soles`: rotation and position (m) of the sole frames, by joints and the root's attitude, in axes with
        z up; `cog` (3,): position of the COG in the same axes, m; `wrench` (2, 6): filtered wrenches, as
        `Sensing.wrench`, N and N·m; `flat_position` (2, 3): positions of the sole frames in the world
        frame where they are taken to lie flat, m; `flat_yaw` (2,): their rotation about the vertical, rad.
        """
        (left_rotation, left), (right_rotation, right) = soles
        x, y, load = _sum_over_pressure(
            left_rotation, left, right_rotation, right, cog, wrench, flat_position, flat_yaw
        )
        if load <= 0.0:
            # In the air the COG keeps the velocity that it had.
            self.position = self.position + self._timestep * self.velocity
            return
        position = np.array((x / load, y / load))
        if self._begun:
            self.velocity += self._gain * ((position - self.position) / self._timestep - self.velocity)
        self.position, self._begun = position, True


class Sensing:
    """Measures as a robot does it: COG from its joints, standing flat on a foot; ZMP by sensors in the feet.

    A six-axis sensor in each ankle gives the wrench in the axes of the foot's sole; a first-order low-pass
    with the bandwidth f_c removes the structure's vibrations:

        f ← f + (1 − e^(−2π f_c dt)) (f_measured − f)

    `wrench` (2, 6), N and N·m, are the filtered wrenches of both feet, in the frames of their soles.
    `model`: the model that the balance controller has of the robot, with a free-flyer root; `feet`:
    Pinocchio's ids of the sole frames; `timestep`: time between readings, s; `load` (2,): vertical force on
    the left and the right foot at the start, N.
    """

    def __init__(self, model: pin.Model, feet: list[int], timestep: float, load: Array) -> None:
        self._model, self._data, self._feet = model, model.createData(), feet
        self.configuration = pin.neutral(model)
        # Pinocchio's own memory, not copies: they change with the configuration.
        self.soles = [(self._data.oMf[foot].rotation, self._data.oMf[foot].translation) for foot in feet]
        self.cog, self._trunk_rotation = self._data.com[0], self._data.oMi[1].rotation
        self.wrench, self._world = np.zeros((2, 6)), np.zeros((2, 6))
        self.wrench[:, 2] = load
        gain = 1.0 - math.exp(-2.0 * math.pi * FORCE_BANDWIDTH * timestep)
        self._arguments = gain, *self.soles[0], *self.soles[1], self._world, self.wrench
        self._filter = compile_for(_filter_wrenches, *self._arguments)
        flat_position, flat_yaw = np.zeros((2, 3)), np.zeros(2)
        self._measure = compile_for(
            _measure, *self.soles[0], self.cog, self.wrench, flat_position, flat_yaw, 0
        )

    def read(self, configuration: Array, foot_wrench: Array) -> bool:
        """Update soles, COG and wrenches by what joints, attitude and force sensors say at a tick.

        `configuration` (nq,): measured configuration: pose of the root link in the world frame (m and
        quaternion x, y, z, w), then joint positions, rad; `foot_wrench` (2, 6): force (N) and moment about
        the world's origin (N·m) of the floor on each foot, world axes. Returns whether the robot is upright,
        not falling.
        """
        self.configuration = configuration
        pin.centerOfMass(self._model, self._data, configuration, False)
        for foot in self._feet:
            pin.updateFramePlacement(self._model, self._data, foot)
        self._world[:] = foot_wrench
        self._filter(*self._arguments)
        return bool(self._trunk_rotation[2, 2] >= _MIN_UPRIGHT)

    def measure(self, now: int, gait: Gait, landing: Landing, cog: Array, zmp: Array) -> None:
        """Write a row of COG and ZMP, with the feet flat where balance takes them to be.

        `gait`: its support is the foot that the COG is measured from; its ZMP counts while no foot carries
        anything; `landing`: poses at which the feet are assumed to lie flat; `cog` (N, 2): overwritten in the
        row: horizontal position of the COG in the world frame, m; `zmp` (N, 2): overwritten in the row: ZMP
        in the world frame, m.
        """
        support = int(gait.support[now])
        rotation, sole = self.soles[support]
        cog_x, cog_y, zmp_x, zmp_y = self._measure(
            rotation, sole, self.cog, self.wrench, landing.position, landing.yaw, support
        )
        cog[now, 0], cog[now, 1] = cog_x, cog_y
        if math.isnan(zmp_x):
            zmp_x, zmp_y = gait.zmp[now]
        zmp[now, 0], zmp[now, 1] = zmp_x, zmp_y

    def sole_from_other(self, foot: int, landing: Landing) -> tuple[tuple[float, float], float]:
        """Find where a sole is if the other one lies flat where balance takes it to be.

        `foot`: 0 left, 1 right; `landing`: poses at which the feet are assumed to lie flat. Returns
        `position`: x and y of the sole frame in the world frame, m; `yaw`: its rotation about the vertical,
        rad.
        """
        other = 1 - foot
        (rotation, sole), (turned, point) = self.soles[other], self.soles[foot]
        yaw = float(landing.yaw[other])
        place = position_from_flat_sole(rotation, sole, point, landing.position[other], yaw)
        relative = rotation.T @ turned
        return place, yaw + math.atan2(relative[1, 0], relative[0, 0])

    def root_on_flat_sole(self, support: int, landing: Landing) -> Array:
        """Find where the root would be if the supporting sole lay flat.

        `support`: the supporting foot: 0 left, 1 right; `landing`: pose at which this foot is assumed to lie
        flat. Returns (7,): pose of the root link in the world frame: position, m, and quaternion x, y, z, w.
        """
        flat = pin.SE3(pin.utils.rotate("z", landing.yaw[support]), landing.position[support])
        root = flat * self._data.oMf[self._feet[support]].inverse() * self._data.oMi[1]
        return np.asarray(pin.SE3ToXYZQUAT(root))


@compiled
def measured_zmp(wrench: Array, flat_position: Array, flat_yaw: Array) -> tuple[float, float]:
    """Compute the ZMP, with the feet flat where balance takes them to be.

    p = Σ f_z,i (p_i + R_i c_i) / Σ f_z,i with each foot's centre of pressure c_i = (−m_y, m_x) / f_z in its
    own sole frame. `wrench` (2, 6): filtered wrenches in the sole frames, as `Sensing.wrench`, N and N·m;
    `flat_position` (2, 3): positions of the sole frames in the world frame where they are taken to lie flat,
    m; `flat_yaw` (2,): their rotation about the vertical, rad. Returns x and y in the world frame, m; NaN if
    no foot carries anything.
    """
    total = x = y = 0.0
    for foot in range(2):
        load = wrench[foot, 2]
        if load <= MIN_LOAD:
            continue
        cosine, sine = np.cos(flat_yaw[foot]), np.sin(flat_yaw[foot])
        # Moments times the load: −m_y and m_x are f_z times the centre of pressure.
        x += load * flat_position[foot, 0] - cosine * wrench[foot, 4] - sine * wrench[foot, 3]
        y += load * flat_position[foot, 1] - sine * wrench[foot, 4] + cosine * wrench[foot, 3]
        total += load
    return x / total, y / total


@compiled_entry("rotation (3, 3), position (3), point (3), flat_position (3)")
def position_from_flat_sole(
    rotation: Array, position: Array, point: Array, flat_position: Array, flat_yaw: float
) -> tuple[float, float]:
    """Find where a point would be if a sole lay flat.

    `rotation` (3, 3): rotation of the sole frame in the world frame; `position` (3,): position of the sole
    frame in the world frame, m; `point` (3,): position of the point in the world frame, m; `flat_position`
    (3,): position of the sole frame where it is taken to lie flat, world frame, m; `flat_yaw`: its rotation
    about the vertical there, rad. Returns x and y of the point in the world frame, m.
    """
    x = y = 0.0
    for i in range(3):
        distance = point[i] - position[i]
        x += rotation[i, 0] * distance
        y += rotation[i, 1] * distance
    cosine, sine = np.cos(flat_yaw), np.sin(flat_yaw)
    return flat_position[0] + cosine * x - sine * y, flat_position[1] + sine * x + cosine * y


@compiled_entry("rotation (3, 3), sole (3), cog (3), wrench (2, 6), flat_position (2, 3), flat_yaw (2)")
def _measure(
    rotation: Array,
    sole: Array,
    cog: Array,
    wrench: Array,
    flat_position: Array,
    flat_yaw: Array,
    support: int,
) -> tuple[float, float, float, float]:
    """COG and ZMP, x and y, m, in one call: two would take 0.6 µs more of a tick's 24 µs."""
    cog_x, cog_y = position_from_flat_sole(rotation, sole, cog, flat_position[support], flat_yaw[support])
    zmp_x, zmp_y = measured_zmp(wrench, flat_position, flat_yaw)
    return cog_x, cog_y, zmp_x, zmp_y


@compiled_entry(
    "left_rotation (3, 3), left (3), right_rotation (3, 3), right (3), world (2, 6), filtered (2, 6)"
)
def _filter_wrenches(
    gain: float,
    left_rotation: Array,
    left: Array,
    right_rotation: Array,
    right: Array,
    world: Array,
    filtered: Array,
) -> None:
    """Low-pass both feet's wrenches, given in world axes about the origin, in the axes of the soles."""
    for foot in range(2):
        rotation, position = (left_rotation, left) if foot == 0 else (right_rotation, right)
        given = world[foot]
        x = given[3] - (position[1] * given[2] - position[2] * given[1])
        y = given[4] - (position[2] * given[0] - position[0] * given[2])
        z = given[5] - (position[0] * given[1] - position[1] * given[0])
        for i in range(3):
            force = given[0] * rotation[0, i] + given[1] * rotation[1, i] + given[2] * rotation[2, i]
            moment = x * rotation[0, i] + y * rotation[1, i] + z * rotation[2, i]
            filtered[foot, i] += gain * (force - filtered[foot, i])
            filtered[foot, 3 + i] += gain * (moment - filtered[foot, 3 + i])


@compiled_entry(
    "left_rotation (3, 3), left (3), right_rotation (3, 3), right (3), cog (3), wrench (2, 6), "
    "flat_position (2, 3), flat_yaw (2)"
)
def _sum_over_pressure(
    left_rotation: Array,
    left: Array,
    right_rotation: Array,
    right: Array,
    cog: Array,
    wrench: Array,
    flat_position: Array,
    flat_yaw: Array,
) -> tuple[float, float, float]:
    """Sum up Σ f_z (p_x + r_x), Σ f_z (p_y + r_y) and Σ f_z of the feet that carry."""
    x = y = total = 0.0
    for foot in range(2):
        load = wrench[foot, 2]
        if load <= MIN_LOAD:
            continue
        rotation, sole = (left_rotation, left) if foot == 0 else (right_rotation, right)
        along, across = -wrench[foot, 4] / load, wrench[foot, 3] / load
        cosine, sine = np.cos(flat_yaw[foot]), np.sin(flat_yaw[foot])
        offset_x = cog[0] - sole[0] - rotation[0, 0] * along - rotation[0, 1] * across
        offset_y = cog[1] - sole[1] - rotation[1, 0] * along - rotation[1, 1] * across
        x += load * (flat_position[foot, 0] + cosine * along - sine * across + offset_x)
        y += load * (flat_position[foot, 1] + sine * along + cosine * across + offset_y)
        total += load
    return x, y, total
