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

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled_entry
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.tree import KinematicTree, frame_on_body, joint_axes, kinematic_tree, place_bodies
from simbench.sim.control.command import Command
from simbench.sim.control.joint_controller import rotor_model
from simbench.sim.engine import Fixture, RobotBody
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.fixtures.shapes import compute_inertia
from simbench.sim.grasp import EmptyHand, Grip
from simbench.sim.state import RobotState, Signal

_ABOUT = {
    "motor": "Work of the motors on the joints since the start.",
    "motor_absolute": "Amounts of the motors' works, of each joint and step, summed up since the start.",
    "friction": "Work of the friction in the robot's joints since the start.",
    "equipment": "Work of friction, damping, springs and latches of equipment since the start.",
    "contact": "Work of all contact forces since the start; in MuJoCo with that of end stops.",
    "grip": "Work of the grips on palms and handles since the start.",
    "push": "Work of the pushes on the robot since the start.",
    "rotor": "Work of what emulates rotors since the start, beyond what the rotors took up.",
    "kinetic": "Kinetic energy of the robot, with its rotors, and of equipment.",
    "potential": "Energy in gravity of the robot and of equipment, from that at the start.",
    "residual": "Energy beyond that at the start and all works since: the error of the balance.",
}
# What is logged of the energy: `EnergyMeter` writes it.
ENERGY_SIGNALS: tuple[Signal[None], ...] = tuple(
    Signal(f"energy_{name}", (), "J", description) for name, description in _ABOUT.items()
)
Hands = Sequence[Grip | EmptyHand]
Efforts = Mapping[int, Sequence[float]]
# Columns of the works, the first of these names.
_MOTOR, _ABSOLUTE, _FRICTION, _EQUIPMENT, _CONTACT, _GRIP, _PUSH, _ROTOR = range(8)
_KEPT = 512  # States of which the works are computed at once.
_NOTHING = (0.0, 0.0, 0.0)


class _Moved:
    """States of a robot or of equipment and the forces on its bodies; `model` is in the world's frame."""

    def __init__(self, model: pin.Model, bodies: Mapping[int, int]) -> None:
        self.model, self.data, self.tree = model, model.createData(), kinematic_tree(model)
        self.bodies = bodies  # Body of the tree that each link belongs to.
        joints = len(self.tree.parent)
        # Position of the root (m), its quaternion x, y, z, w, and joint positions.
        self.place = np.tile([0.0] * 6 + [1.0] + [0.0] * joints, (_KEPT, 1))
        # Velocities in world axes: of the root's origin (m/s), angular (rad/s), and of the joints.
        self.twist = np.zeros((_KEPT, 6 + joints))
        # What equipment's joints felt in the step before a state, and what is applied in the one after it.
        self.efforts = np.zeros((_KEPT, 2, joints))
        # Of each force: row of the step, column of its work, body, point (m), force (N), torque (N·m), world.
        self.forces = array("d")

    def energies(self, row: int) -> tuple[float, float]:
        """Compute kinetic and potential energy in a state, J."""
        place, twist = self.place[row], self.twist[row]
        q, v = place[len(place) - self.model.nq :], twist[len(twist) - self.model.nv :].copy()
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
            self.forces = array("d", later.ravel())


@compiled_entry("tree.parent (n), place (S, 7 + n), mean (K, 6 + n), forces (F, 12), works (K, 8)")
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
    model, root, pose = pin.Model(), 0, mechanism.pose
    if mechanism.standing:
        pose = pin.SE3.Identity()
        root = model.addJoint(0, pin.JointModelFreeFlyer(), pose, "root")
    # Of what a joint carries: Pinocchio's joint, its frame's pose on that, and its origin in the mechanism.
    carriers: dict[str | None, tuple[int, pin.SE3, Array]] = {None: (root, pose, np.zeros(3))}
    for joint in mechanism.joints:
        kind = pin.JointModelPrismaticUnaligned if joint.kind == "slide" else pin.JointModelRevoluteUnaligned
        (on, before, lever), origin = carriers[joint.parent], np.array(joint.origin)
        at = before * pin.SE3(np.eye(3), origin - lever)
        moved = model.addJoint(on, kind(np.array(joint.axis)), at, joint.name)
        carriers[joint.name] = moved, pin.SE3.Identity(), origin
    for part in mechanism.parts:
        on, before, lever = carriers[part.joint]
        inertia = compute_inertia(part.shapes, part.mass)
        model.appendBodyToJoint(on, inertia, before * pin.SE3(np.eye(3), -lever))
    return model


class EnergyMeter:
    """Sums up the works of a run and writes them into its samples.

    `body`, `fixtures`, `grips`: robot, equipment and hands at the start of the run; `values`: the samples of
    each of `ENERGY_SIGNALS`.
    """

    def __init__(
        self, body: RobotBody, fixtures: Sequence[Fixture], grips: Hands, values: Sequence[Array]
    ) -> None:
        self._body, self._fixtures, model = body, fixtures, body.robot.model
        self._grips = [grip for grip in grips if isinstance(grip, Grip)]
        frames = {link: model.getFrameId(name) for name, link in body.links.items() if model.existFrame(name)}
        links = {int(link): frame_on_body(model, frame)[0] for link, frame in frames.items()}
        self._robot = _Moved(model, links)
        self._moved = {body.handle: self._robot}
        for fixture in fixtures:
            chains = {part.name: fixture.mechanism.chain(part.name) for part in fixture.mechanism.parts}
            links = {
                int(fixture.links[name]): chain[-1] + 1 if chain else 0 for name, chain in chains.items()
            }
            self._moved[fixture.handle] = _Moved(mechanism_model(fixture.mechanism), links)
        # What the control takes from the engine's inertia: rotors of links, less all armatures.
        self._rotors = rotor_model(body)
        self._rotor_data = self._rotors.createData()
        self._rotors.armature = np.zeros(model.nv) if body.has_armature else -model.armature
        # Of each state: q, v, `RobotState.root`; of the step after it: torques of motors, of friction, on the
        # joints, and what cancels the rotors of links.
        joints, self._nothing = len(body.robot.joint_names), np.zeros(model.nv)
        self._cuts = np.cumsum([model.nq, model.nv, 15, joints, joints, joints])
        self._noted = np.zeros((_KEPT, self._cuts[-1] + model.nv))
        self._solved, self._start = np.zeros((_KEPT, 2)), np.zeros(3)
        self._count, self._total = 0, np.zeros(8)
        self._samples: list[tuple[int, int]] = []
        self._values = values

    def note(self, state: RobotState, command: Command, push: Array, efforts: Efforts, sample: int) -> None:
        """Note the state before a step and what acts in it; and the contacts of the step before.

        `push` (6,): force (N) and moment about the world's origin (N·m) on the root; `efforts`: what was
        applied to the joints of a fixture, by its index, beside friction and damping, N or N·m; `sample`: row
        of the recorder for this state, or -1.
        """
        row, torques = self._count, (command.motor, command.friction, command.joint)
        cancelling = self._nothing if command.cancelling is None else command.cancelling
        self._noted[row] = np.concatenate((state.q, state.v, state.root, *torques, cancelling))
        contacts, self._solved[row] = self._body.world.solved_forces()
        for handle, moved in self._moved.items():
            if not row or contacts is None:
                break
            bodies, add = moved.bodies, moved.forces.extend
            for link, other, other_link, point, _, normal, (x, y, z) in contacts.on(handle):
                if normal:
                    add((row - 1, _CONTACT, bodies[link], *point, x, y, z, *_NOTHING))
                    if other == handle:
                        add((row - 1, _CONTACT, bodies[other_link], *point, -x, -y, -z, *_NOTHING))
        for index, fixture in enumerate(self._fixtures):
            moved = self._moved[fixture.handle]
            moved.place[row, 7:], moved.twist[row, 6:], moved.efforts[row, 0] = fixture.read_motion()
            moved.efforts[row, 1] = efforts.get(index, 0.0)
            if fixture.mechanism.standing:
                root = fixture.links[fixture.mechanism.parts[0].name]
                com, origin, turn, linear, spin = fixture.link_motions([root])[0]
                moved.place[row, :7] = *origin, *turn
                moved.twist[row, :6] = *(linear + np.cross(spin, np.subtract(origin, com))), *spin
        for grip in self._grips:
            if grip.engaged:
                palm, held = self._robot, self._moved[grip.fixture.handle]
                palm.forces.extend((row, _GRIP, palm.bodies[grip.palm_link], *grip.point, *grip.wrench))
                wrench = [-each for each in grip.wrench]
                held.forces.extend((row, _GRIP, held.bodies[grip.handle_link], *grip.point, *wrench))
        if push.any():
            self._robot.forces.extend((row, _PUSH, 0, *_NOTHING, *push))
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
        q, v, pose, *torques, cancelling = np.split(self._noted[: steps + 1], self._cuts, axis=1)
        robot.place[: steps + 1, robot.place.shape[1] - q.shape[1] :] = q
        robot.twist[: steps + 1, 6:] = v[:, root:]
        # Of the root's origin, by the point whose velocity the engine integrates.
        turn = pose[:, :9].reshape(-1, 3, 3)
        lever = turn @ self._body.root_motion.point
        robot.twist[: steps + 1, :6] = pose[:, 9:]
        robot.twist[: steps + 1, :3] -= np.cross(pose[:, 12:], lever)
        mean = 0.5 * (robot.twist[:steps] + robot.twist[1 : steps + 1])
        if root:
            point = 0.5 * (pose[:-1, 9:12] + pose[1:, 9:12])
            mean[:, :3] = point - np.cross(mean[:, 3:6], lever[:-1])
            torque = np.einsum("kij,kj->ki", turn, cancelling[:, 3:6])[:-1]
            works[:, _ROTOR] = (torque * mean[:, 3:6]).sum(axis=1)
        motor, friction, joint = (each[:-1] * mean[:, 6:] for each in torques)
        works[:, _MOTOR], works[:, _ABSOLUTE] = motor.sum(axis=1), np.abs(motor).sum(axis=1)
        works[:, _FRICTION] = friction.sum(axis=1)
        works[:, _ROTOR] += (joint - motor - friction + cancelling[:-1, root:] * mean[:, 6:]).sum(axis=1)
        robot.sum_forces(mean, works)
        for fixture in self._fixtures:
            moved = self._moved[fixture.handle]
            mean = 0.5 * (moved.twist[:steps] + moved.twist[1 : steps + 1])
            moved.sum_forces(mean, works)
            efforts = moved.efforts[1 : steps + 1, 0] + moved.efforts[:steps, 1]
            efforts -= fixture.explicit_damping * moved.twist[:steps, 6:]
            works[:, _EQUIPMENT] += (efforts * mean[:, 6:]).sum(axis=1)
        works *= self._body.world.timestep
        works[:, [_CONTACT, _EQUIPMENT]] += np.diff(self._solved[: steps + 1], axis=0)
        # One after another, so that it does not matter when the sums are asked for.
        totals = np.cumsum(np.vstack([self._total, works]), axis=0)
        if self._samples:
            at, samples = [row for row, _ in self._samples], [sample for _, sample in self._samples]
            taken = [pin.computeKineticEnergy(self._rotors, self._rotor_data, q[row], v[row]) for row in at]
            energies = np.array([[each.energies(row) for row in at] for each in self._moved.values()])
            kinetic, potential = energies.sum(axis=0).T
            if samples[0] == 0:
                self._start = np.array([kinetic[0], potential[0], taken[0]])
            potential = potential - self._start[1]
            done = totals[at]
            done[:, _ROTOR] -= np.array(taken) - self._start[2]
            residual = kinetic - self._start[0] + potential - done.sum(axis=1) + done[:, _ABSOLUTE]
            for values, column in zip(self._values, (*done.T, kinetic, potential, residual), strict=True):
                values[samples] = column
        # The last state is the first of the next steps.
        self._total, self._count = totals[-1], 1
        self._samples.clear()
        for rows in (self._noted, self._solved):
            rows[0] = rows[steps]
        for moved in self._moved.values():
            for rows in (moved.place, moved.twist, moved.efforts):
                rows[0] = rows[steps]
