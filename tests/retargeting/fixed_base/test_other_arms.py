"""Arms whose URDFs are in the wheel example-robot-data, on equipment and following a free hand."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import missing

from simbench.errors import RetargetError
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.collision.interference import find_interference
from simbench.retargeting.collision.obstacles import box_obstacle
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.fixed_base.base import arm_joints, choose_rest
from simbench.retargeting.fixed_base.plan import plan_arm
from simbench.retargeting.fixed_base.surroundings import floor_obstacle
from simbench.robot.hand_shapes import palm_links
from simbench.robot.pedestal import on_pedestal
from simbench.robot.robot import load_robot, placed_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import compute_actor_positions, describe_surroundings
from simbench.sim.fixtures.mechanism import mechanism_obstacles

wheel = pytest.mark.skipif(bool(missing("panda")), reason=f"needs {missing('panda')}")
SCENARIOS = {"panda_drawer": 0.008, "panda_valves": 0.012, "ur5_drawer": 0.008, "ur5_steering_wheel": 0.011}
"""Radius of what the hand holds in each scenario, m."""


@wheel
@pytest.mark.parametrize(
    "name",
    [
        "panda_drawer",
        "panda_valves",
        "ur5_drawer",
        pytest.param("ur5_steering_wheel", marks=pytest.mark.slow),
    ],
)
def test_an_arm_reaches_its_handle_and_its_hand_enters_nothing_else(name):
    """Contacts of a hand with the part that it holds are left out of the simulation: nothing may hide."""
    scenario = load_scenario(name, ["motion.task.repetitions=1"])
    (mechanism,) = mechanisms = scenario_mechanisms(scenario)
    motion, robot = scenario_motion(scenario, mechanisms), load_robot(scenario.robot.name)
    equipment = Equipment(motion.handles, describe_surroundings(mechanisms, robot))
    plan = plan_arm(robot, motion, scenario.robot, scenario.retarget, equipment, lambda *_: None)
    scene = placed_robot(on_pedestal(robot, float(plan.base[2])), plan.base)
    data, frame = scene.model.createData(), scene.model.getFrameId("right_palm")
    touching = np.flatnonzero(plan.hands.contact["right"])
    for sample in touching[:: len(touching) // 8]:
        pin.framesForwardKinematics(scene.model, data, plan.trajectory.q[sample])
        wanted = plan.hands.actor["right"][sample, :3, 3]
        np.testing.assert_allclose(data.oMf[frame].translation, wanted, atol=0.002)
    shapes = [shape for part in (*mechanism.furniture, *mechanism.parts) for shape in part.shapes]
    obstacles = mechanism_obstacles(mechanism, compute_actor_positions(mechanism, plan.hands), ())
    numbered = [replace(each, name=str(number)) for number, each in enumerate(obstacles)]
    entered = find_interference(scene, plan.trajectory, numbered)
    assert {each.first for each in entered} <= set(palm_links(robot, "right_hand"))
    assert {shapes[int(each.second)].radius for each in entered} == {SCENARIOS[name]}
    # Nothing of the arm is under the floor, and the floor is where it says.
    assert find_interference(scene, plan.trajectory, (floor_obstacle(scene),)) == ()
    raised = box_obstacle("floor", (10.0, 10.0, 1.0), pin.SE3(np.eye(3), np.array([0, 0, 0.4])).homogeneous)
    assert find_interference(scene, plan.trajectory, (raised,)) != ()


@wheel
@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_a_free_hand_goes_as_the_persons_does_to_scale(name):
    made = retarget_motion("actor:waving", name)
    plan, robot = made.plan, made.robot
    assert plan.imitation is None
    assert plan.interferences == ()
    model = placed_robot(robot, plan.base).model
    data, frame = model.createData(), model.getFrameId(robot.frames["right_hand"])
    path = []
    for q in plan.trajectory.q:
        pin.framesForwardKinematics(model, data, q)
        path.append(data.oMf[frame].translation.copy())
    # Displacements between samples are those of the person's palm, as wide as the metric says.
    segment, wrist = made.motion.segments["right_hand"], made.motion.joints["right_wrist"]
    from simbench.motion.anatomy import PALM_OFFSET

    palm = wrist + segment[:, :3, :3] @ PALM_OFFSET
    moved, wanted = np.array(path) - path[0], plan.metrics["retarget.path_scale"] * (palm - palm[0])
    assert np.abs(moved - wanted).max() < 0.011
    assert np.ptp(wanted, axis=0).max() > 0.1
    speed = np.abs(np.gradient(plan.trajectory.q, plan.trajectory.time, axis=0))
    assert (speed <= 0.951 * np.asarray(robot.model.velocityLimit)).all()


def test_a_posture_that_an_arm_lacks_is_replaced_by_its_own():
    robot = load_robot("puma560")
    assert choose_rest(robot, "folded") == "folded"
    assert choose_rest(robot, "standing") == "ready"


@wheel
def test_fingers_are_no_joints_of_the_arm():
    robot = load_robot("panda")
    assert arm_joints(robot) == robot.joint_names
    assert not any("finger" in name for name in robot.joint_names)
    assert robot.base_height == pytest.approx(0.33, abs=0.05)


def test_a_hand_without_room_is_refused_in_a_line(monkeypatch):
    import simbench.retargeting.fixed_base.free_hand as free_hand

    monkeypatch.setattr(free_hand, "_SCALES", (30.0,))
    monkeypatch.setattr(free_hand, "_SLOW_DOWNS", (6.0,))
    with pytest.raises(RetargetError, match="puma560: its hand cannot follow the right hand of") as caught:
        retarget_motion("actor:arms_forward", "puma560")
    assert "\n" not in str(caught.value)
