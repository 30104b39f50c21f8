"""Without equipment: two-armed robots, described by the scaffold alone, imitate; one arm follows a hand."""

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import missing

from simbench.errors import RetargetError
from simbench.kinematics.derivatives import differentiate
from simbench.motion.human_motion import PALM_OFFSET, resample
from simbench.motion.readers import read_motion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.api import retarget_motion
from simbench.retargeting.arm import fixed_base
from simbench.retargeting.arm.fixed_base import plan_two_arms, with_free_base
from simbench.retargeting.timing.stretch import UNIFORM_INSTEAD
from simbench.robot.packages import find_share_folder
from simbench.robot.robot import load_robot, placed_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.scaffold.scaffold import scaffold_robot
from simbench.robot.scaffold.writing import write_scaffold
from simbench.runs.motion_source import scenario_motion
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario

FOLDER = find_share_folder("example-robot-data")
URDFS = {
    "baxter": "baxter_description/urdf/baxter.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
}
METHODS = {"baxter": "arm_adaptation", "tiago_dual": "analytical"}
"""For each robot the method that follows the person's arms better."""
wheel = pytest.mark.skipif(FOLDER is None, reason="needs example-robot-data")


@pytest.fixture(scope="module", params=["baxter", pytest.param("tiago_dual", marks=pytest.mark.slow)])
def robot(request, tmp_path_factory):
    """The robot, loaded from the description that its URDF alone gives."""
    folder = tmp_path_factory.mktemp(request.param)
    write_scaffold(scaffold_robot(FOLDER / "robots" / URDFS[request.param]), folder)
    return load_robot(folder)


@pytest.fixture(scope="module")
def planned(robot):
    motion = resample(read_motion("actor:waving"), 25.0)
    section = RobotSection(name=str(robot.source.description), posture="ready")
    settings = RetargetSection(method=METHODS[robot.name])
    return motion, plan_two_arms(robot, motion, section, settings, lambda *_: None)


@wheel
def test_wheels_and_fingers_are_no_joints(robot):
    moving = {name for joints in robot.groups.values() for name in joints}
    assert set(robot.joint_names) == moving
    assert len(robot.joint_names) < 20
    assert not any(part in name for name in robot.joint_names for part in ("wheel", "caster", "finger"))


@wheel
def test_arms_point_where_the_persons_do_inside_limits(robot, planned):
    motion, plan = planned
    time, joints = plan.trajectory.time, plan.trajectory.q
    model = robot.model
    assert plan.interferences == ()
    moving = np.isin(robot.joint_names, [*robot.groups["left_arm"], *robot.groups["right_arm"]])
    assert (joints >= model.lowerPositionLimit + 0.029)[:, moving].all()
    assert (joints <= model.upperPositionLimit - 0.029)[:, moving].all()
    assert np.ptp(joints[:, ~moving], axis=0).max(initial=0.0) == 0.0
    assert (np.abs(np.gradient(joints, time, axis=0)) <= 0.951 * model.velocityLimit).all()
    scene = placed_robot(robot, plan.base).model
    data = scene.createData()
    angles = []
    for sample in range(0, len(joints), 5):
        pin.framesForwardKinematics(scene, data, joints[sample])
        shoulder, wrist = (
            data.oMf[scene.getFrameId(robot.frames[f"right_{part}"])].translation
            for part in ("shoulder", "wrist")
        )
        person = motion.joints["right_wrist"][sample] - motion.joints["right_shoulder"][sample]
        own = wrist - shoulder
        angles.append(np.degrees(np.arccos(own @ person / np.linalg.norm(own) / np.linalg.norm(person))))
    # The person's trunk sways, and arms have other limits; a robot that did not move would be 45° off.
    assert np.median(angles) < 20.0


@wheel
def test_a_run_follows_the_plan(robot, tmp_path):
    # The URDF of Baxter lacks the springs that carry its arms: its shoulders cannot hold them stretched out,
    # as the person's are at the beginning.
    window = {"baxter": (2.0, 3.0), "tiago_dual": (0.0, 2.0)}[robot.name]
    cuts = [
        f"motion.start_s={window[0]}",
        f"motion.end_s={window[1]}",
        "simulation.lead_in_s=0.0",
        "simulation.hold_s=0.1",
    ]
    name = [f"robot.name={robot.source.description}", "robot.posture=standing"]
    result = run_scenario(load_scenario("romeo_wave", [*cuts, *name]), tmp_path / "run", cache=False)
    assert "has no posture 'standing'; it rests in its own, 'ready'" in result.notes[0]
    assert result.metrics["tracking.rms_rad"] < (0.005 if robot.name == "tiago_dual" else 0.03)
    assert result.metrics["contact.self_count"] == 0
    assert result.metrics["contact.floor_unintended_count"] == 0


@wheel
def test_corners_at_limits_stretch_time_and_do_not_stop_it(robot):
    """Baxter's shoulder turns around within a sample where it meets its limit."""
    if robot.name != "baxter":
        pytest.skip("another motion")
    motion = scenario_motion(load_scenario("romeo_wave", ["motion.start_s=2.0", "motion.end_s=3.0"]), [])
    section = RobotSection(name=str(robot.source.description), posture="ready")
    settings = RetargetSection(timing="local")
    plan = plan_two_arms(robot, motion, section, settings, lambda *_: None)
    assert UNIFORM_INSTEAD not in plan.notes
    acceleration = estimated_accelerations(robot, robot.joint_names)

    def need(time):
        return float((np.abs(differentiate(time, plan.trajectory.q).acceleration) / acceleration).max())

    assert need(plan.trajectory.time) <= 1.01
    # The corner alone would slow the whole motion down 3.85 times; a posture with a sharper one, 6 times
    # uniformly, took 2.46 times as long as recorded.
    assert plan.metrics["retarget.slow_down"] < 2.4 < 0.7 * np.sqrt(need(motion.time))


@wheel
def test_the_free_root_leaves_the_joints_alone(robot):
    free = with_free_base(robot)
    assert free.floating
    assert tuple(free.model.names[2:]) == robot.joint_names
    q = np.random.default_rng(0).uniform(-0.3, 0.3, len(robot.joint_names))
    at_origin = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], q])
    whole, fixed = free.model.createData(), robot.model.createData()
    pin.framesForwardKinematics(free.model, whole, at_origin)
    pin.framesForwardKinematics(robot.model, fixed, q)
    for role in ("left_hand", "right_hand"):
        frame = robot.frames[role]
        np.testing.assert_allclose(
            whole.oMf[free.model.getFrameId(frame)].homogeneous,
            fixed.oMf[robot.model.getFrameId(frame)].homogeneous,
            atol=1e-9,
        )


@pytest.mark.skipif(bool(missing("panda")), reason=f"needs {missing('panda')}")
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
    palm = wrist + segment[:, :3, :3] @ PALM_OFFSET
    moved, wanted = np.array(path) - path[0], plan.metrics["retarget.path_scale"] * (palm - palm[0])
    assert np.abs(moved - wanted).max() < 0.011
    assert np.ptp(wanted, axis=0).max() > 0.1
    speed = np.abs(np.gradient(plan.trajectory.q, plan.trajectory.time, axis=0))
    assert (speed <= 0.951 * np.asarray(robot.model.velocityLimit)).all()


def test_a_hand_without_room_is_refused_in_a_line(monkeypatch):
    monkeypatch.setattr(fixed_base, "_SCALES", (30.0,))
    monkeypatch.setattr(fixed_base, "_SLOW_DOWNS", (6.0,))
    with pytest.raises(RetargetError, match="puma560: its hand cannot follow the right hand of") as caught:
        retarget_motion("actor:arms_forward", "puma560")
    assert "\n" not in str(caught.value)
