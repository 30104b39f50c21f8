"""The motion-embedded COG Jacobian against the real constrained motion of the robots, by Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.balance.embedded_motion import compute_embedded_motion, singular_section
from simbench.balance.sections import Role, assign, limb_sections
from simbench.robot.robot import load_robot

LEGS = ("left_leg", "right_leg")
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
IDLE_OR_GIVEN = (Role.J_BUSY, Role.HELD, Role.USED)
STEPPING = {"left_leg": Role.BASE, "right_leg": Role.C_BUSY}
names = st.sampled_from(["mahru", "romeo"])
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def robots():
    return {name: load_robot(name) for name in ("mahru", "romeo")}


def random_configuration(robot, rng):
    """Place the root anywhere, the joints inside their limits, the knees bent."""
    low, high = (
        limit[7:].copy() for limit in (robot.model.lowerPositionLimit, robot.model.upperPositionLimit)
    )
    for knee in ("LKneePitch", "RKneePitch"):
        low[robot.joint_names.index(knee)] = 0.3
    root = pin.SE3(pin.exp3(rng.uniform(-1.5, 1.5, 3)), rng.uniform(-2.0, 2.0, 3))
    return np.concatenate([pin.SE3ToXYZQUAT(root), rng.uniform(low, high)])


def random_roles(rng):
    """Either leg the base, everything else anything that it can be, the other leg C-busy most of the time."""
    base, other = rng.permutation(LEGS)
    roles = {name: rng.choice([*IDLE_OR_GIVEN, Role.C_BUSY]) for name in ("left_arm", "right_arm")}
    roles |= {name: rng.choice(IDLE_OR_GIVEN) for name in ("trunk", "head", "left_grip", "right_grip")}
    return roles | {base: Role.BASE, other: rng.choice([Role.C_BUSY] * 3 + list(IDLE_OR_GIVEN))}


def embed(model, data, assignment, joint_velocity, end_velocity):
    """Embed known motions at the configuration of `data`."""
    frames, columns = assignment
    points = np.array([pin.updateFramePlacement(model, data, frame).translation for frame in frames])
    return compute_embedded_motion(data.J, data.Jcom, points, columns, joint_velocity, end_velocity)


def respond(embedding, cog_velocity, body_velocity):
    """Velocity that a motion of COG and body adds, given ends and J-busy joints at rest."""
    _, _, response, _ = embedding
    return response @ np.concatenate((cog_velocity, body_velocity))


def solve(embedding, cog_velocity, body_velocity):
    """Velocity with a given motion of COG and body, the known motions included."""
    _, _, _, carried = embedding
    return carried + respond(embedding, cog_velocity, body_velocity)


class Task:
    """A random task for a robot: sections with roles, known motions, a configuration that is not singular."""

    def __init__(self, robot, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.model, self.data = robot.model, robot.model.createData()
        self.sections = limb_sections(robot)
        self.draws = 0
        while True:
            self.draws += 1
            self.roles = random_roles(rng)
            self.q = random_configuration(robot, rng)
            self.joint_velocity = rng.uniform(-1.0, 1.0, self.model.nv)
            self.end_velocity = rng.uniform(-0.5, 0.5, (len(self.sections), 6))
            if self.regular():
                break
        self.assignment = assign(self.model, self.sections, self.roles, LEGS)

    def of(self, *roles):
        return [k for k, section in enumerate(self.sections) if self.roles[section.name] in roles]

    def columns(self, *roles):
        return [column for k in self.of(*roles) for column in self.sections[k].columns]

    def own_jacobian(self, section, reference=WORLD):
        rows = pin.getFrameJacobian(self.model, self.data, section.frame, reference)
        return rows[:, list(section.columns)]

    def regular(self):
        """Whether neither C-busy ends nor COG and body take much joint speed: differences are exact then."""
        pin.jacobianCenterOfMass(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)
        limbs = [self.sections[k] for k in self.of(Role.C_BUSY)]
        unknown = [*range(6), *self.columns(Role.BASE, Role.USED, Role.C_BUSY)]
        matrices = [*(self.own_jacobian(limb) for limb in limbs), self.constraints()[:, unknown]]
        speeds = [np.linalg.norm(np.linalg.pinv(matrix), 2) for matrix in matrices]
        return max(speeds[:-1], default=0.0) < 30.0 and speeds[-1] < 100.0

    def constraints(self):
        """Jacobian of COG, body's orientation, and the ends of base and C-busy sections, by Pinocchio."""
        frames = [self.sections[k].frame for k in self.of(Role.BASE, Role.C_BUSY)]
        ends = [pin.getFrameJacobian(self.model, self.data, frame, WORLD) for frame in frames]
        return np.vstack([self.data.Jcom, pin.getJointJacobian(self.model, self.data, 1, WORLD)[3:], *ends])

    def embed(self):
        pin.jacobianCenterOfMass(self.model, self.data, self.q)
        return embed(self.model, self.data, self.assignment, self.joint_velocity, self.end_velocity)

    def configuration(self, time, targets, rates):
        """Move the joints at given rates and bring base and C-busy ends exactly to where they are by then."""
        model, data, q = self.model, self.data, self.q.copy()
        q[7:] += time * rates[6:]
        goals = {
            k: pin.SE3(pin.exp3(time * velocity[3:]) @ pose.rotation, pose.translation + time * velocity[:3])
            for k, (pose, velocity) in targets.items()
        }
        (base,) = self.of(Role.BASE)
        q[:7] = pin.neutral(model)[:7]
        for _ in range(5):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            root = goals[base] * data.oMf[self.sections[base].frame].inverse()
            for k in self.of(Role.C_BUSY):
                limb = self.sections[k]
                error = pin.log6((root * data.oMf[limb.frame]).actInv(goals[k])).vector
                own = self.own_jacobian(limb, pin.ReferenceFrame.LOCAL)
                q[1 + np.array(limb.columns)] += np.linalg.lstsq(own, error, rcond=None)[0]
        assert not self.of(Role.C_BUSY) or np.abs(error).max() < 1e-13
        q[:7] = pin.SE3ToXYZQUAT(root)
        return q

    def moved(self, free_rates, known):
        """Differentiate COG and body orientation of the constrained motion, by central differences."""
        rates = np.zeros(self.model.nv)
        rates[self.columns(Role.BASE) + self.columns(Role.USED)] = free_rates
        given = self.columns(Role.J_BUSY)
        rates[given] = known * self.joint_velocity[given]
        pin.framesForwardKinematics(self.model, self.data, self.q)
        targets = {
            k: (self.data.oMf[self.sections[k].frame].copy(), known * self.end_velocity[k])
            for k in self.of(Role.BASE, Role.C_BUSY)
        }
        here = pin.SE3(pin.XYZQUATToSE3(self.q[:7])).rotation
        values, step = [], 1.5e-4
        for times in (-2, -1, 1, 2):
            q = self.configuration(times * step, targets, rates)
            turned = pin.log3(pin.XYZQUATToSE3(q[:7]).rotation @ here.T)
            values.append(np.concatenate([pin.centerOfMass(self.model, self.data, q), turned]))
        far_back, back, ahead, far_ahead = values
        return (8.0 * (ahead - back) - (far_ahead - far_back)) / (12.0 * step)


def difference_errors(task):
    """How far J_meG, the body's rows and what is carried are from the constrained motion, m/s or rad/s."""
    embedding = task.embed()
    _, rows, _, _ = embedding
    jacobian, carried = rows[:, :-1], rows[:, -1]
    rates = task.rng.uniform(-1.0, 1.0, jacobian.shape[1])
    return [
        np.abs(jacobian @ rates - task.moved(rates, 0.0)).max(),
        np.abs(carried - task.moved(0.0 * rates, 1.0)).max(),
        np.abs(jacobian @ rates + carried - task.moved(rates, 1.0)).max(),
    ]


def solution_errors(task, velocity, cog, body, known):
    """How far a velocity vector is from what was asked, by Pinocchio's velocities of COG, body and ends."""
    model, data = task.model, task.data
    pin.centerOfMass(model, data, task.q, velocity)
    pin.forwardKinematics(model, data, task.q, velocity)
    errors = [data.vcom[0] - cog, pin.getVelocity(model, data, 1, WORLD).angular - body]
    for k in task.of(Role.BASE, Role.C_BUSY):
        end = pin.getFrameVelocity(model, data, task.sections[k].frame, WORLD).vector
        errors.append(end - known * task.end_velocity[k])
    given = task.columns(Role.J_BUSY)
    errors += [velocity[given] - known * task.joint_velocity[given], velocity[task.columns(Role.HELD)]]
    return np.abs(np.concatenate(errors)).max()


@settings(max_examples=15, deadline=None)
@given(name=names, seed=seeds)
def test_embedding_is_the_constrained_motion(robots, name, seed):
    assert max(difference_errors(Task(robots[name], seed))) < 1e-6


@settings(max_examples=30, deadline=None)
@given(name=names, seed=seeds)
def test_solution_moves_cog_body_and_ends_as_asked(robots, name, seed):
    task = Task(robots[name], seed)
    embedding = task.embed()
    cog, body = task.rng.normal(size=(2, 3))
    assert solution_errors(task, solve(embedding, cog, body), cog, body, 1.0) < 1e-9
    assert solution_errors(task, respond(embedding, cog, body), cog, body, 0.0) < 1e-9


@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_free_joints_move_least(robots, seed):
    # Mahru has six joints in every limb that can be C-busy: the least motion of all joints is one KKT system.
    task = Task(robots["mahru"], seed)
    nv = task.model.nv
    cog, body = task.rng.normal(size=(2, 3))
    velocity = solve(task.embed(), cog, body)
    known = task.columns(Role.J_BUSY, Role.HELD)
    rows = np.vstack([task.constraints(), np.eye(nv)[known]])
    rates = np.where(np.isin(known, task.columns(Role.J_BUSY)), task.joint_velocity[known], 0.0)
    wanted = np.concatenate([cog, body, *task.end_velocity[task.of(Role.BASE, Role.C_BUSY)], rates])
    weight = np.diag(np.r_[np.zeros(6), np.ones(nv - 6)])
    system = np.block([[weight, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    expected = np.linalg.solve(system, np.concatenate([np.zeros(nv), wanted]))[:nv]
    np.testing.assert_allclose(velocity, expected, atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_redundant_arm_has_no_motion_that_its_hand_does_not_need(robots, seed):
    task = Task(robots["romeo"], seed)
    velocity = solve(task.embed(), *task.rng.normal(size=(2, 3)))
    for k in task.of(Role.C_BUSY):
        own = task.own_jacobian(task.sections[k])
        rates = velocity[list(task.sections[k].columns)]
        np.testing.assert_allclose(np.linalg.pinv(own) @ own @ rates, rates, atol=1e-9)


def test_standing_still_is_no_motion(robots):
    robot = robots["romeo"]
    model, data, sections = robot.model, robot.model.createData(), limb_sections(robot)
    q = np.concatenate([pin.neutral(model)[:7], bent(robot)])
    pin.jacobianCenterOfMass(model, data, q)
    still = embed(model, data, assign(model, sections, STEPPING, LEGS), np.zeros(model.nv), np.zeros((8, 6)))
    assert not solve(still, np.zeros(3), np.zeros(3)).any()
    # Moved sideways, the body swings about both ankles: they roll alike, and the hips the other way.
    roll = respond(still, np.array([0.0, 0.1, 0.0]), np.zeros(3))
    joints = dict(zip(robot.joint_names, roll[6:], strict=True))
    assert joints["LHipRoll"] == pytest.approx(joints["RHipRoll"], rel=0.05)
    assert joints["LAnkleRoll"] == pytest.approx(-joints["LHipRoll"], rel=0.05)


def bent(robot):
    """Stand with bent knees."""
    joints = np.zeros(len(robot.joint_names))
    for side in "LR":
        for joint, angle in (("HipPitch", -0.4), ("KneePitch", 0.8), ("AnklePitch", -0.4)):
            joints[robot.joint_names.index(side + joint)] = angle
    return joints


@pytest.mark.parametrize(("straight", "row"), [("right", 1), ("left", 0)])
def test_straight_leg_is_singular(robots, straight, row):
    robot = robots["mahru"]
    model, data, sections = robot.model, robot.model.createData(), limb_sections(robot)
    joints = bent(robot)
    for name in robot.groups[f"{straight}_leg"]:
        joints[robot.joint_names.index(name)] = 0.0
    pin.jacobianCenterOfMass(model, data, np.concatenate([pin.neutral(model)[:7], joints]))
    assignment = assign(model, sections, STEPPING, LEGS)
    joint_speeds, *_ = embed(model, data, assignment, np.zeros(model.nv), np.zeros((8, 6)))
    assert singular_section(joint_speeds) == row
