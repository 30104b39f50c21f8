"""Where the energy of a run comes from and goes to, summed up at every physics step.

Both engines step by semi-implicit Euler: M(q) (v⁺ − v) = Δt (f − h(q, v)) and q⁺ = q ⊕ Δt v⁺. Multiplied by
the mean velocity v̄ = (v + v⁺) / 2, the first is exactly ½ v⁺ᵀM(q)v⁺ − ½ vᵀM(q)v = Δt v̄ᵀ(f − h): a force
does the work Δt f · v̄ within a step, with f as the engine applied it, and v̄ in the coordinates that it
integrates, at the positions before the step. With v⁺ instead each work would be off by ½ Δt² f · a. What v̄
leaves is the error of the integrator: afterwards the inertia is M(q⁺), and gravity has acted along v⁺. It
shrinks with the time step.

Nothing is a remainder but `energy_residual`. Forces of contacts are those that the engine's solver found, at
its contact points, times the velocities of the bodies there; kinetic and potential energy are Pinocchio's.
MuJoCo also tells the forces of end stops, which count as contacts. Bullet does not: their work is in its
residual. In Bullet the control delivers the inertia of rotors by a prediction
(`sim.control.joint_controller`): what its torques do beyond what the rotors take up is `energy_rotor`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.tree import (
    KinematicTree,
    frame_on_body,
    joint_axes,
    kinematic_tree,
    place_bodies,
)
from simbench.sim.control.command import Command
from simbench.sim.engine import BodyHandle, Fixture, LinkHandle, RobotBody
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.fixtures.shapes import compute_inertia
from simbench.sim.grasp import EmptyHand, Grip
from simbench.sim.state import RobotState, Signal, empty_state

if TYPE_CHECKING:
    from simbench.sim.recorder import Recorder

_ABOUT = {
    "motor": "Work of the motors on the joints since the start.",
    "motor_absolute": "Amounts of the motors' works, of each joint in each step, summed up since the start.",
    "friction": "Work of the friction in the robot's joints since the start.",
    "equipment": "Work of friction, damping, springs and latches in the joints of equipment since the start.",
    "contact": "Work of all contact forces on the robot and on equipment since the start; in MuJoCo with "
    "that of end stops.",
    "grip": "Work of the grips on palms and handles since the start.",
    "push": "Work of the pushes on the robot since the start.",
    "rotor": "Work of the torques that emulate rotors since the start, beyond what the rotors took up.",
    "kinetic": "Kinetic energy of the robot, with its rotors, and of equipment.",
    "potential": "Energy in gravity of the robot and of equipment, from that at the start.",
    "residual": "Energy beyond that at the start and all works since: the error of the balance.",
}
# What is logged of the energy: `EnergyMeter` writes it.
ENERGY_SIGNALS: tuple[Signal[None], ...] = tuple(
    Signal(f"energy_{name}", (), "J", description) for name, description in _ABOUT.items()
)
# Columns of the works, the first of these names.
_MOTOR, _ABSOLUTE, _FRICTION, _EQUIPMENT, _CONTACT, _GRIP, _PUSH, _ROTOR = range(8)
_KEPT = 64  # States of which the works are computed at once.
_NO_TORQUE = (0.0, 0.0, 0.0)


class _Moved:
    """States of a robot or of equipment and the forces on its bodies; `model` is in the world's frame."""

    def __init__(self, model: pin.Model) -> None:
        self.model, self.data, self.tree = model, model.createData(), kinematic_tree(model)
        joints = len(self.tree.parent)
        # Position of the root (m), its quaternion x, y, z, w, and joint positions.
        self.place = np.zeros((_KEPT, 7 + joints))
        self.place[:, 6] = 1.0
        # Velocities in world axes: of the root's origin (m/s), angular (rad/s), and of the joints.
        self.twist = np.zeros((_KEPT, 6 + joints))
        # Of each force: row of the step, column of its work, body, point (m), force (N), torque (N·m), world.
        self.forces = array("d")

    def energies(self, row: int) -> tuple[float, float]:
        """Compute kinetic and potential energy in a state, J."""
        q, v = self.place[row, -self.model.nq :], self.twist[row, -self.model.nv :].copy()
        if self.model.nq > self.model.nv:
            turn = pin.Quaternion(q[3:7]).matrix()
            v[:3], v[3:6] = v[:3] @ turn, v[3:6] @ turn
        kinetic = pin.computeKineticEnergy(self.model, self.data, q, v)
        return kinetic, pin.computePotentialEnergy(self.model, self.data, q)

    def sum_forces(self, mean: Array, works: Array) -> None:
        """Add the power of the forces along `mean` (K, 6 + n) to `works` (K, 8), W; drop those of K steps."""
        if self.forces:
            forces = np.array(self.forces).reshape(-1, 12)
            force_powers(self.tree, self.place, mean, forces, works)
            later = forces[forces[:, 0] >= len(mean)]
            later[:, 0] -= len(mean)
            self.forces[:] = array("d", later.ravel())


@compiled
def force_powers(tree: KinematicTree, place: Array, mean: Array, forces: Array, works: Array) -> None:
    """Add f · v + m · ω of each force, at its point of its body, to its row and column of `works`.

    `place` (S, 7 + n), `mean` (K, 6 + n), `forces` (F, 12): as in `_Moved`; rows beyond K are left out.
    """
    bodies, known = len(tree.parent) + 1, -1
    rotation, position = np.empty((bodies, 3, 3)), np.empty((bodies, 3))
    axes, twist = np.empty((bodies - 1, 6)), np.empty((bodies, 6))
    for force in forces:
        row, body = int(force[0]), int(force[2])
        if row >= len(mean):
            continue
        if row != known:
            known = row
            at = place[row]
            position[0] = at[:3]
            quaternion_to_matrix(at[3], at[4], at[5], at[6], rotation[0])
            place_bodies(tree, at[7:], rotation, position)
            # Velocities of what is at the root's origin just now.
            joint_axes(tree, rotation, position, position[0], axes)
            twist[0] = mean[row, :6]
            for k in range(bodies - 1):
                for i in range(6):
                    twist[k + 1, i] = twist[tree.parent[k], i] + axes[k, i] * mean[row, 6 + k]
        x, y, z = force[3] - position[0, 0], force[4] - position[0, 1], force[5] - position[0, 2]
        vx, vy, vz, wx, wy, wz = twist[body]
        power = force[6] * (vx + wy * z - wz * y) + force[7] * (vy + wz * x - wx * z)
        power += force[8] * (vz + wx * y - wy * x) + force[9] * wx + force[10] * wy + force[11] * wz
        works[row, int(force[1])] += power


def mechanism_model(mechanism: Mechanism) -> pin.Model:
    """Make the model of a mechanism without its furniture, in the world; free where it stands freely."""
    model, pose = pin.Model(), mechanism.pose
    root, joints = 0, dict[str, int]()
    if mechanism.standing:
        root, pose = (
            model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root"),
            pin.SE3.Identity(),
        )
    origins: dict[str | None, Array] = {None: np.zeros(3)}
    for joint in mechanism.joints:
        kind = pin.JointModelPrismaticUnaligned if joint.kind == "slide" else pin.JointModelRevoluteUnaligned
        at = pin.SE3(np.eye(3), np.array(joint.origin) - origins[joint.parent])
        parent, before = (joints[joint.parent], pin.SE3.Identity()) if joint.parent else (root, pose)
        origins[joint.name] = np.array(joint.origin)
        joints[joint.name] = model.addJoint(parent, kind(np.array(joint.axis)), before * at, joint.name)
    for part in mechanism.parts:
        inertia = compute_inertia(part.shapes, part.mass)
        at = pin.SE3(np.eye(3), -origins[part.joint])
        if part.joint:
            model.appendBodyToJoint(joints[part.joint], inertia, at)
        else:
            model.appendBodyToJoint(root, inertia, pose * at)
    return model


class EnergyMeter:
    """Sums up the works of a run and writes them into the samples of its recorder.

    `body`, `fixtures`: robot and equipment at the start of the run; `recorder`: gets the energies.
    """

    def __init__(self, body: RobotBody, fixtures: Sequence[Fixture], recorder: Recorder) -> None:
        self._body, self._fixtures, self._world = body, fixtures, body.world
        model = body.robot.model
        self._robot = _Moved(model)
        self._equipment = [_Moved(mechanism_model(fixture.mechanism)) for fixture in fixtures]
        self._rotors: pin.Model | None = None
        if not body.has_armature:
            # What the control takes from the engine's inertia: rotors of links, less all armatures.
            self._rotors = model.copy()
            self._rotors.armature = -model.armature
            for joint in range(model.njoints):
                tensor = body.rotors.get(joint, np.zeros((3, 3)))
                self._rotors.inertias[joint] = pin.Inertia(0.0, np.zeros(3), tensor)
        self._bodies: dict[tuple[BodyHandle, LinkHandle], tuple[array[float], int]] = {}
        for name, link in body.links.items():
            if model.existFrame(name):
                on = frame_on_body(model, model.getFrameId(name))[0]
                self._bodies[body.handle, link] = self._robot.forces, on
        for fixture, moved in zip(fixtures, self._equipment, strict=True):
            for part in fixture.mechanism.parts:
                on = next((column + 1 for column in fixture.mechanism.chain(part.name)[::-1]), 0)
                self._bodies[fixture.handle, fixture.links[part.name]] = moved.forces, on
        # Torques of motors, of friction and on the joints; and what cancels rotors that are inertia of links.
        self._torque = np.zeros((_KEPT, 3, len(body.robot.joint_names)))
        self._cancelling = np.zeros((_KEPT, model.nv))
        self._state = empty_state(body.robot, _KEPT)
        self._root = np.zeros((_KEPT, 15))
        self._efforts: list[list[tuple[float, ...]]] = [[] for _ in fixtures]
        self._solved: list[tuple[float, float]] = []
        self._samples: list[tuple[int, int]] = []
        self._count, self._total, self._start = 0, np.zeros(8), np.zeros(3)
        self._values = [recorder[signal.name] for signal in ENERGY_SIGNALS]

    def note(
        self,
        state: RobotState,
        command: Command,
        grips: Sequence[Grip | EmptyHand],
        push: Array,
        efforts: Mapping[int, Sequence[float]],
        sample: int,
    ) -> None:
        """Note the state before a step and what acts in it; and the contacts of the step before.

        `grips`: hands, with the forces that they apply; `push` (6,): force (N) and moment about the world's
        origin (N·m) on the root; `efforts`: what was applied to the joints of a fixture, by its index, beside
        friction and damping, N or N·m; `sample`: row of the recorder for this state, or -1.
        """
        row, bodies = self._count, self._bodies
        self._state.q[row], self._state.v[row], self._root[row] = state.q, state.v, state.root
        torque = self._torque[row]
        torque[0], torque[1], torque[2] = command.motor, command.friction, command.joint
        if command.cancelling is not None:
            self._cancelling[row] = command.cancelling
        contacts, solved = self._world.solved_forces()
        self._solved.append(solved)
        last = row - 1
        if row:
            for first, link, point, second, other, at, (x, y, z) in contacts:
                if (found := bodies.get((first, link))) is not None:
                    found[0].extend((last, _CONTACT, found[1], *point, x, y, z, *_NO_TORQUE))
                if (found := bodies.get((second, other))) is not None:
                    found[0].extend((last, _CONTACT, found[1], *at, -x, -y, -z, *_NO_TORQUE))
        for column, fixture in enumerate(self._fixtures):
            moved, (position, velocity, solved_efforts, root) = self._equipment[column], fixture.read_motion()
            moved.place[row, 7:], moved.twist[row, 6:] = position, velocity
            if root is not None:
                moved.place[row, :7], moved.twist[row, :6] = root
            self._efforts[column].append((*solved_efforts, *efforts.get(column, (0.0,) * len(position))))
        for grip in grips:
            if grip.engaged and isinstance(grip, Grip):
                forces, on = bodies[self._body.handle, grip.palm_link]
                forces.extend((row, _GRIP, on, *grip.point, *grip.wrench))
                forces, on = bodies[grip.fixture.handle, grip.handle_link]
                forces.extend((row, _GRIP, on, *grip.point, *(-each for each in grip.wrench)))
        if push.any():
            self._robot.forces.extend((row, _PUSH, 0, *_NO_TORQUE, *push))
        if sample >= 0:
            self._samples.append((row, sample))
        self._count += 1
        if self._count == _KEPT:
            self.flush()

    def flush(self) -> None:
        """Sum up the steps whose ends are known, and write what was sampled."""
        steps = self._count - 1
        if steps < 0:
            return
        works, robot, root = np.zeros((steps, 8)), self._robot, self._body.robot.root_v
        q, v, pose = self._state.q[: steps + 1], self._state.v[: steps + 1], self._root[: steps + 1]
        robot.place[: steps + 1, -q.shape[1] :] = q
        robot.twist[: steps + 1, 6:] = v[:, root:]
        mean = 0.5 * (robot.twist[:steps] + robot.twist[1 : steps + 1])
        if root:
            # Of the root's origin, by the point whose velocity the engine integrates.
            turn, spin = pose[:, :9].reshape(-1, 3, 3), pose[:, 12:]
            lever = turn @ np.array(self._body.root_motion.point)
            robot.twist[: steps + 1, :3], robot.twist[: steps + 1, 3:6] = (
                pose[:, 9:12] - np.cross(spin, lever),
                spin,
            )
            between = 0.5 * (pose[:-1, 9:] + pose[1:, 9:])
            mean[:, :3] = between[:, :3] - np.cross(between[:, 3:], lever[:-1])
            mean[:, 3:6] = between[:, 3:]
            torque = np.einsum("kij,kj->ki", turn[:-1], self._cancelling[:steps, 3:6])
            works[:, _ROTOR] = np.einsum("ki,ki->k", torque, mean[:, 3:6])
        speed = mean[:, 6:]
        powers = self._torque[:steps] * speed[:, None]
        works[:, [_MOTOR, _FRICTION]] = powers[:, :2].sum(axis=2)
        works[:, _ABSOLUTE] = np.abs(powers[:, 0]).sum(axis=1)
        works[:, _ROTOR] += (powers[:, 2] - powers[:, 0] - powers[:, 1]).sum(axis=1)
        works[:, _ROTOR] += (self._cancelling[:steps, root:] * speed).sum(axis=1)
        robot.sum_forces(mean, works)
        for fixture, moved, noted in zip(self._fixtures, self._equipment, self._efforts, strict=True):
            mean = 0.5 * (moved.twist[:steps] + moved.twist[1 : steps + 1])
            moved.sum_forces(mean, works)
            solved, applied = np.hsplit(np.array(noted), 2)
            efforts = solved[1:] + applied[:-1] - fixture.explicit_damping * moved.twist[:steps, 6:]
            works[:, _EQUIPMENT] += (efforts * mean[:, 6:]).sum(axis=1)
            noted[:-1] = []
        works *= self._world.timestep
        works[:, [_CONTACT, _EQUIPMENT]] += np.diff(self._solved, axis=0)
        totals = self._total + np.vstack([np.zeros(8), np.cumsum(works, axis=0)])
        for row, sample in self._samples:
            energies = np.sum([moved.energies(row) for moved in (robot, *self._equipment)], axis=0)
            rotors = 0.0
            if self._rotors is not None:
                rotors = -pin.computeKineticEnergy(self._rotors, robot.data, q[row], v[row])
            if sample == 0:
                self._start = np.array([*energies, rotors])
            kinetic, potential = energies[0], energies[1] - self._start[1]
            done = totals[row].copy()
            done[_ROTOR] += rotors - self._start[2]
            residual = kinetic - self._start[0] + potential - done.sum() + done[_ABSOLUTE]
            for values, value in zip(self._values, (*done, kinetic, potential, residual), strict=True):
                values[sample] = value
        # The last state is the first of the next steps.
        self._total, self._count = totals[-1], 1
        self._samples.clear()
        self._solved[:-1] = []
        for rows in (self._state.q, self._state.v, self._root, self._torque, self._cancelling):
            rows[0] = rows[steps]
        for moved in self._equipment:
            moved.place[0], moved.twist[0] = moved.place[steps], moved.twist[steps]
