"""Joint control: a law's torques within their limits, reflected inertia and friction, at every time step.

Bullet has no reflected rotor inertia (armature), its joint friction is a motor that would clash with ours,
and an explicit damping torque on a light link is unstable at gains that are harmless in continuous time. All
three are answered by one prediction of the step. An engine whose joints have an armature
(`RobotBody.has_armature`) delivers I_m a itself, to contacts at once; all else is the same. With a law that
asks for τ(a) = τ(0) − C a (for PD evaluated at the end of the step C = D dt + K dt²), reflected inertia I_m
and viscous friction d, the equation of motion

    (A + I_m + C + d dt) a = τ(0) − d v − h + τ_c + Jᵀf + τ_r

is the articulated-body algorithm with a larger armature. The motor delivers τ(a), limited to its torque, and
the joint receives τ(a) − I_m a − d (v + dt a) + τ_c, which makes Bullet, whose model is A alone, move as
A + I_m with friction. τ_c is Coulomb friction, or what holds a resting joint (`friction_torque`).

External forces are of three kinds. Those that simbench applies (grips) enter as f. The ground under a foot is
replaced by its effect: the foot is held, so in this prediction it weighs `GROUND_MASS`. Of who sits, the
thighs are held by the seat; feet that carry hardly more than themselves roll over their edges under a torque
that a held foot would bear, and then chatter. All others (contacts of those feet and of the arms, joint
stops) enter one step late as the joint torque τ_r that the last step must have had beside ours: inverse
dynamics of the acceleration that Bullet made, minus what the joints received. A rotor's momentum thus reaches
a hit body in a geometric series of steps, whose sum is all of it.

A light foot would be hit away by the floor before its rotors are felt, and chatter. In the engine the rotors
of the legs are therefore inertia of the links that they turn (`RobotBody.rotors`), E = I_m a aᵀ about the
joint's axis a: contacts feel them at once. A rotor on a gear has the momentum I_m q̇, not I_m a · ω: the
inverse dynamics of these E alone in the predicted motion, applied to the joints and the root, cancels the
difference. Without contacts the robot moves exactly as A + I_m.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_for, compiled, compiled_entry
from simbench.kinematics.least_squares import factorise, substitute
from simbench.robot.robot import coupling_matrix
from simbench.sim.control.command import Command, Load
from simbench.sim.control.laws import ControlLaw, PdLaw
from simbench.sim.engine import GRAVITY, RobotBody
from simbench.sim.state import RobotState, empty_state

_MOST_ATTEMPTS = 100
_REST = 1e-7  # Speed below which a joint rests, rad/s: what rounding leaves of a joint that friction holds.


@compiled
def friction_torque(
    acceleration: Array, response: Array, velocity: Array, timestep: float, coulomb: Array, breakaway: Array
) -> Array:
    """Find the friction torques f with which the step ends consistently.

    With a the accelerations without friction and M⁻¹ the response to joint torques, the speeds at the end of
    the step are v⁺ = v + dt (a + M⁻¹ f). A joint that slides on has v⁺ of the sign of its friction's opposite
    and |f| its Coulomb friction; a joint that rests has v⁺ = 0 and |f| at most its break-away torque. Joints
    are coupled by M⁻¹, so their states are found together: guess, solve for those that rest, and move every
    joint that contradicts its state to the other one (block principal pivoting, Júdice & Pires 1994; later
    one at a time, Murty 1974). `acceleration` (k,): accelerations that the joints with friction would have
    without it, rad/s²; `response` (k, k): their block of the inverse of the mass matrix, rotors included,
    1/(kg·m²); `velocity` (k,): at the start of the step, rad/s; `coulomb`, `breakaway` (k,): N·m. Returns
    (k,): friction torques on the joints, N·m.
    """
    count = len(velocity)
    free, torque, direction = np.empty(count), np.empty(count), np.empty(count)
    for i in range(count):
        free[i] = velocity[i] + timestep * acceleration[i]
        direction[i] = 0.0 if abs(velocity[i]) <= _REST else np.sign(velocity[i])
    for attempt in range(_MOST_ATTEMPTS):
        for i in range(count):
            torque[i] = -direction[i] * coulomb[i]
        _hold(free, response, timestep, direction, torque)
        settled = True
        for i in range(count):
            after = free[i]
            for k in range(count):
                after += timestep * response[i, k] * torque[k]
            # A joint that slides on keeps its direction; one that rests needs no more than break-away.
            if direction[i] == 0.0 and abs(torque[i]) > breakaway[i]:
                direction[i] = -np.sign(torque[i])
            elif direction[i] * after < 0.0:
                direction[i] = 0.0
            else:
                continue
            settled = False
            if attempt >= count:
                # All at once may go in circles; the first alone cannot, if break-away is Coulomb friction.
                break
        if settled:
            return torque
    return np.minimum(np.maximum(torque, -breakaway), breakaway)


@compiled
def _hold(free: Array, response: Array, timestep: float, direction: Array, torque: Array) -> None:
    """Give the joints that rest, of direction 0, what stops them."""
    count, resting = 0, np.empty(len(free), dtype=np.int64)
    for i in range(len(free)):
        if direction[i] == 0.0:
            resting[count] = i
            count += 1
    if count == 0:
        return
    rows, left = np.empty((count, count)), np.empty(count)
    for i in range(count):
        left[i] = free[resting[i]] / timestep
        for k in range(len(free)):
            left[i] += response[resting[i], k] * torque[k]
        for k in range(i + 1):
            rows[i, k] = response[resting[i], resting[k]]
    factorise(rows, count)
    substitute(rows, left, count)
    for i in range(count):
        torque[resting[i]] = -left[i]


class ContactTorque:
    """Estimates the joint torque of the last step beside the known torques and forces.

    `body`: robot whose motion is observed; `held`: links that stand on something: the joints that carry them
    are left out, and those that are coupled.
    """

    def __init__(self, body: RobotBody, held: Sequence[str]) -> None:
        robot = body.robot
        self._model, self._rate = robot.model.copy(), 1.0 / body.world.timestep
        if not body.has_armature:
            self._model.armature = np.zeros(robot.model.nv)
        self._data = self._model.createData()
        self._q, self._v = np.zeros(robot.model.nq), np.zeros(robot.model.nv)
        self._started = False
        self._acceleration = np.zeros(robot.model.nv)
        self._root, self._point = np.zeros(15 if robot.floating else 0), np.array(body.root_motion.point)
        self._turns_in_root = body.root_motion.turns_in_root
        self._torque = np.zeros(len(robot.joint_names))
        model = robot.model
        # Joints of one degree of freedom between the root and a link that is held.
        feet = [model.frames[model.getFrameId(link)].parentJoint for link in held]
        legs = {joint for foot in feet for joint in model.supports[foot]}
        names = [
            robot.joint_names.index(model.names[joint])
            for joint in legs
            if joint and model.joints[joint].nv == 1
        ]
        # What a coupling does to its joints is no contact.
        for name, coupling in robot.couplings.items():
            names += [robot.joint_names.index(name), robot.joint_names.index(coupling.joint)]
        self._standing = np.array(names, dtype=int)

    def of_last_step(self, state: RobotState, forces: pin.StdVec_Force, received: Array) -> Array:
        """Compute the joint torque of unknown contacts in the step that led to `state`; remember `state`.

        `state`: state at the end of the step; `forces`: known external forces of the last step, in the frames
        of their joints; `received` (n,): joint torques of the last step, N·m. Returns (n,): joint torque,
        N·m; zero before the first step, and in the joints that carry the held links.
        """
        torque, acceleration = self._torque, self._acceleration
        if self._started:
            _acceleration(
                *(self._v, state.v, self._root, state.root),
                *(self._point, self._turns_in_root, self._rate, acceleration),
            )
            needed = pin.rnea(self._model, self._data, self._q, self._v, acceleration, forces)
            _unknown(needed, received, self._standing, torque)
        self._q[:], self._v[:], self._started = state.q, state.v, True
        if len(self._root):
            self._root[:] = state.root
        return torque


@compiled_entry("torque (n), received (n)")
def _unknown(needed: Array, received: Array, standing: NDArray[np.int64], torque: Array) -> None:
    """Write needed minus received joint torque, N·m, (n,); zero for the joints that stand."""
    root = len(needed) - len(torque)
    for i in range(len(torque)):
        torque[i] = needed[root + i] - received[i]
    for i in standing:
        torque[i] = 0.0


@compiled_entry("before (v), now (v), root_now (15), point (3), acceleration (v)")
def _acceleration(
    before: Array,
    now: Array,
    root: Array,
    root_now: Array,
    point: Array,
    turns_in_root: bool,
    rate: float,
    acceleration: Array,
) -> None:
    """Compute the accelerations that made the last step, a free root's in its frame as it was before.

    With the velocity v of the point of the root link that the engine integrates, c its position relative to
    the root frame, ω and α the angular velocity and acceleration, all in world axes before the step: a = v̇ −
    α × c − ω × v, and α. `before`, `now` (nv,): velocities at both ends of the step, `RobotState.v`; `root`,
    `root_now` (15,): `RobotState.root` at both ends; `root` is empty for a fixed root; `point` (3,): that
    point in the root frame, m; `turns_in_root`: whether the engine integrates the angular velocity in the
    root's axes; `rate`: 1 / time step, Hz; `acceleration` (nv,): overwritten: m/s², rad/s².
    """
    for i in range(len(now)):
        acceleration[i] = (now[i] - before[i]) * rate
    if len(root) == 0:
        return
    wx, wy, wz = root[12], root[13], root[14]
    # One by one: for differences of arrays numba also compiles what formats the errors of their shapes.
    ax, ay = (root_now[9] - root[9]) * rate, (root_now[10] - root[10]) * rate
    az = (root_now[11] - root[11]) * rate
    bx, by = (root_now[12] - root[12]) * rate, (root_now[13] - root[13]) * rate
    bz = (root_now[14] - root[14]) * rate
    if turns_in_root:
        tx, ty, tz = acceleration[3], acceleration[4], acceleration[5]
        bx = root[0] * tx + root[1] * ty + root[2] * tz
        by = root[3] * tx + root[4] * ty + root[5] * tz
        bz = root[6] * tx + root[7] * ty + root[8] * tz
    cx = root[0] * point[0] + root[1] * point[1] + root[2] * point[2]
    cy = root[3] * point[0] + root[4] * point[1] + root[5] * point[2]
    cz = root[6] * point[0] + root[7] * point[1] + root[8] * point[2]
    ax -= by * cz - bz * cy + wy * root[11] - wz * root[10]
    ay -= bz * cx - bx * cz + wz * root[9] - wx * root[11]
    az -= bx * cy - by * cx + wx * root[10] - wy * root[9]
    for i in range(3):
        acceleration[i] = root[i] * ax + root[3 + i] * ay + root[6 + i] * az
        acceleration[3 + i] = root[i] * bx + root[3 + i] * by + root[6 + i] * bz


def rotor_model(body: RobotBody) -> pin.Model:
    """Make a robot that consists of the rotors that are inertia of links, without mass and gravity."""
    model = body.robot.model.copy()
    model.armature, model.gravity = np.zeros(model.nv), pin.Motion.Zero()
    for joint in range(model.njoints):
        tensor = body.rotors.get(joint, np.zeros((3, 3)))
        model.inertias[joint] = pin.Inertia(0.0, np.zeros(3), tensor)
    return model


# Mass (kg) and, per axis, inertia (kg·m²) of a foot that the ground holds, in the prediction.
GROUND_MASS = 1e5


# Of motors and gears, (n,) each: largest torque, N·m; reflected rotor inertia that the engine does not have,
# kg·m²; viscous friction, N·m·s/rad.
Motors = tuple[Array, Array, Array]
# Of a step, (n,) each, N·m, buffers that `deliver` writes: motor torque that the law asks for, and the same
# within the limits; friction on the joint; torque that the joint receives.
Torques = tuple[Array, Array, Array, Array]


class JointController:
    """Drives all joints of a robot by a law; holds the buffers that every step reuses.

    `law`: law that the motors follow; PD with the robot's gains by default; `seated`: links that a seat
    holds, instead of feet that the ground holds.
    """

    def __init__(self, body: RobotBody, law: ControlLaw | None = None, seated: Sequence[str] = ()) -> None:
        robot = body.robot
        count = len(robot.joint_names)
        self._apply, self._timestep = body.apply_joint_torques, body.world.timestep
        self._law = PdLaw(robot, self._timestep) if law is None else law
        # Sums the torques on joints that one motor drives (n, n); rows G (k, nv) with G v = 0 of the others.
        follow = coupling_matrix(robot.joint_names, robot.couplings)
        self._shared, driven = follow.T, follow.any(axis=0)
        self._implicit = np.where(driven, self._law.implicit, 0.0)
        self._coupled = np.zeros((count - int(driven.sum()), robot.model.nv))
        self._coupled[:, robot.root_v :] = (np.eye(count) - follow)[~driven]
        self._turn_root = body.apply_root_torque
        self._rotors: Any = None
        if body.rotors:
            self._rotors = rotor_model(body)
            self._rotor_data = self._rotors.createData()
        self._joints = slice(robot.root_v, None)
        self._robot = robot
        self._model = robot.model.copy()
        self._data = self._model.createData()
        motors, friction = robot.motors, robot.friction
        state = empty_state(robot)
        body.read_state(state)
        # Inertia that acts on each coordinate beside the links' (nv,): rotor, law and viscous friction.
        armature = np.zeros(robot.model.nv)
        armature[self._joints] = motors.reflected_inertia + self._implicit + friction.viscous * self._timestep
        self._model.armature = armature
        self._torque = np.zeros(robot.model.nv)
        self._asked = np.zeros(count)
        self._rubbing = np.flatnonzero(friction.breakaway > 0.0)
        links = tuple(seated) or tuple(robot.frames[role] for role in robot.feet)
        self._contact = ContactTorque(body, links)
        self._feet = [robot.model.frames[robot.model.getFrameId(link)].parentJoint for link in links]
        free = [robot.model.inertias[joint].copy() for joint in self._feet]
        held = pin.Inertia(GROUND_MASS, np.zeros(3), GROUND_MASS * np.eye(3))
        self._foot_inertia = [(foot, foot + held) for foot in free]
        self._held = [False] * len(self._feet)
        self._forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(robot.model.njoints)])
        pin.forwardKinematics(self._model, self._data, state.q)
        # Pinocchio's own objects, not copies: where the feet are, and the forces on them.
        self._foot_lift = [(self._data.oMi[joint], self._forces[joint]) for joint in self._feet]
        self._loaded: list[int] = []
        # References into the vector of forces, whose elements stay where they are.
        self._force_of_joint = list(self._forces)
        self._no_load = np.zeros(6)
        self.demand = self._law.demand
        reflected = np.zeros(count) if body.has_armature else motors.reflected_inertia
        self._motors: Motors = (motors.torque_limit, reflected, friction.viscous)
        self._torques: Torques = (np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count))
        self._predicted_again = (np.zeros(count), *self._torques[1:])
        self._deliver = compile_for(
            deliver,
            *(self._torque[self._joints], state.v, self._timestep, self._asked),
            *(self._implicit, self._motors, self._torques),
        )
        requested, motor, rubbing, received = self._torques
        self.command = Command(requested, motor, received, rubbing)

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Set which feet, or thighs, are held from now on; to be repeated as often as feet are sensed.

        A held foot's added mass must not add weight: it is carried by a force against gravity, turned with
        the foot as it is now. `held`: in the order of `robot.feet`, or of the links on a seat.
        """
        # The prediction leaves the joints' placements in their parents; those in the world follow from them.
        pin.updateGlobalPlacements(self._model, self._data)
        for side, now in enumerate(held):
            if now != self._held[side]:
                self._held[side] = now
                self._model.inertias[self._feet[side]] = self._foot_inertia[side][now]
            pose, lift = self._foot_lift[side]
            lift.linear = pose.rotation[2] * (GROUND_MASS * GRAVITY if now else 0.0)

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to the engine.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `loads`: known
        external forces. Returns torques of this step; overwritten by the next step.
        """
        command = self.command
        contact = self._contact.of_last_step(state, self._forces, command.joint)
        self._law.torque(state, demand, self._asked)
        if self._robot.couplings:
            self._asked[:] = self._shared @ self._asked
        for joint in self._loaded:
            self._force_of_joint[joint].vector = self._no_load
        self._loaded.clear()
        for joint, wrench in loads:
            self._force_of_joint[joint].vector = np.array(wrench)
            self._loaded.append(joint)
        command.saturated = self._predict(state, contact, self._implicit, self._torques)
        if command.saturated:
            # A saturated motor no longer follows the law: predict again with its torque fixed at the limit.
            saturated = command.motor != command.requested
            implicit = np.where(saturated, 0.0, self._implicit)
            self._asked[saturated] = command.motor[saturated]
            usual = self._model.armature.copy()
            armature, robot = np.zeros(len(usual)), self._robot
            armature[self._joints] = (
                robot.motors.reflected_inertia + implicit + robot.friction.viscous * self._timestep
            )
            self._model.armature = armature
            self._predict(state, contact, implicit, self._predicted_again)
            self._model.armature = usual
        if self._rotors is None:
            self._apply(command.joint)
            return command
        # What cancels rotors that are inertia of links, on the root and on the joints.
        needed = pin.rnea(self._rotors, self._rotor_data, state.q, state.v, self._data.ddq)
        command.cancelling = needed
        if self._robot.floating:
            self._turn_root((state.root[:9].reshape(3, 3) @ needed[3:6]).tolist())
        self._apply(command.joint + needed[self._joints])
        return command

    def _predict(self, state: RobotState, contact: Array, implicit: Array, torques: Torques) -> int:
        """Predict the step and write its torques and friction; count the motors at a limit."""
        model, data, timestep, friction = self._model, self._data, self._timestep, torques[2]
        _drive(self._asked, contact, self._motors[2], state.v, self._torque)
        whole = pin.aba(model, data, state.q, state.v, self._torque, self._forces)
        acceleration = whole[self._joints]
        friction[:] = 0.0
        coupled = self._coupled
        if len(self._rubbing) or len(coupled):
            inverse = pin.computeMinverse(model, data, state.q)
        if len(coupled):
            # a = a₀ - M⁻¹Gᵀ (G M⁻¹ Gᵀ)⁻¹ G a₀, and likewise the response to torques.
            reaction = np.linalg.solve(coupled @ inverse @ coupled.T, coupled @ inverse)
            whole -= reaction.T @ (coupled @ whole)
            inverse = inverse - inverse @ coupled.T @ reaction
            data.ddq = whole
        if len(self._rubbing):
            response = inverse[self._joints, self._joints]
            limits = self._robot.friction.coulomb, self._robot.friction.breakaway
            add_friction(acceleration, response, state.v, timestep, self._rubbing, *limits, friction)
        return self._deliver(acceleration, state.v, timestep, self._asked, implicit, self._motors, torques)


@compiled_entry("asked (n), contact (n), viscous (n), v (m), torque (m)")
def _drive(asked: Array, contact: Array, viscous: Array, v: Array, torque: Array) -> None:
    """Write the torque that drives the joints, N·m, behind the root's part of `torque` (nv,)."""
    root = len(torque) - len(asked)
    for i in range(len(asked)):
        torque[root + i] = asked[i] + contact[i] - viscous[i] * v[root + i]


@compiled_entry("acceleration (n), response (n, n), coulomb (n), breakaway (n), friction (n)")
def add_friction(
    acceleration: Array,
    response: Array,
    v: Array,
    timestep: float,
    rubbing: NDArray[np.int64],
    coulomb: Array,
    breakaway: Array,
    friction: Array,
) -> None:
    """Add Coulomb friction, or what holds resting joints, to `friction`, and its effect to `acceleration`.

    Arrays are over joints (n,), except for `v` (nv,), the joints with friction `rubbing` (k,), and the
    inverse of the mass matrix `response` (n, n), of which the rows of these joints are read.
    """
    count, root = len(rubbing), len(v) - len(acceleration)
    free, speed, block = np.empty(count), np.empty(count), np.empty((count, count))
    sliding, holding = np.empty(count), np.empty(count)
    for i, joint in enumerate(rubbing):
        free[i], speed[i] = acceleration[joint], v[root + joint]
        sliding[i], holding[i] = coulomb[joint], breakaway[joint]
        for k, other in enumerate(rubbing):
            block[i, k] = response[joint, other]
    torque = friction_torque(free, block, speed, timestep, sliding, holding)
    for k, other in enumerate(rubbing):
        friction[other] += torque[k]
        for i in range(len(acceleration)):
            acceleration[i] += response[other, i] * torque[k]


@compiled_entry("acceleration (n), asked (n), implicit (n), motors[0] (n), torques[0] (n)")
def deliver(
    acceleration: Array,
    v: Array,
    timestep: float,
    asked: Array,
    implicit: Array,
    motors: Motors,
    torques: Torques,
) -> int:
    """Write the torques that motors are asked for, that they give, and that reach the joints.

    Arrays are over joints (n,), except for `v` (nv,); the friction of `torques` has the Coulomb part and gets
    the viscous one. Returns the number of motors at their limit.
    """
    requested, motor, friction, joint = torques
    limit, reflected, viscous = motors
    root, saturated = len(v) - len(asked), 0
    for i in range(len(asked)):
        requested[i] = asked[i] - implicit[i] * acceleration[i]
        motor[i] = min(max(requested[i], -limit[i]), limit[i])
        saturated += motor[i] != requested[i]
        friction[i] -= viscous[i] * (v[root + i] + timestep * acceleration[i])
        joint[i] = motor[i] - reflected[i] * acceleration[i] + friction[i]
    return saturated
