"""Links whose mass is a point, hardly off the axis of their joint: their motor turns its own rotor."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from simbench.robot.robot import load_robot
from simbench.sim.control.joint_controller import JointController
from simbench.sim.engine import is_installed, open_engine
from simbench.sim.state import empty_state

DT, TIME = 5e-4, 0.5
ROTOR, STIFFNESS, DAMPING, START, TARGET = 0.02, 3.0, 0.1, 0.5, -0.2

JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>
  <origin xyz="0 0 0.1"/><axis xyz="{axis}"/><limit lower="-2" upper="2" effort="50" velocity="40"/></joint>
<link name="{name}_link"><inertial><origin xyz="{off} 0 0"/><mass value="0.4"/>
  <inertia ixx="{tiny}" iyy="0" izz="-{tiny}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


@pytest.fixture
def neck(tmp_path):
    joints = JOINT.format(name="roll", parent="base", axis="1 0 0", tiny=2.4e-35, off=0)
    joints += JOINT.format(name="yaw", parent="roll_link", axis="0 0 1", tiny=0, off=1e-3)
    (tmp_path / "neck.urdf").write_text(f'<robot name="neck"><link name="base"/>{joints}</robot>')
    rows = "{{roll: {0}, yaw: {0}}}"
    (tmp_path / "robot.yaml").write_text(
        f"name: neck\nurdf: neck.urdf\nbase: fixed\ngroups: {{head: [roll, yaw]}}\nself_collision: []\n"
        f"gains: {rows.format(f'[{STIFFNESS}, {DAMPING}]')}\n"
        f"motors: {rows.format(f'{{reflected_inertia: {ROTOR}}}')}\npostures: {{rest: {{yaw: {START}}}}}\n"
    )
    return load_robot(tmp_path)


@pytest.mark.parametrize("engine", ["bullet", "mujoco"])
def test_a_joint_that_moves_no_inertia_follows_its_rotor(neck, engine):
    if not is_installed(engine):
        pytest.skip(f"{engine} is not installed")
    angles = []
    with open_engine(engine).open_world(DT) as world:
        base = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        body = world.add_robot(neck, base, neck.postures["rest"])
        controller, state = JointController(body), empty_state(neck)
        for _ in range(round(TIME / DT)):
            body.read_state(state)
            still = np.zeros(2)
            controller.step(state, controller.demand(np.array([0.0, TARGET]), still, still))
            world.step()
            body.read_state(state)
            angles.append(state.q[1])
    found = solve_ivp(
        lambda _, state: (state[1], (STIFFNESS * (TARGET - state[0]) - DAMPING * state[1]) / ROTOR),
        (0.0, TIME),
        (START, 0.0),
        t_eval=DT * np.arange(1, round(TIME / DT) + 1),
        rtol=1e-10,
    )
    assert np.ptp(found.y[0]) > 0.7
    np.testing.assert_allclose(angles, found.y[0], atol=4e-3)
