"""Arms do on the equipment what the person's right hand did: plan, reference, and what is refused."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import missing

from simbench.errors import SimbenchError
from simbench.kinematics.obstacles import box_obstacle
from simbench.retargeting.arm.fixed_base import floor_obstacle
from simbench.retargeting.arm.on_equipment import plan_arm
from simbench.retargeting.collision.interference import find_interference
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.robot.robot import load_robot, on_pedestal, placed_robot
from simbench.robot.robot_limbs import hand_links
from simbench.runs.log import open_run
from simbench.runs.motion_source import scenario_motion
from simbench.runs.pipeline import run_scenario
from simbench.runs.retargeted_reference import build_arm_reference
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import compute_joint_positions, find_obstacles
from simbench.sim.fixtures.mechanism import mechanism_obstacles

SCENARIOS = ("puma560_valves", "puma560_drawer", "puma560_steering_wheel")
ONCE = "motion.task.repetitions=1"


def made(name, *overrides):
    """A scenario of one repetition with its mechanism, recording and plan."""
    scenario = load_scenario(name, [ONCE, *overrides])
    (mechanism,) = mechanisms = scenario_mechanisms(scenario)
    motion, robot = scenario_motion(scenario, mechanisms), load_robot(scenario.robot.name)
    plan = plan_arm(
        robot,
        motion,
        scenario.robot,
        scenario.retarget,
        Equipment(motion.handles, partial(find_obstacles, mechanisms, robot)),
        lambda stage, done, total: None,
    )
    return SimpleNamespace(scenario=scenario, mechanism=mechanism, motion=motion, robot=robot, plan=plan)


@pytest.fixture(scope="module")
def plans():
    return {name: made(name) for name in SCENARIOS}


def flange_poses(robot, base, joints):
    model = placed_robot(robot, base).model
    data, frame = model.createData(), model.getFrameId("flange")
    poses = []
    for q in joints:
        pin.framesForwardKinematics(model, data, q)
        poses.append(data.oMf[frame].homogeneous)
    return np.array(poses)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_flange_is_on_the_handle_while_the_hand_was(plans, name):
    planned = plans[name]
    hands = planned.plan.hands
    touching = hands.contact["right"]
    flange = flange_poses(planned.robot, planned.plan.base, planned.plan.trajectory.q[touching])
    wanted = hands.actor["right"][touching]
    assert np.linalg.norm(flange[:, :3, 3] - wanted[:, :3, 3], axis=1).max() < 0.002
    # Free about the handle's axis, which all three hold by.
    axis = hands.turn_axes["right"]
    cosine = np.einsum("tij,j,tik,k->t", wanted[:, :3, :3], axis, flange[:, :3, :3], axis)
    assert np.degrees(np.arccos(cosine.clip(-1.0, 1.0))).max() < 1.0
    # The person's whole stroke is in it.
    start, end = planned.motion.strokes[0]
    assert touching[start : end + 1].all()


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_path_is_clear_smooth_and_inside_limits(plans, name):
    planned = plans[name]
    model, plan = planned.robot.model, planned.plan
    time, joints = plan.trajectory.time, plan.trajectory.q
    assert plan.interferences == ()
    assert (joints >= model.lowerPositionLimit + 0.03 - 1e-9).all()
    assert (joints <= model.upperPositionLimit - 0.03 + 1e-9).all()
    speed = np.gradient(joints, time, axis=0)
    assert (np.abs(speed) <= 0.951 * model.velocityLimit).all()
    # No jump from one posture to another: full speed is not reached within a tenth of a second.
    assert (np.abs(np.gradient(speed, time, axis=0)) < 10.0 * model.velocityLimit).all()
    np.testing.assert_allclose(joints[0], plan.home, atol=0.01)


def entered(planned, scene):
    """Links that enter a shape of the equipment, and the radii of these shapes, m."""
    mechanism, plan = planned.mechanism, planned.plan
    shapes = [shape for part in (*mechanism.furniture, *mechanism.parts) for shape in part.shapes]
    obstacles = mechanism_obstacles(
        mechanism, compute_joint_positions(mechanism, plan.hands.actor, plan.hands.contact), ()
    )
    numbered = [replace(each, name=str(number)) for number, each in enumerate(obstacles)]
    found = find_interference(scene, plan.trajectory, numbered)
    return {each.first for each in found}, {shapes[int(each.second)].radius for each in found}


@pytest.mark.parametrize(
    ("name", "held"), [(SCENARIOS[0], 0.012), (SCENARIOS[1], 0.008), (SCENARIOS[2], 0.011)]
)
def test_the_flange_enters_nothing_but_the_rod_it_holds(plans, name, held):
    """Contacts between flange and held part are left out of the simulation: nothing may hide there."""
    scene = placed_robot(plans[name].robot, plans[name].plan.base)
    assert entered(plans[name], scene) == ({"link6"}, {held})


@pytest.mark.skipif(bool(missing("panda")), reason=f"needs {missing('panda')}")
@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("panda_drawer", 0.008),
        ("ur5_drawer", 0.008),
        pytest.param("ur5_steering_wheel", 0.011, marks=pytest.mark.slow),
    ],
)
def test_an_arm_on_a_pedestal_reaches_its_handle_and_its_hand_enters_nothing_else(name, held):
    planned = made(name)
    plan, robot = planned.plan, planned.robot
    scene = placed_robot(on_pedestal(robot, float(plan.base[2])), plan.base)
    data, frame = scene.model.createData(), scene.model.getFrameId("right_palm")
    touching = np.flatnonzero(plan.hands.contact["right"])
    for sample in touching[:: len(touching) // 8]:
        pin.framesForwardKinematics(scene.model, data, plan.trajectory.q[sample])
        wanted = plan.hands.actor["right"][sample, :3, 3]
        np.testing.assert_allclose(data.oMf[frame].translation, wanted, atol=0.002)
    links, radii = entered(planned, scene)
    assert links <= set(hand_links(robot, "right_hand", fingers=False))
    assert radii == {held}
    # Nothing of the arm is under the floor, and the floor is where it says.
    assert find_interference(scene, plan.trajectory, (floor_obstacle(scene),)) == ()
    raised = box_obstacle("floor", (10.0, 10.0, 1.0), pin.SE3(np.eye(3), np.array([0, 0, 0.4])).homogeneous)
    assert find_interference(scene, plan.trajectory, (raised,)) != ()


def test_only_what_the_right_hand_holds_is_asked_for(plans):
    hands = plans["puma560_valves"].plan.hands
    asked = compute_joint_positions(plans["puma560_valves"].mechanism, hands.actor, hands.contact)
    left, right = np.ptp(asked, axis=0)
    assert left == 0.0
    assert right == pytest.approx(2.0 * np.pi, rel=0.1)


@pytest.fixture(scope="module")
def timelines(plans):
    planned = plans["puma560_drawer"]
    settings = planned.scenario.simulation
    return {
        (law, lead): build_arm_reference(
            planned.robot,
            planned.plan,
            settings.model_copy(update={"lead_in_s": lead}),
            feedforward=law,
            speed_fraction=0.95,
        )
        for law, lead in (("inverse_dynamics", 2.0), ("gravity", 2.0), ("none", 0.0))
    }


def test_the_arm_comes_from_its_posture_and_returns_with_an_open_hand(plans, timelines):
    planned, timeline = plans["puma560_drawer"], timelines["inverse_dynamics", 2.0]
    reference = timeline.reference
    home = planned.robot.postures["drawn_back"]
    for row in (0, -1):
        np.testing.assert_allclose(reference.position[row], home, atol=1e-9)
        np.testing.assert_array_equal(reference.velocity[row], 0.0)
    steps = np.abs(np.diff(reference.position, axis=0)).max(axis=0)
    assert (steps <= 0.951e-3 * planned.robot.model.velocityLimit).all()
    # It holds as long as the recording does, from the actor's first contact on.
    held = np.flatnonzero(reference.grip[:, 0]) * 1e-3
    assert reference.grip.shape[1] == 1
    first = planned.plan.trajectory.time[np.flatnonzero(planned.plan.hands.contact["right"])[0]]
    assert held[0] == pytest.approx(timeline.start + first, abs=0.002)
    assert held[-1] == pytest.approx(timeline.time[-1], abs=0.003)
    assert timeline.start == pytest.approx(planned.scenario.simulation.settle_s + 2.0)


def test_without_a_lead_in_the_hand_stays_as_the_persons_at_the_end(timelines):
    reference = timelines["none", 0.0].reference
    assert reference.grip[-1, 0]
    assert not reference.feedforward.any()


def test_torques_are_those_of_the_weight_or_of_the_whole_motion(plans, timelines):
    model = plans["puma560_drawer"].robot.model
    data = model.createData()
    whole, weight = (timelines[law, 2.0].reference for law in ("inverse_dynamics", "gravity"))
    np.testing.assert_array_equal(whole.position, weight.position)
    for row in range(0, len(whole.position), 500):
        q, v, a = whole.position[row], whole.velocity[row], whole.acceleration[row]
        gravity = pin.computeGeneralizedGravity(model, data, q)
        np.testing.assert_allclose(weight.feedforward[row], gravity, atol=1e-9)
        # M a + n from the mass matrix, not from the recursion.
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        needed = mass @ a + pin.nonLinearEffects(model, data, q, v)
        np.testing.assert_allclose(whole.feedforward[row], needed, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("puma560_drawer", "robot.position_m=[-1.5, 0.0]", "puma560: out of reach: a palm stays"),
        (
            "puma560_drawer",
            "robot.height_m=-0.1",
            "robot.height_m: puma560 has a fixed base, .*allowed: from 0",
        ),
        ("puma560_drawer", "retarget.method=ude", "retarget.method: says nothing to puma560"),
        ("puma560_drawer", "retarget.pelvis_lean_m=0.01", "retarget.pelvis_lean_m: says nothing to puma560"),
        (
            "puma560_drawer",
            "motion.end_s=2.0",
            "puma560: nothing to do: .* within retarget.contact_distance_m",
        ),
    ],
)
def test_what_it_cannot_do_is_refused_in_a_line(name, override, message):
    with pytest.raises(SimbenchError, match=message) as caught:
        made(name, override)
    assert "\n" not in str(caught.value)


def test_a_run_pulls_the_drawer_by_its_bar(tmp_path):
    """From just before the hold to half a pull, as the scenario has it but for the beginning and the end."""
    cuts = ["motion.start_s=3.0", "motion.end_s=4.9", "simulation.lead_in_s=1.5", "simulation.hold_s=0.1"]
    scenario = load_scenario("puma560_drawer", [ONCE, *cuts])
    result = run_scenario(scenario, tmp_path / "run")
    log = open_run(tmp_path / "run")
    assert log.sizes["hand"] == 1
    assert list(log["hand"].values) == ["right"]
    assert result.metrics["hands.rms_m"] < 0.002
    assert result.metrics["grip.lost"] == 0
    assert result.metrics["grip.held_fraction"] > 0.98
    assert result.metrics["contact.equipment_unintended_count"] == 0
    moved = log["drawer_travel"].values - log["drawer_travel"].values[0]
    asked = log["drawer_travel_actor"].values - log["drawer_travel_actor"].values[0]
    assert asked.max() > 0.02
    # Up to what its force stretches the grip's spring.
    assert moved.max() == pytest.approx(asked.max(), abs=0.004)
