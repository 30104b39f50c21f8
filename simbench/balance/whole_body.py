"""The balance loop: measured COG and foot forces in, a whole-body joint reference out, one tick at a time."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.cog_jacobian import embed
from simbench.balance.cog_observer import CogObserver
from simbench.balance.commanded_motion import commanded_motion
from simbench.balance.foot_forces import FootForces
from simbench.balance.gait import Gait
from simbench.balance.ground_reaction import foot_movers, supported_torque
from simbench.balance.hip_strategy import HipStrategy
from simbench.balance.inverted_pendulum import GRAVITY, CogZmpGains, natural_frequency
from simbench.balance.landing import Landing
from simbench.balance.recovery import Recovery
from simbench.balance.sections import LEGS, Assignment, Role, assign, limb_sections
from simbench.balance.ways import seen_from_sole, ways
from simbench.errors import BalanceError
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

FORCE_BANDWIDTH = 10.0
"""Of the feet's force sensors, Hz."""
_LANDING_LOAD = 0.1
"""Part of the weight on a foot that means ground under it."""
_EASE = 10.0
"""Rate, 1/s, at which the body's orientation and the COG's height come back in a recovery."""
_LEAST_UPRIGHT = np.cos(0.6)
"""Cosine of the pelvis' tilt below which a robot is falling and balance holds still."""


@dataclass(frozen=True)
class WholeBodyPlan:
    """What a robot is to do, at every tick.

    Parameters
    ----------
    gait : Gait
        N samples.
    joints : (N, n) array
        Joint positions; those of the legs count at the start only, rad.
    base : (7,) array
        Pose of the root link at the start.
    cog_height : (N,) array
        m.
    body : (N, 4) array
        Orientation of the root link, quaternions x, y, z, w.
    """

    gait: Gait
    joints: Array
    base: Array
    cog_height: Array
    body: Array


class WholeBody:
    """Arms follow their plan (J-busy), feet the gait (C-busy), and one leg moves the COG as balance asks.

    At every tick, with c and p the measured COG and ZMP and the gait's ones marked d,

        u = ċ_d − k_p (p_d − p) + k_c (c_d − c)                             (Choi, You & Oh 2004)

    is the COG's horizontal velocity; its height, the body's orientation, the feet and all other joints go to
    where they are planned to be at the tick's end. The motion-embedded COG Jacobian gives the velocities,
    whose integral is the reference. The feed-forward torque is the inverse dynamics of the reference's motion
    without the feedback, carried by the feet as the planned ZMP says.

    The COG is measured as a robot does it: from its joints, standing flat on the supporting foot. The ZMP
    is what low-passed force sensors in the feet say.

    Parameters
    ----------
    robot : Robot
        With two legs; its model is the one that balance believes in.
    plan : WholeBodyPlan
    gains : CogZmpGains
    control : bool
        Whether COG and ZMP are fed back; otherwise the reference's own COG and the planned ZMP are.
    embedding : bool
        Whether balance knows where trunk, arms and head are and how they move. Otherwise it takes them to be
        at rest in their first posture, in the Jacobian, the measured COG and the legs' torques.
    recovery : bool
        Whether a robot that stands bows and steps when it is pushed too hard; only with `control`.

    Raises
    ------
    BalanceError
        If the robot has no two legs.
    """

    def __init__(
        self,
        robot: Robot,
        plan: WholeBodyPlan,
        gains: CogZmpGains,
        *,
        control: bool = True,
        embedding: bool = True,
        recovery: bool = False,
    ) -> None:
        model = robot.model
        self._robot, self._plan, self._gains = robot, plan, gains
        self._control, self._embedding = control, embedding
        self._model, self._data = model, model.createData()
        self._measuring, self._moving = model.createData(), model.createData()
        sections = limb_sections(robot)
        self._assignments = [self._assignment(base) for base in LEGS]
        self._feet = feet = [section.frame for section in sections[:2]]
        self._movers = foot_movers(model, feet)
        # Pinocchio's own memory, not copies: they change with the configurations that it is asked about.
        self._believed_soles = [_pose(self._data.oMf[foot]) for foot in feet]
        self._sensed_soles = [_pose(self._measuring.oMf[foot]) for foot in feet]
        self._believed_turn, self._sensed_turn = self._data.oMi[1].rotation, self._measuring.oMi[1].rotation
        self._believed_cog, self._sensed_cog = self._data.com[0], self._measuring.com[0]
        self._jacobian = self._data.J
        self._ends, self._body_velocity = np.zeros((len(sections), 6)), np.zeros(3)
        self.legs = np.array([column - 6 for leg in sections[:2] for column in leg.columns])
        self._upper = np.setdiff1d(np.arange(len(robot.joint_names)), self.legs)
        self._weight = weight = pin.computeTotalMass(model) * GRAVITY
        self.configuration = np.concatenate([plan.base, plan.joints[0]])
        self._recovery: Recovery | None = None
        self._hips: HipStrategy | None = None
        gait, self._height = plan.gait, plan.cog_height
        if recovery and control:
            omega = natural_frequency(float(plan.cog_height[0]))
            self._recovery = Recovery(
                robot, gait, plan.cog_height, omega, self.configuration, _LANDING_LOAD * weight
            )
            gait, self._height = self._recovery.gait, self._recovery.height
            self._hips = HipStrategy(gait, omega)
        self.gait = gait
        self._observer = CogObserver(gait.timestep, gait.cog[0])
        self._shares = _shares(robot, gait, 0)
        self._forces = FootForces(FORCE_BANDWIDTH, gait.timestep, weight * self._shares[0])
        self._landing = Landing(gait, _LANDING_LOAD * weight)
        self._believed = self.configuration.copy()
        self._sensed = self.configuration.copy()
        self._given = np.zeros(model.nv)
        self._replanned, self._acceleration = False, np.zeros(model.nv)
        self._believed_velocity = np.zeros(model.nv)
        self._upper_velocity = np.zeros(len(self._upper))
        self.velocity = np.zeros(model.nv)
        self.torque = np.zeros(len(robot.joint_names))
        self.cog = np.full((len(gait.zmp), 2), np.nan)
        self.zmp = np.full((len(gait.zmp), 2), np.nan)
        self.gave_up: int | None = None

    @property
    def landing(self) -> Landing:
        """Where the feet are to be."""
        return self._landing

    @property
    def recovery_steps(self) -> int:
        """How many steps pushes have made necessary."""
        return self._recovery.steps if self._recovery else 0

    def tick(self, number: int, measured: Array | None, foot_wrench: Array | None) -> None:
        """Move `configuration` to the end of a tick; `velocity` and `torque` hold until then.

        Parameters
        ----------
        number : int
            Of the tick, from 0; the last sample of the plan holds after its end.
        measured : (nq,) array or None
            The robot's configuration: of its root only the pose relative to the feet is used. None: as the
            reference is, and the ZMP as planned.
        foot_wrench : (2, 6) array or None
            Of the floor on each foot, N and N·m about the world's origin.
        """
        if self.gave_up is not None:
            return
        gait, plan = self.gait, self._plan
        last = len(gait.zmp) - 1
        now, then = min(number, last), min(number + 1, last)
        recovering, sensing, body = False, False, plan.body[then]
        if measured is not None and foot_wrench is not None:
            sensing = True
            self._sense(measured, foot_wrench)
            if self._sensed_turn[2, 2] < _LEAST_UPRIGHT:
                self._give_up(now)
                return
            recovering = self._recover(now)
            if self._hips is not None:
                body = self._hips.turned(now, self._observer.position, self._observer.velocity, body)
        support = int(gait.support[now])
        data, believed = self._data, self._believed
        if self._embedding:
            believed = self.configuration
        else:
            believed[:7] = self.configuration[:7]
            believed[7 + self.legs] = self.configuration[7 + self.legs]
        pin.jacobianCenterOfMass(self._model, data, believed)
        for frame in self._feet:
            pin.updateFramePlacement(self._model, data, frame)
        if sensing and self._control:
            cog, zmp = self._measure(now, support)
        else:
            cog, zmp = self._believed_cog[:2].copy(), gait.zmp[now]
        if recovering:
            cog = self._observer.position
        self.cog[now], self.zmp[now] = cog, zmp
        load = self._forces.wrench[:, 2] if sensing else self._weight * gait.contact[then]
        landing = self._landing
        before = landing.position.copy()
        landing.advance(then, load)

        rate = 1.0 / gait.timestep
        joint_velocity = (plan.joints[then] - self.configuration[7:]) * rate
        if self._embedding:
            self._given[6:] = joint_velocity
        # After a takeover the reference is off its aims; it comes back little by little.
        ways(
            _EASE if recovering else rate,
            *self._believed_soles[0],
            *self._believed_soles[1],
            before if recovering else landing.position,
            landing.yaw,
            self._believed_turn,
            body,
            self._ends,
            self._body_velocity,
        )
        if recovering:
            self._ends[:2, :3] += (landing.position - before) * rate
        try:
            whole = embed(self._model, data, self._assignments[support], self._given, self._ends)
        except BalanceError:
            self._give_up(now)
            return
        rise = (self._height[then] - self._believed_cog[2]) * rate
        if recovering:
            climb = (self._height[then] - self._height[now]) * rate
            rise = climb + _EASE * (self._height[now] - self._believed_cog[2])
        planned, self.velocity = commanded_motion(
            whole.response,
            whole.carried,
            self._gains,
            gait.cog_velocity[now],
            gait.cog[now],
            gait.zmp[now],
            cog,
            zmp,
            rise,
            self._body_velocity,
        )
        self._feed_forward(now, believed, planned, joint_velocity)
        self.configuration = pin.integrate(self._model, self.configuration, self.velocity * gait.timestep)

    def _assignment(self, base: str) -> Assignment:
        other = LEGS[1 - LEGS.index(base)]
        roles = {base: Role.BASE, other: Role.C_BUSY}
        return assign(self._model, limb_sections(self._robot), roles, (base,))

    def _measure(self, now: int, support: int) -> tuple[Array, Array]:
        """COG over the supporting foot, and ZMP of both, m."""
        place, yaw = self._landing.position, self._landing.yaw
        sole = self._sensed_soles[support]
        cog = np.array(seen_from_sole(*sole, self._sensed_cog, place[support], yaw[support]))
        zmp = self._forces.zmp(place, yaw)
        return cog, self.gait.zmp[now] if zmp is None else np.array(zmp)

    def _sense(self, measured: Array, foot_wrench: Array) -> None:
        """Read joints, attitude and force sensors."""
        sensed = self._sensed
        sensed[:] = measured
        if not self._embedding:
            sensed[7 + self._upper] = self._plan.joints[0, self._upper]
        pin.centerOfMass(self._model, self._measuring, sensed)
        for frame in self._feet:
            pin.updateFramePlacement(self._model, self._measuring, frame)
        self._forces.read(self._sensed_soles, foot_wrench)

    def _recover(self, now: int) -> bool:
        """Let recovery plan anew if it has to; whether the gait is its own by now."""
        recovery, observer, landing = self._recovery, self._observer, self._landing
        if recovery is None:
            return False
        wrench = self._forces.wrench
        observer.read(self._sensed_soles, self._sensed_cog, wrench, landing.position, landing.yaw)
        stepping = recovery.step
        (_, left), (_, right) = self._sensed_soles
        apart = right[:2] - left[:2]
        if recovery.watch(now, observer.position, observer.velocity, landing, wrench[:, 2], apart):
            self._shares[now:] = _shares(self._robot, self.gait, now)
            self._replanned = True
            if stepping is None or recovery.step is None:
                self._take_over(int(self.gait.support[now]))
        return recovery.steps > 0

    def _take_over(self, support: int) -> None:
        """Go on from where the legs are, not from where they should be, the supporting sole flat."""
        landing, sensed = self._landing, self._sensed
        self.configuration[7 + self.legs] = sensed[7 + self.legs]
        flat = pin.SE3(pin.utils.rotate("z", landing.yaw[support]), landing.position[support])
        sole = self._measuring.oMf[self._feet[support]]
        root = flat * sole.inverse() * self._measuring.oMi[1]
        self.configuration[:7] = pin.SE3ToXYZQUAT(root)

    def _feed_forward(self, now: int, believed: Array, planned: Array, joint_velocity: Array) -> None:
        """Write the joint torques of the planned motion."""
        model, rate = self._model, 1.0 / self.gait.timestep
        if self._replanned:
            # The plan's velocity has jumped to the measured one; what it goes on with has not.
            self._believed_velocity, self._replanned = planned - self._acceleration / rate, False
        self._acceleration = (planned - self._believed_velocity) * rate
        self._believed_velocity = planned
        effort = pin.rnea(model, self._moving, believed, planned, self._acceleration)
        left, right = self._believed_soles[0][1], self._believed_soles[1][1]
        self.torque = supported_torque(effort, self._jacobian, left, right, self._movers, self._shares[now])
        if not self._embedding:
            self._move_arms_anyway(joint_velocity[self._upper])

    def _move_arms_anyway(self, upper: Array) -> None:
        """Write the velocities and torques of joints that balance knows nothing of; their controllers do."""
        columns, rate = 6 + self._upper, 1.0 / self.gait.timestep
        self.velocity[columns] = upper
        moving, acceleration = self._believed_velocity.copy(), self._acceleration.copy()
        moving[columns], acceleration[columns] = upper, (upper - self._upper_velocity) * rate
        effort = pin.rnea(self._model, self._moving, self.configuration, moving, acceleration)
        self.torque[self._upper] = effort[columns]
        self._upper_velocity = upper

    def _give_up(self, now: int) -> None:
        """Hold still from now on."""
        self.gave_up = now
        self.velocity = np.zeros(self._model.nv)


def _pose(placement: pin.SE3) -> tuple[Array, Array]:
    return placement.rotation, placement.translation


def _shares(robot: Robot, gait: Gait, start: int) -> Array:
    """Part of the weight that each foot carries for the planned ZMP from a row on, (N, 2)."""
    places, rows = [], slice(start, None)
    for column, side in enumerate(("left", "right")):
        middle = robot.soles[f"{side}_foot"][:, :2].mean(axis=0)
        yaw = gait.foot_yaw[rows, column]
        cosine, sine = np.cos(yaw), np.sin(yaw)
        turned = np.stack(
            [cosine * middle[0] - sine * middle[1], sine * middle[0] + cosine * middle[1]], axis=1
        )
        places.append(gait.foot_position[rows, column, :2] + turned)
    across = places[1] - places[0]
    right = np.sum((gait.zmp[rows] - places[0]) * across, axis=1) / np.sum(across**2, axis=1)
    left_stands, right_stands = gait.contact[rows].T
    right = np.where(left_stands, np.where(right_stands, right.clip(0.0, 1.0), 0.0), 1.0)
    return np.stack([1.0 - right, right], axis=1)
