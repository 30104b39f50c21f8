"""The balance controller: measured COG and foot forces in, a whole-body joint reference out, tick by tick.

Its feed-forward torques are those of the planned motion, the weight on the feet as the planned ZMP says.
`check_gait_feasibility` runs it without a simulator: whether the legs can follow a planned gait.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.embedded_motion import TickInputs, solve_reference_motion
from simbench.balance.foot_sensing import CogObserver, Sensing
from simbench.balance.gait import Gait
from simbench.balance.ground_reaction import find_moving_coordinates, supported_torque
from simbench.balance.inverted_pendulum import GRAVITY, CogZmpGains, natural_frequency
from simbench.balance.push_strategies import HipStrategy
from simbench.balance.recovery import Recovery
from simbench.balance.sections import LEGS, Role, assign, limb_sections
from simbench.balance.step_planning import Landing
from simbench.errors import StepReachError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_for
from simbench.options import EmbeddingSection
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_LANDING_LOAD = 0.1  # Part of the weight on a foot that means ground under it.
# Proportional gain, 1/s, on the errors of soles, trunk and COG height in a recovery.
_RECOVERY_FEEDBACK_RATE = 10.0
_EMBEDDED = EmbeddingSection()


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
    what was measured at each tick; `gave_up` is the tick from which on a falling robot is left alone;
    `recovery` counts the steps that pushes have made necessary, None without.

    `robot`: robot with two legs; its model is the one that the controller has of the real robot. `gains`:
    gains k_c and k_p of the feedback, 1/s. `control`: whether COG and ZMP are fed back; otherwise the
    reference's own COG and the planned ZMP are. `embedding`: where balance takes the motion of trunk, arms
    and head into account; elsewhere it takes them to be at rest, in their first posture. `recovery`: whether
    a standing robot leans its trunk, or steps too, when it is pushed too hard; only with `control`. Raises
    BalanceError if the robot has no two legs.
    """

    def __init__(
        self,
        robot: Robot,
        plan: WholeBodyPlan,
        gains: CogZmpGains,
        *,
        control: bool = True,
        embedding: EmbeddingSection = _EMBEDDED,
        recovery: Literal["none", "hips", "step"] = "none",
    ) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._plan, self._control, self._embedding = plan, control, embedding
        sections = limb_sections(robot)
        self._feet = feet = [section.frame for section in sections[:2]]
        self.legs = np.array([column - 6 for leg in sections[:2] for column in leg.columns])
        self._upper = np.setdiff1d(np.arange(len(robot.joint_names)), self.legs)
        self.configuration = np.concatenate([plan.base, plan.joints[0]])
        self._weight = pin.computeTotalMass(robot.model) * GRAVITY
        landing_load = _LANDING_LOAD * self._weight
        self.recovery: Recovery | None = None
        self._hips: HipStrategy | None = None
        self._observer: CogObserver | None = None
        # The kernel is compiled for rows and arrays without gaps.
        gait, height = plan.gait, np.ascontiguousarray(plan.cog_height)
        self._body = np.ascontiguousarray(plan.body)
        if recovery != "none" and control:
            omega = natural_frequency(float(height[0]))
            may_step = recovery == "step"
            self.recovery = Recovery(
                robot, gait, height, omega, self.configuration, landing_load, may_step=may_step
            )
            gait, height = self.recovery.gait, self.recovery.height
            self._hips = HipStrategy(robot, gait, height, omega, self.configuration)
            self._observer = CogObserver(gait.timestep, gait.cog[0])
        self.gait, self.landing = gait, Landing(gait, landing_load)
        self._feed_forward = FeedForward(robot, gait, feet, self._data)
        load = self._weight * self._feed_forward.load_fractions[0]
        self._sensing = Sensing(robot.model, feet, gait.timestep, load)
        self.cog, self.zmp = (np.full((len(gait.zmp), 2), np.nan) for _ in range(2))
        self.velocity = np.zeros(robot.model.nv)
        self.torque = np.zeros(len(robot.joint_names))
        self.gave_up: int | None = None
        self._planned = np.zeros(robot.model.nv)
        # The inputs of a tick on the left, and of one on the right foot; they share their arrays.
        on_left, on_right = (
            assign(robot.model, sections, {base: Role.BASE, other: Role.C_BUSY}, (base,))[1]
            for base, other in (LEGS, LEGS[::-1])
        )
        left, right = (self._data.oMf[foot] for foot in feet)
        inputs = TickInputs(
            # Pinocchio's own memory, not copies: it changes with the reference.
            jacobian=self._data.J,
            cog_jacobian=self._data.Jcom,
            reference_cog=self._data.com[0],
            trunk_rotation=self._data.oMi[1].rotation,
            left_rotation=left.rotation,
            left_position=left.translation,
            right_rotation=right.rotation,
            right_position=right.translation,
            previous_position=np.empty((2, 3)),
            position=self.landing.position,
            yaw=self.landing.yaw,
            rate=1.0 / gait.timestep,
            joints=plan.joints,
            embedded=embedding.jacobian,
            cog_height=height,
            cog=gait.cog,
            cog_velocity=gait.cog_velocity,
            zmp=gait.zmp,
            measured_cog=self.cog,
            measured_zmp=self.zmp,
            gains=gains,
            columns=on_left,
        )
        self._inputs = inputs, inputs._replace(columns=on_right)
        # Nearly 30 arrays in NamedTuples: to look up their types would take 5 µs of a tick's 24. Without that
        # the call takes 7.2 µs, as one with 34 arguments does.
        self._solve = compile_for(
            solve_reference_motion,
            *(0, 0, 1.0, self.configuration, self._body[0]),
            *(self._inputs[0], self._planned, self.velocity),
        )

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
            if not sensing.read(measured if self._embedding.cog else self._at_rest(measured), foot_wrench):
                self._give_up(now)
                return
            load, measuring = sensing.wrench[:, 2], self._control
            if self.recovery is not None:
                recovering, body = self._recover(now, body)
        embedding, upper = self._embedding, self._upper
        known = self.configuration if embedding.cog else self._at_rest(self.configuration)
        pin.jacobianCenterOfMass(self._model, self._data, known, False)
        for frame in self._feet:
            pin.updateFramePlacement(self._model, self._data, frame)
        if measuring:
            sensing.measure(now, gait, landing, self.cog, self.zmp)
        else:
            self.cog[now], self.zmp[now] = self._data.com[0][:2], gait.zmp[now]
        if recovering and self._observer is not None:
            self.cog[now] = self._observer.position
        inputs = self._inputs[gait.support[now]]
        inputs.previous_position[:] = landing.position
        landing.advance(then, load)
        foot = landing.settling_foot(then, load) if measuring and gait.steps else None
        if foot is not None:
            landing.settle(foot, *sensing.sole_from_other(foot, landing))
        # After a takeover the reference is off its targets; it comes back little by little.
        feedback_rate = _RECOVERY_FEEDBACK_RATE if recovering else inputs.rate
        reference = self.configuration
        if not self._solve(now, then, feedback_rate, reference, body, inputs, self._planned, self.velocity):
            self._give_up(now)
            return
        if not embedding.jacobian:
            # Joints whose motion is not in the Jacobian: their controllers move them.
            speed = (self._plan.joints[then, upper] - reference[7 + upper]) / gait.timestep
            self.velocity[6 + upper] = self._planned[6 + upper] = speed
        if embedding.feedforward:
            self.torque = self._feed_forward.torque(now, reference, self._planned)
        else:
            self._planned[6 + upper] = 0.0
            self.torque = self._feed_forward.torque(now, self._at_rest(reference), self._planned)
            self.torque[upper] = self._feed_forward.torque_of_upper_body(
                reference, 6 + upper, self.velocity[6 + upper]
            )
        self.configuration = pin.integrate(self._model, self.configuration, self.velocity * gait.timestep)

    def _at_rest(self, configuration: Array) -> Array:
        """Put joints that balance does not know of where it takes them to be."""
        known = configuration.copy()
        known[7 + self._upper] = self._plan.joints[0, self._upper]
        return known

    def _recover(self, now: int, body: Array) -> tuple[bool, Array]:
        """Replan if a push requires it; whether the gait is a recovery by now, and the trunk's pose."""
        recovery, hips, observer = self.recovery, self._hips, self._observer
        assert recovery is not None
        assert hips is not None
        assert observer is not None
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

    def _give_up(self, now: int) -> None:
        """Hold still from now on."""
        self.gave_up = now
        self.velocity = np.zeros(self._model.nv)


class FeedForward:
    """Inverse dynamics of a motion that is given tick by tick.

    `load_fractions` (N, 2) is the part of the weight that the left and the right foot carry at each sample of
    the gait. `robot`: robot with two legs; `gait`: planned ZMP and feet, N samples; `feet`: Pinocchio's ids
    of the sole frames; `data`: of the motion's posture: at each tick its Jacobian `J` and the poses of the
    sole frames count.
    """

    def __init__(self, robot: Robot, gait: Gait, feet: list[int], data: pin.Data) -> None:
        self._robot, self._gait, self._model, self._data = robot, gait, robot.model, robot.model.createData()
        self._moves = find_moving_coordinates(robot.model, feet)
        self.load_fractions = foot_load_fractions(robot, gait, 0)
        self._velocity, self._acceleration = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
        self._upper_velocity: Array | float = 0.0
        self._jumped = False
        left, right = (data.oMf[foot].translation for foot in feet)
        # Pinocchio's own memory, not copies: it changes with the posture.
        self._kinematics = data.J, left, right, self._moves
        effort, load = np.zeros(robot.model.nv), self.load_fractions[0]
        self._supported_torque = compile_for(supported_torque, effort, *self._kinematics, load)

    def replan(self, now: int) -> None:
        """Take up a gait whose rows have changed.

        The plan's velocity jumps to the measured one then; the torque keeps the acceleration of the tick
        before. `now`: first row of the gait that has changed.
        """
        self.load_fractions[now:] = foot_load_fractions(self._robot, self._gait, now)
        self._jumped = True

    def torque(self, now: int, configuration: Array, velocity: Array) -> Array:
        """Compute the torques at a tick.

        The acceleration is the difference of the velocities of two ticks, over the timestep. `now`: row of
        the gait; `configuration` (nq,): root pose in the world frame (m and quaternion x, y, z, w) and joint
        positions, rad: those of the posture's data; `velocity` (nv,): planned velocity until the next tick:
        the root's in its own axes, then the joints', m/s and rad/s. Returns (n,): joint torques in the order
        of `robot.joint_names`, N·m.
        """
        if not self._jumped:
            self._acceleration = (velocity - self._velocity) / self._gait.timestep
        self._jumped = False
        self._velocity[:] = velocity
        effort = pin.rnea(self._model, self._data, configuration, velocity, self._acceleration)
        return self._supported_torque(effort, *self._kinematics, self.load_fractions[now])

    def torque_of_upper_body(
        self, configuration: Array, columns: NDArray[np.int64], velocity: Array
    ) -> Array:
        """Compute the torques of joints that move beside the planned motion.

        `configuration` (nq,): root pose in the world frame (m and quaternion x, y, z, w) and joint positions,
        rad, with the actual positions of those joints; `columns` (k,) of int: their columns in the velocity
        vector; `velocity` (k,): their velocities until the next tick, rad/s. Returns (k,): joint torques,
        N·m.
        """
        moving, acceleration = self._velocity.copy(), self._acceleration.copy()
        moving[columns] = velocity
        acceleration[columns] = (velocity - self._upper_velocity) / self._gait.timestep
        self._upper_velocity = velocity
        effort = pin.rnea(self._model, self._data, configuration, moving, acceleration)
        return np.asarray(effort[columns])


def foot_load_fractions(robot: Robot, gait: Gait, start: int) -> Array:
    """Find the part of the weight that each foot carries for the planned ZMP from a row on.

    On both feet it follows the lever rule: with the ZMP p projected onto the line between the middles a and b
    of left and right sole, the right foot carries (p − a)·(b − a) / |b − a|². `robot`: robot with two legs;
    `gait`: planned ZMP and feet, N samples; `start`: first row. Returns (N - start, 2): left and right, with
    the sum 1.
    """
    centres, rows = [], slice(start, None)
    for column, side in enumerate(SIDES):
        middle = robot.soles[f"{side}_foot"][:, :2].mean(axis=0)
        yaw = gait.foot_yaw[rows, column]
        cosine, sine = np.cos(yaw), np.sin(yaw)
        rotated = np.stack(
            [cosine * middle[0] - sine * middle[1], sine * middle[0] + cosine * middle[1]], axis=1
        )
        centres.append(gait.foot_position[rows, column, :2] + rotated)
    across = centres[1] - centres[0]
    right = np.sum((gait.zmp[rows] - centres[0]) * across, axis=1) / np.sum(across**2, axis=1)
    left_stands, right_stands = gait.contact[rows].T
    right = np.where(left_stands, np.where(right_stands, right.clip(0.0, 1.0), 0.0), 1.0)
    return np.stack([1.0 - right, right], axis=1)


_GAINS = CogZmpGains(cog=10.0, zmp=0.0)  # Keeps the COG on its profile; nothing is measured.


def check_gait_feasibility(robot: Robot, plan: WholeBodyPlan, reserve: float = 0.0) -> Array:
    """Refuse a plan whose legs leave their limits.

    Every tick of the plan is run with ideal measurements. `robot`: robot with two legs; `plan`: planned
    motion; `reserve`: part of each leg joint's range, at either end, and of its speed limit that the plan is
    to leave. Returns (N, nq): configurations at the N samples of the plan: pose of the root link in the world
    frame (m and quaternion x, y, z, w), then joint positions, rad.
    """
    whole = WholeBodyController(robot, plan, _GAINS)
    model, gait = robot.model, plan.gait
    legs = whole.legs
    low, high = model.lowerPositionLimit[7 + legs], model.upperPositionLimit[7 + legs]
    low, high = low + reserve * (high - low), high - reserve * (high - low)
    fastest = (1.0 - reserve) * model.velocityLimit[6 + legs]
    names = [robot.joint_names[leg] for leg in legs]
    path = np.empty((len(gait.zmp), model.nq))
    path[0] = whole.configuration
    for tick in range(len(gait.zmp) - 1):
        whole.tick(tick, None, None)
        path[tick + 1] = whole.configuration
        if whole.gave_up is not None:
            raise StepReachError(f"{_where(robot, plan, tick)}: a leg would have to be straight")
        q, speed = whole.configuration[7 + legs], np.abs(whole.velocity[6 + legs])
        beyond = np.maximum(low - q, q - high)
        worst = int(beyond.argmax())
        if beyond[worst] > 0.0:
            raise StepReachError(
                f"{_where(robot, plan, tick)}: {names[worst]} would go to {q[worst]:.3f} rad, "
                f"{beyond[worst]:.2g} rad beyond its limit; "
                f"allowed: {low[worst]:.3f} to {high[worst]:.3f} rad"
            )
        worst = int((speed / fastest).argmax())
        if speed[worst] > fastest[worst]:
            raise StepReachError(
                f"{_where(robot, plan, tick)}: {names[worst]} would turn at {speed[worst]:.2f} rad/s; "
                f"allowed: {fastest[worst]:.2f} rad/s"
            )
    return path


def _where(robot: Robot, plan: WholeBodyPlan, tick: int) -> str:
    """Say which step of which robot it is, and when."""
    lifted = ~plan.gait.contact[: tick + 1]
    number = int(np.sum(lifted[1:] & ~lifted[:-1]))
    when = tick * plan.gait.timestep
    if number == 0:
        return f"{robot.name}: at {when:.2f} s, before the first step"
    last = np.flatnonzero(lifted.any(axis=1))[-1]
    leg = LEGS[int(lifted[last].argmax())].removesuffix("_leg")
    return f"{robot.name}: step {number} ({leg}) is out of reach at {when:.2f} s"
