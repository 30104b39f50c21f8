"""One call's motion of the reference, by Pinocchio's velocities of COG, body, soles and arms."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.embedded_motion import TickInputs, solve_reference_motion
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.balance.sections import LEGS, Role, assign, limb_sections
from simbench.robot.robot import load_robot

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
RATE, NOW, THEN = 500.0, 1, 2
COG_GAIN, ZMP_GAIN = 6.0, 2.0


class Tick:
    """A random tick of a robot with bent or straight knees, standing on one of its feet."""

    def __init__(self, name, support, bend=0.4):
        robot = load_robot(name)
        self.rng = rng = np.random.default_rng(3)
        self.model, self.data = robot.model, robot.model.createData()
        joints = rng.uniform(-0.1, 0.1, len(robot.joint_names)) * (bend > 0.0)
        for side in "LR":
            for joint, angle in (("HipPitch", -bend), ("KneePitch", 2.0 * bend), ("AnklePitch", -bend)):
                joints[robot.joint_names.index(side + joint)] += angle
        root = pin.SE3(pin.exp3(rng.uniform(-0.1, 0.1, 3)), rng.uniform(-1.0, 1.0, 3))
        self.q = np.concatenate([pin.SE3ToXYZQUAT(root), joints])
        pin.jacobianCenterOfMass(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)
        sections = limb_sections(robot)
        roles = {LEGS[support]: Role.BASE, LEGS[1 - support]: Role.C_BUSY}
        _, self.columns = assign(self.model, sections, roles, (LEGS[support],))
        self.frames = [section.frame for section in sections[:2]]
        self.soles = [self.data.oMf[frame] for frame in self.frames]
        self.position = np.array([sole.translation for sole in self.soles]) + rng.normal(0.0, 1e-3, (2, 3))
        self.previous_position = self.position - rng.normal(0.0, 1e-3, (2, 3))
        self.yaw = np.array([pin.rpy.matrixToRpy(sole.rotation)[2] for sole in self.soles])
        self.body = np.array([0.0, 0.0, 0.0, 1.0])
        self.joints = joints + rng.normal(0.0, 1e-3, (3, len(joints)))
        self.height = self.data.com[0][2] + np.array([0.0, 0.001, 0.003])
        self.courses = rng.normal(0.0, 0.02, (5, 3, 2))
        self.planned, self.commanded = np.full((2, self.model.nv), np.nan)

    def move(self, feedback_rate):
        left, right = self.soles
        inputs = TickInputs(
            *(self.data.J, self.data.Jcom, self.data.com[0], self.data.oMi[1].rotation),
            *(left.rotation, left.translation, right.rotation, right.translation),
            *(self.previous_position, self.position, self.yaw),
            *(RATE, self.joints, True, self.height, *self.courses),
            CogZmpGains(cog=COG_GAIN, zmp=ZMP_GAIN),
            self.columns,
        )
        return solve_reference_motion(
            *(NOW, THEN, feedback_rate, self.q, self.body), *(inputs, self.planned, self.commanded)
        )


@pytest.mark.parametrize("feedback_rate", [RATE, 10.0])
@pytest.mark.parametrize(("name", "support"), [("mahru", 0), ("romeo", 1)])
def test_soles_body_arms_and_cog_move_to_their_aims(name, support, feedback_rate):
    tick = Tick(name, support)
    model, data = tick.model, tick.data
    assert tick.move(feedback_rate)
    cog, velocity, zmp, measured_cog, measured_zmp = tick.courses[:, NOW]
    control = -ZMP_GAIN * (zmp - measured_zmp) + COG_GAIN * (cog - measured_cog)
    rise = (tick.height[THEN] - tick.height[NOW]) * RATE + feedback_rate * (tick.height[NOW] - data.com[0][2])
    given = tick.columns.given
    for vector, horizontal in ((tick.planned, velocity), (tick.commanded, velocity + control)):
        np.testing.assert_allclose(data.Jcom @ vector, [*horizontal, rise], atol=1e-9)
        np.testing.assert_allclose(vector[given], RATE * (tick.joints[THEN] - tick.q[7:])[given - 6])
        pin.forwardKinematics(model, data, tick.q, vector)
        turn = -feedback_rate * pin.log3(data.oMi[1].rotation)
        np.testing.assert_allclose(pin.getVelocity(model, data, 1, WORLD).angular, turn, atol=1e-9)
        for foot, frame in enumerate(tick.frames):
            sole, moving = tick.soles[foot], pin.getFrameVelocity(model, data, frame, WORLD)
            error = tick.previous_position[foot] - sole.translation
            velocity = RATE * (tick.position - tick.previous_position)[foot] + feedback_rate * error
            np.testing.assert_allclose(moving.linear, velocity, atol=1e-9)
            turn = feedback_rate * pin.log3(pin.utils.rotate("z", tick.yaw[foot]) @ sole.rotation.T)
            np.testing.assert_allclose(moving.angular, turn, atol=1e-9)


def test_straight_legs_do_not_move_and_nothing_is_written():
    tick = Tick("mahru", 0, bend=0.0)
    assert not tick.move(RATE)
    assert np.isnan([tick.planned, tick.commanded]).all()
