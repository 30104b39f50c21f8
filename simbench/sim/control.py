"""Joint control: PD with feed-forward, torque limits, and the motors' reflected inertia, at every time step.

Bullet has no reflected rotor inertia (armature), and an explicit damping torque on a light link is unstable
at gains that are harmless in continuous time. Both are answered by one forward-dynamics call. With the PD law
evaluated at the end of the step, as Bullet integrates (v⁺ = v + dt·a, q⁺ = q + dt·v⁺),

    τ(a) = K(q_r⁺ − q − dt·v) + D(v_r⁺ − v) + τ_ff − (D dt + K dt²) a,

and reflected inertia I_m, the equation of motion is

    (A + I_m + D dt + K dt²) a = τ(0) − h + Jᵀf,

which is the articulated-body algorithm with a larger armature. The motor then delivers τ(a), limited to its
torque, and the joint receives τ(a) − I_m a, which makes Bullet, whose model is A alone, move as A + I_m.

The unknown ground reaction is replaced by its effect: a foot in contact is held, so in this prediction it
weighs `GROUND_MASS`. Forces that simbench itself applies (grips) enter as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.sim.state import RobotState
from simbench.sim.world import GRAVITY, RobotBody, bullet

GROUND_MASS = 1e5
"""Mass (kg) and, per axis, inertia (kg·m²) of a foot that the ground holds, in the prediction."""


_NO_FORCE = pin.Force.Zero()


@dataclass
class Command:
    """What the controller did in one step, arrays in the order of `robot.joint_names`.

    Parameters
    ----------
    requested : (n,) array
        Motor torque asked for by the control law, N·m.
    motor : (n,) array
        The same within the torque limits.
    joint : (n,) array
        What the joint received: motor torque minus what accelerates the rotor.
    saturated : int
        How many motors were at their limit.
    """

    requested: NDArray[np.float64]
    motor: NDArray[np.float64]
    joint: NDArray[np.float64]
    saturated: int = 0


class JointController:
    """PD control of all joints of a floating robot; holds the buffers that every step reuses."""

    def __init__(self, body: RobotBody) -> None:
        robot = body.robot
        count = len(robot.joint_names)
        self._body = body
        self._timestep = body.world.timestep
        self._motors = robot.motors
        self._implicit = robot.motors.damping * self._timestep + robot.motors.stiffness * self._timestep**2
        self._rate_gain = robot.motors.damping + robot.motors.stiffness * self._timestep
        self._lowest_torque = -robot.motors.torque_limit
        self._model = robot.model.copy()
        self._data = self._model.createData()
        armature = np.zeros(robot.model.nv)
        armature[6:] = robot.motors.reflected_inertia + self._implicit
        self._model.armature = armature
        self._torque = np.zeros(robot.model.nv)
        self._law = self._torque[6:]
        self._change = np.zeros(count)
        self._feet = [
            robot.model.frames[robot.model.getFrameId(robot.frames[role])].parentJoint
            for role in ("left_foot", "right_foot")
        ]
        free = [robot.model.inertias[joint].copy() for joint in self._feet]
        held = pin.Inertia(GROUND_MASS, np.zeros(3), GROUND_MASS * np.eye(3))
        self._foot_inertia = [(own, own + held) for own in free]
        self._held = [False, False]
        self._lift = np.zeros(6)
        self._forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(robot.model.njoints)])
        self._loaded: list[int] = []
        self.command = Command(np.zeros(count), np.zeros(count), np.zeros(count))

    def hold_feet(self, left: bool, right: bool) -> None:
        """Say which feet the ground holds from now on; to be repeated as often as feet are sensed.

        A held foot's added mass must not add weight: it is carried by a force against gravity, turned with
        the foot as it is now.
        """
        for side, held in enumerate((left, right)):
            joint = self._feet[side]
            if held != self._held[side]:
                self._held[side] = held
                self._model.inertias[joint] = self._foot_inertia[side][held]
            self._lift[:3] = self._data.oMi[joint].rotation[2] * (GROUND_MASS * GRAVITY if held else 0.0)
            self._forces[joint] = pin.Force(self._lift)

    def demand(
        self,
        position: NDArray[np.float64],
        velocity: NDArray[np.float64],
        feedforward: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Compute the part of the control law that does not depend on the state: K q_r⁺ + D v_r⁺ + τ_ff.

        Parameters
        ----------
        position, velocity : (..., n) array
            Joint reference at the end of a step, rad and rad/s.
        feedforward : (..., n) array
            N·m.

        Returns
        -------
        (..., n) array
            N·m, for `step`.
        """
        return self._motors.stiffness * position + self._motors.damping * velocity + feedforward

    def step(
        self,
        state: RobotState,
        demand: NDArray[np.float64],
        loads: Sequence[tuple[int, pin.Force]] = (),
    ) -> Command:
        """Compute the torques of this step and hand them to Bullet.

        Parameters
        ----------
        state : RobotState
            At the start of the step.
        demand : (n,) array
            What `demand` gave for this step, N·m.
        loads : sequence of (joint id, pinocchio.Force)
            Known external forces, in the frame of the joint they act on.

        Returns
        -------
        Command
            Overwritten by the next step.
        """
        motors, command = self._motors, self.command
        law, change = self._law, self._change
        # law = demand − K q − (D + K dt) v, without temporaries
        np.multiply(motors.stiffness, state.q[7:], out=law)
        np.subtract(demand, law, out=law)
        np.multiply(self._rate_gain, state.v[6:], out=change)
        law -= change
        self._set_loads(loads)
        acceleration = self._accelerate(state)
        np.multiply(self._implicit, acceleration, out=change)
        np.subtract(law, change, out=command.requested)
        np.minimum(command.requested, motors.torque_limit, out=command.motor)
        np.maximum(command.motor, self._lowest_torque, out=command.motor)
        saturated = command.motor != command.requested
        command.saturated = int(np.count_nonzero(saturated))
        if command.saturated:
            # A saturated motor no longer follows the law: predict again with its torque fixed at the limit.
            implicit = np.where(saturated, 0.0, self._implicit)
            law[saturated] = command.motor[saturated]
            acceleration = self._accelerate_limited(state, implicit)
            np.subtract(law, implicit * acceleration, out=command.motor)
            np.clip(command.motor, self._lowest_torque, motors.torque_limit, out=command.motor)
        np.multiply(motors.reflected_inertia, acceleration, out=command.joint)
        np.subtract(command.motor, command.joint, out=command.joint)
        bullet.setJointMotorControlArray(
            self._body.body,
            self._body.joints,
            bullet.TORQUE_CONTROL,
            forces=command.joint.tolist(),
            physicsClientId=self._body.world.client,
        )
        return command

    def _accelerate(self, state: RobotState) -> NDArray[np.float64]:
        """Joint accelerations (n,) under the law's torques, with the current armature and forces."""
        return pin.aba(self._model, self._data, state.q, state.v, self._torque, self._forces)[6:]

    def _accelerate_limited(self, state: RobotState, implicit: NDArray[np.float64]) -> NDArray[np.float64]:
        """Joint accelerations (n,) where other inertia than usual, (n,), stands for the implicit part."""
        usual = self._model.armature.copy()
        armature = usual.copy()
        armature[6:] = self._motors.reflected_inertia + implicit
        self._model.armature = armature
        acceleration = self._accelerate(state)
        self._model.armature = usual
        return acceleration

    def _set_loads(self, loads: Sequence[tuple[int, pin.Force]]) -> None:
        """Known external forces for the prediction."""
        for joint in self._loaded:
            self._forces[joint] = _NO_FORCE
        self._loaded.clear()
        for joint, force in loads:
            self._forces[joint] = force
            self._loaded.append(joint)
