"""The balance controller: measured COG and foot forces in, a whole-body joint reference out, tick by tick."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.balance.controller.feed_forward import FeedForward
from simbench.balance.controller.reference_motion import (
    Measurement,
    PlannedMotion,
    ReferenceKinematics,
    ReferenceVelocities,
    SoleTargets,
    TickInputs,
    solve_reference_motion,
)
from simbench.balance.controller.sections import (
    LEGS,
    LimbSection,
    Role,
    SectionColumns,
    assign,
    limb_sections,
)
from simbench.balance.controller.sensing import CogObserver, Sensing
from simbench.balance.gait.gait import Gait
from simbench.balance.gait.landing import Landing
from simbench.balance.inverted_pendulum import GRAVITY, CogZmpGains, natural_frequency
from simbench.balance.push_recovery.hip_strategy import HipStrategy
from simbench.balance.push_recovery.recovery import Recovery
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_for
from simbench.robot.robot import Robot

_LANDING_LOAD = 0.1
"""Part of the weight on a foot that means ground under it."""
_RECOVERY_FEEDBACK_RATE = 10.0
"""Proportional gain, 1/s, on the errors of soles, trunk and COG height in a recovery."""


@dataclass(frozen=True)
class WholeBodyPlan:
    """Planned motion of a robot, a sample for every tick."""

    gait: Gait  # Planned ZMP, COG and feet, N samples.
    # (N, n): joint positions in the order of `robot.joint_names`; those of the legs count at the start only,
    # rad.
    joints: Array
    # (7,): pose of the root link in the world frame at the start: position, m, and quaternion x, y, z, w.
    base: Array
    cog_height: Array  # (N,): height of the COG above the floor, m.
    body: Array  # (N, 4): orientation of the root link in the world frame, quaternions x, y, z, w.


class WholeBodyController:
    """Arms follow their plan (J-busy), feet the gait (C-busy), and one leg moves the COG as balance asks.

    At every tick, with c and p the measured COG and ZMP and the gait's ones marked d,

        u = ċ_d − k_p (p_d − p) + k_c (c_d − c)                             (Choi, You & Oh 2004)

    is the COG's commanded horizontal velocity; its height, the trunk's orientation, the feet and all other
    joints reach their planned values at the tick's end. The motion-embedded COG Jacobian gives the
    velocities, whose integral is the reference. The feed-forward torque is the inverse dynamics of the
    reference's motion without the feedback, the ground reaction distributed to the feet by the planned ZMP.

    The COG is measured as a robot does it: from its joints, standing flat on the supporting foot. The ZMP
    is what low-passed force sensors in the feet say.

    `configuration` (nq,), `velocity` (nv,) and `torque` (n,) are the reference at the end of a tick, its
    velocity until then (m/s and rad/s) and the feed-forward torques, N·m; `cog` and `zmp`, (N, 2), m, are
    what was measured at each tick; `gave_up` is the tick from which on a falling robot is left alone.

    `robot`: robot with two legs; its model is the one that the controller has of the real robot. `gains`:
    gains k_c and k_p of the feedback, 1/s. `control`: whether COG and ZMP are fed back; otherwise the
    reference's own COG and the planned ZMP are. `embedding`: whether balance knows where trunk, arms and head
    are and how they move. Otherwise it takes them to be at rest in their first posture, in the Jacobian, the
    measured COG and the legs' torques. `recovery`: whether a standing robot leans its trunk and steps when it
    is pushed too hard; only with `control`. Raises BalanceError if the robot has no two legs.
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
        # The kernel is compiled for rows and arrays without gaps.
        gait, height = plan.gait, np.ascontiguousarray(plan.cog_height)
        self._body = np.ascontiguousarray(plan.body)
        if recovery and control:
            omega = natural_frequency(float(height[0]))
            self._recovery = Recovery(robot, gait, height, omega, self.configuration, landing_load)
            gait, height = self._recovery.gait, self._recovery.height
            self._hips = HipStrategy(robot, gait, height, omega, self.configuration)
        self.gait, self.landing = gait, Landing(gait, landing_load)
        self._observer = CogObserver(gait.timestep, gait.cog[0])
        self._feed_forward = FeedForward(robot, gait, feet, self._data)
        load = self._weight * self._feed_forward.load_fractions[0]
        self._sensing = Sensing(robot.model, feet, gait.timestep, load)
        self.cog, self.zmp = (np.full((len(gait.zmp), 2), np.nan) for _ in range(2))
        self.velocity = np.zeros(robot.model.nv)
        self.torque = np.zeros(len(robot.joint_names))
        self.gave_up: int | None = None
        self._planned = np.zeros(robot.model.nv)
        self._velocities = ReferenceVelocities(self._planned, self.velocity)
        self._inputs = self._tick_inputs(sections, gains, height)
        # 29 arrays in NamedTuples: to look up their types would take 5 µs of a tick's 24. Without that the
        # call takes 7.2 µs, as one with 34 arguments does.
        self._solve = compile_for(
            solve_reference_motion,
            *(0, 0, 1.0, self.configuration, self._body[0]),
            *(self._inputs[0], self._velocities),
        )

    def _tick_inputs(
        self, sections: tuple[LimbSection, ...], gains: CogZmpGains, height: Array
    ) -> tuple[TickInputs, TickInputs]:
        """Set up the inputs of a tick on the left, and of one on the right foot; they share their arrays."""
        gait, landing, data = self.gait, self.landing, self._data
        left, right = (data.oMf[foot] for foot in self._feet)
        # Pinocchio's own memory, not copies: it changes with the reference.
        kinematics = ReferenceKinematics(
            jacobian=data.J,
            cog_jacobian=data.Jcom,
            cog=data.com[0],
            trunk_rotation=data.oMi[1].rotation,
            left_rotation=left.rotation,
            left_position=left.translation,
            right_rotation=right.rotation,
            right_position=right.translation,
        )

        def standing_on(base: str, other: str) -> SectionColumns:
            roles = {base: Role.BASE, other: Role.C_BUSY}
            return assign(self._model, sections, roles, (base,)).columns

        on_left = TickInputs(
            kinematics=kinematics,
            targets=SoleTargets(np.empty((2, 3)), landing.position, landing.yaw),
            plan=PlannedMotion(
                1.0 / gait.timestep, self._joints, height, gait.cog, gait.cog_velocity, gait.zmp
            ),
            measurement=Measurement(self.cog, self.zmp),
            gains=gains,
            columns=standing_on(*LEGS),
        )
        return on_left, on_left._replace(columns=standing_on(*LEGS[::-1]))

    @property
    def recovery_steps(self) -> int:
        """Number of steps that pushes have made necessary."""
        return self._recovery.steps if self._recovery else 0

    def tick(self, number: int, measured: Array | None, foot_wrench: Array | None) -> None:
        """Move `configuration` to the end of a tick; `velocity` and `torque` hold until then.

        `number`: number of the tick, from 0; the last sample of the plan holds after its end. `measured`
        (nq,) or None: the robot's measured configuration: root pose in the world frame (m and quaternion x,
        y, z, w) and joint positions, rad. Of its root only the pose relative to the feet is used. None: equal
        to the reference's, and the ZMP equal to the planned one. `foot_wrench` (2, 6) or None: force (N) and
        moment about the world's origin (N·m) of the floor on each foot, world axes.
        """
        if self.gave_up is not None:
            return
        gait, landing, sensing = self.gait, self.landing, self._sensing
        last = len(gait.zmp) - 1
        now, then = min(number, last), min(number + 1, last)
        body, recovering, measuring = self._body[then], False, False
        if measured is None or foot_wrench is None:
            load = self._weight * gait.contact[then]
        else:
            sensing.read(self._known_configuration(measured), foot_wrench)
            if not sensing.upright:
                self._give_up(now)
                return
            load, measuring = sensing.wrench[:, 2], self._control
            if self._recovery is not None:
                recovering, body = self._recover(now, body)
        known = self._known_configuration(self.configuration)
        pin.jacobianCenterOfMass(self._model, self._data, known, False)
        for frame in self._feet:
            pin.updateFramePlacement(self._model, self._data, frame)
        if measuring:
            sensing.measure(now, gait, landing, self.cog, self.zmp)
        else:
            self.cog[now], self.zmp[now] = self._data.com[0][:2], gait.zmp[now]
        if recovering:
            self.cog[now] = self._observer.position
        inputs = self._inputs[gait.support[now]]
        inputs.targets.previous_position[:] = landing.position
        landing.advance(then, load)
        foot = landing.settling_foot(then, load) if measuring and gait.steps else None
        if foot is not None:
            landing.settle(foot, *sensing.sole_from_other(foot, landing))
        # After a takeover the reference is off its targets; it comes back little by little.
        feedback_rate = _RECOVERY_FEEDBACK_RATE if recovering else inputs.plan.rate
        if not self._solve(now, then, feedback_rate, known, body, inputs, self._velocities):
            self._give_up(now)
            return
        self.torque = self._feed_forward.torque(now, known, self._planned)
        if not self._embedding:
            self._move_upper_body(then)
        self.configuration = pin.integrate(self._model, self.configuration, self.velocity * gait.timestep)

    def _known_configuration(self, configuration: Array) -> Array:
        """Put joints that balance does not know of where it takes them to be."""
        if self._embedding:
            return configuration
        known = configuration.copy()
        known[7 + self._upper] = self._joints[0, self._upper]
        return known

    def _recover(self, now: int, body: Array) -> tuple[bool, Array]:
        """Replan if a push requires it; whether the gait is a recovery by now, and the trunk's pose."""
        recovery, hips, observer = self._recovery, self._hips, self._observer
        assert recovery is not None
        assert hips is not None
        sensing, landing = self._sensing, self.landing
        observer.read(sensing.soles, sensing.cog, sensing.wrench, landing.position, landing.yaw)
        step_before = recovery.step
        (_, left), (_, right) = sensing.soles
        load, foot_displacement = sensing.wrench[:, 2], right[:2] - left[:2]
        if recovery.update(now, observer.position, observer.velocity, landing, load, foot_displacement):
            self._feed_forward.replan(now)
            if step_before is None:
                hips.stop(now)
            if step_before is None or recovery.step is None:
                # Go on from where the legs are, not from where they should be.
                self.configuration[7 + self.legs] = sensing.configuration[7 + self.legs]
                self.configuration[:7] = sensing.root_on_flat_sole(int(self.gait.support[now]), landing)
        return recovery.steps > 0, hips.lean_trunk(now, observer.position, observer.velocity, body)

    def _move_upper_body(self, then: int) -> None:
        """Write velocities and torques of joints that balance does not know of; their controllers do."""
        upper = self._upper
        displacement = self._plan.joints[then, upper] - self.configuration[7 + upper]
        self.velocity[6 + upper] = displacement / self.gait.timestep
        self.torque[upper] = self._feed_forward.torque_of_upper_body(
            self.configuration, 6 + upper, self.velocity[6 + upper]
        )

    def _give_up(self, now: int) -> None:
        """Hold still from now on."""
        self.gave_up = now
        self.velocity = np.zeros(self._model.nv)
