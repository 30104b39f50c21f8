"""The balance loop: measured COG and foot forces in, a whole-body joint reference out, one tick at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from simbench.balance.controller.cog_observer import CogObserver
from simbench.balance.controller.feed_forward import FeedForward
from simbench.balance.controller.reference_motion import reference_motion
from simbench.balance.controller.sections import LEGS, Role, assign, limb_sections
from simbench.balance.controller.sensing import Sensing
from simbench.balance.gait.gait import Gait
from simbench.balance.gait.landing import Landing
from simbench.balance.inverted_pendulum import GRAVITY, CogZmpGains, natural_frequency
from simbench.balance.push_recovery.hip_strategy import HipStrategy
from simbench.balance.push_recovery.recovery import Recovery
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_LANDING_LOAD = 0.1
"""Part of the weight on a foot that means ground under it."""
_EASE = 10.0
"""Rate, 1/s, at which the body's orientation and the COG's height come back in a recovery."""


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
        self._model, self._data = robot.model, robot.model.createData()
        self._plan, self._control, self._embedding = plan, control, embedding
        sections = limb_sections(robot)
        self._feet = feet = [section.frame for section in sections[:2]]
        self.legs = np.array([column - 6 for leg in sections[:2] for column in leg.columns])
        self._upper = np.setdiff1d(np.arange(len(robot.joint_names)), self.legs)
        # What balance knows of trunk, arms and head.
        self._joints = plan.joints if embedding else np.repeat(plan.joints[:1], len(plan.joints), axis=0)
        self.configuration = np.concatenate([plan.base, plan.joints[0]])
        self._weight = pin.computeTotalMass(robot.model) * GRAVITY
        landing_load = _LANDING_LOAD * self._weight
        self._recovery: Recovery | None = None
        self._hips: HipStrategy | None = None
        # A column of another array would have the tick compiled once more.
        gait, height = plan.gait, np.ascontiguousarray(plan.cog_height)
        if recovery and control:
            omega = natural_frequency(float(height[0]))
            self._recovery = Recovery(robot, gait, height, omega, self.configuration, landing_load)
            gait, height = self._recovery.gait, self._recovery.height
            self._hips = HipStrategy(robot, gait, height, omega, self.configuration)
        self.gait, self.landing = gait, Landing(gait, landing_load)
        self._observer = CogObserver(gait.timestep, gait.cog[0])
        self._feed_forward = FeedForward(robot, gait, feet)
        self._sensing = Sensing(robot.model, feet, gait.timestep, self._weight * self._feed_forward.shares[0])
        self.cog, self.zmp = (np.full((len(gait.zmp), 2), np.nan) for _ in range(2))
        self.velocity, self._planned = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
        self.torque = np.zeros(len(robot.joint_names))
        self.gave_up: int | None = None
        # Pinocchio's own memory, not copies: it changes with the reference.
        data, (left, right) = self._data, (self._data.oMf[foot] for foot in feet)
        self._soles = left.translation, right.translation
        poses = data.oMi[1].rotation, left.rotation, self._soles[0], right.rotation, self._soles[1]
        known = (data.J, data.Jcom, data.com[0], *poses)
        courses = (self._joints, height, gait.cog, gait.cog_velocity, gait.zmp, self.cog, self.zmp)
        self._standing: list[tuple[Any, ...]] = []
        for base, other in (LEGS, LEGS[::-1]):
            roles = {base: Role.BASE, other: Role.C_BUSY}
            layout = assign(robot.model, sections, roles, (base,)).layout
            self._standing.append((*layout, *known, *courses, gains.cog, gains.zmp))

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
        gait, landing, sensing = self.gait, self.landing, self._sensing
        last = len(gait.zmp) - 1
        now, then = min(number, last), min(number + 1, last)
        body, recovering, measuring = self._plan.body[then], False, False
        if measured is None or foot_wrench is None:
            load = self._weight * gait.contact[then]
        else:
            sensing.read(self._as_known(measured), foot_wrench)
            if not sensing.upright:
                self._give_up(now)
                return
            load, measuring = sensing.wrench[:, 2], self._control
            if self._recovery is not None:
                recovering, body = self._recover(now, body)
        believed = self._as_known(self.configuration)
        pin.jacobianCenterOfMass(self._model, self._data, believed, False)
        for frame in self._feet:
            pin.updateFramePlacement(self._model, self._data, frame)
        if measuring:
            sensing.measure(now, gait, landing, self.cog, self.zmp)
        else:
            self.cog[now], self.zmp[now] = self._data.com[0][:2], gait.zmp[now]
        if recovering:
            self.cog[now] = self._observer.position
        before = landing.position.copy()
        landing.advance(then, load)
        rate = 1.0 / gait.timestep
        # After a takeover the reference is off its aims; it comes back little by little.
        moves = reference_motion(
            now,
            then,
            _EASE if recovering else rate,
            rate,
            believed,
            before,
            landing.position,
            landing.yaw,
            body,
            self._planned,
            self.velocity,
            *self._standing[gait.support[now]],
        )
        if not moves:
            self._give_up(now)
            return
        self.torque = self._feed_forward.torque(now, believed, self._planned, self._data.J, *self._soles)
        if not self._embedding:
            self._move_arms_anyway(then)
        self.configuration = pin.integrate(self._model, self.configuration, self.velocity * gait.timestep)

    def _as_known(self, configuration: Array) -> Array:
        """Put joints that balance does not know of where it takes them to be."""
        if self._embedding:
            return configuration
        known = configuration.copy()
        known[7 + self._upper] = self._joints[0, self._upper]
        return known

    def _recover(self, now: int, body: Array) -> tuple[bool, Array]:
        """Let recovery plan anew if it has to; whether the gait is its own by now, and how the body is."""
        recovery, hips, observer = self._recovery, self._hips, self._observer
        assert recovery is not None
        assert hips is not None
        sensing, landing = self._sensing, self.landing
        observer.read(sensing.soles, sensing.cog, sensing.wrench, landing.position, landing.yaw)
        stepping = recovery.step
        (_, left), (_, right) = sensing.soles
        load, apart = sensing.wrench[:, 2], right[:2] - left[:2]
        if recovery.watch(now, observer.position, observer.velocity, landing, load, apart):
            self._feed_forward.replan(now)
            if stepping is None:
                hips.stop(now)
            if stepping is None or recovery.step is None:
                # Go on from where the legs are, not from where they should be.
                self.configuration[7 + self.legs] = sensing.configuration[7 + self.legs]
                self.configuration[:7] = sensing.standing_flat(int(self.gait.support[now]), landing)
        return recovery.steps > 0, hips.turned(now, observer.position, observer.velocity, body)

    def _move_arms_anyway(self, then: int) -> None:
        """Write velocities and torques of joints that balance knows nothing of; their controllers do."""
        upper = self._upper
        way = self._plan.joints[then, upper] - self.configuration[7 + upper]
        self.velocity[6 + upper] = way / self.gait.timestep
        self.torque[upper] = self._feed_forward.torque_of_arms(
            self.configuration, 6 + upper, self.velocity[6 + upper]
        )

    def _give_up(self, now: int) -> None:
        """Hold still from now on."""
        self.gave_up = now
        self.velocity = np.zeros(self._model.nv)
