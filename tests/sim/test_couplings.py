"""Joints that another joint's motor moves, against the equation of motion of the one degree of freedom."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from simbench.errors import RobotError
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import close_hands, grip_range
from simbench.sim.control.joint_controller import JointController
from simbench.sim.engine import GRAVITY, is_installed, open_engine
from simbench.sim.state import empty_state

DT, TIME = 2.5e-4, 0.6
MASSES, LEVERS, INERTIAS = (1.2, 0.7), (0.15, 0.2), (0.004, 0.003)
ROTOR, STIFFNESS, DAMPING = 0.05, 14.0, 0.8
MULTIPLIER, OFFSET = -1.5, 0.2

JOINT = """<joint name="{name}" type="revolute"><parent link="base"/><child link="{name}_rod"/>
  <origin xyz="0 {y} 1"/><axis xyz="0 1 0"/><limit lower="{lower}" upper="{upper}" effort="50" velocity="40"/>
  {mimic}</joint>
<link name="{name}_rod"><inertial><origin xyz="0 0 -{lever}"/><mass value="{mass}"/>
  <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""

YAML = """name: pendulums
urdf: pendulums.urdf
base: fixed
groups: {groups}
frames: {{right_hand: base}}
coupled_joints: {coupled}
hands: {hands}
gains: {{motor: [{stiffness}, {damping}], rod: [0, 0]}}
motors: {{motor: {{reflected_inertia: {rotor}}}, rod: {{reflected_inertia: 0}}}}
postures: {{rest: {rest}}}
self_collision: []
"""
COUPLED = f"{{rod: {{joint: motor, multiplier: {MULTIPLIER}, offset: {OFFSET}}}}}"
HANDS = "{right_hand: {palm: base, fingers: [motor_rod, rod_rod], joints: [motor, rod]}}"


@pytest.fixture
def pendulums(tmp_path: Path):
    """Write two pendulums on one axis and load them; keywords fill in the description."""

    def write(limits=((-3, 3), (-2, 2)), **changes):
        rows = zip(("motor", "rod"), (-0.3, 0.3), MASSES, LEVERS, INERTIAS, limits, strict=True)
        joints = [
            JOINT.format(
                name=name, y=y, lever=lever, mass=mass, inertia=inertia, lower=low, upper=high, mimic=""
            )
            for name, y, mass, lever, inertia, (low, high) in rows
        ]
        text = f'<robot name="pendulums"><link name="base"/>{"".join(joints)}</robot>'
        (tmp_path / "pendulums.urdf").write_text(text)
        given = {
            "groups": "{right_arm: [motor]}",
            "coupled": COUPLED,
            "hands": "{}",
            "rest": "{motor: 0.4}",
            "stiffness": STIFFNESS,
            "damping": DAMPING,
            "rotor": ROTOR,
        }
        (tmp_path / "robot.yaml").write_text(YAML.format(**{**given, **changes}))
        return load_robot(tmp_path)

    return write


def one_motor(start: float, target: float) -> np.ndarray:
    """Angles of the motor's joint by the equation of motion, at every step."""
    (m1, m2), (l1, l2) = MASSES, LEVERS
    own, other = (INERTIAS[k] + MASSES[k] * LEVERS[k] ** 2 for k in (0, 1))

    def motion(_, state):
        angle, speed = state
        weight = m1 * l1 * np.sin(angle) + MULTIPLIER * m2 * l2 * np.sin(MULTIPLIER * angle + OFFSET)
        torque = STIFFNESS * (target - angle) - DAMPING * speed - GRAVITY * weight
        return speed, torque / (own + ROTOR + MULTIPLIER**2 * other)

    times = DT * np.arange(1, round(TIME / DT) + 1)
    found = solve_ivp(motion, (0.0, TIME), (start, 0.0), t_eval=times, rtol=1e-10, atol=1e-12)
    return found.y[0]


@pytest.mark.parametrize("engine", ["bullet", "mujoco"])
def test_one_motor_moves_both(pendulums, engine):
    if not is_installed(engine):
        pytest.skip(f"{engine} is not installed")
    robot, start, target = pendulums(), 0.4, -0.3
    angles = []
    with open_engine(engine).open_world(DT) as world:
        base = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        body = world.add_robot(robot, base, robot.postures["rest"])
        controller, state = JointController(body), empty_state(robot)
        goal = np.array([target, MULTIPLIER * target + OFFSET])
        for _ in range(round(TIME / DT)):
            body.read_state(state)
            command = controller.step(state, controller.demand(goal, np.zeros(2), np.zeros(2)))
            assert command.motor[1] == 0.0
            world.step()
            body.read_state(state)
            angles.append(state.q.copy())
    angles = np.array(angles)
    np.testing.assert_allclose(angles[:, 1], MULTIPLIER * angles[:, 0] + OFFSET, atol=1e-3)
    expected = one_motor(start, target)
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(angles[:, 0], expected, atol=4e-3)


def test_a_motor_keeps_what_it_moves_within_its_limits(pendulums):
    robot = pendulums(limits=((-3, 3), (-1.3, 0.8)))
    assert robot.postures["rest"].tolist() == pytest.approx([0.4, MULTIPLIER * 0.4 + OFFSET])
    assert robot.model.lowerPositionLimit[0] == pytest.approx((0.8 - OFFSET) / MULTIPLIER)
    assert robot.model.upperPositionLimit[0] == pytest.approx((-1.3 - OFFSET) / MULTIPLIER)
    assert robot.model.velocityLimit[0] == pytest.approx(40 / 1.5)


def test_fingers_close_together(pendulums):
    robot = pendulums(groups="{right_grip: [motor, rod]}", hands=HANDS)
    opened, closed = grip_range(robot, "motor")
    assert grip_range(robot, "rod") == pytest.approx(
        (MULTIPLIER * opened + OFFSET, MULTIPLIER * closed + OFFSET)
    )
    hand = close_hands(robot, np.zeros(2), ["right"])
    assert hand[1] == pytest.approx(MULTIPLIER * hand[0] + OFFSET)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rest": "{motor: 0.1, rod: 0.1}"}, "postures.rest.rod: moves with motor"),
        ({"groups": "{right_arm: [motor, rod]}"}, "groups.right_arm: rod moves with motor"),
        ({"coupled": "{rod: {joint: elbow}}"}, "coupled_joints.rod: unknown joint `elbow`"),
        ({"coupled": "{rod: {joint: rod}}"}, "coupled_joints.rod: allowed: a joint that has a motor"),
        ({"coupled": "{rod: {joint: motor, multiplier: 0}}"}, "a multiplier other than 0"),
        ({"coupled": "{rod: {joint: motor, offset: 9}}"}, "no position of motor is within the limits"),
    ],
)
def test_what_cannot_be_coupled_is_refused(pendulums, changes, message):
    with pytest.raises(RobotError, match=r"robot\.yaml") as error:
        pendulums(**changes)
    assert message in str(error.value)
