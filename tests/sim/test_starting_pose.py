"""How a robot begins: its seat, its tilt, and steps that its legs can make."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.leg_ik import leg_length, pelvis_heights, solve_com_ik, stand
from simbench.errors import BalanceError, RetargetError, ScenarioError
from simbench.motion.human_motion import HandlePath
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.retargeting.placement.placement import BasePlacement, evaluate_placement, find_spot
from simbench.retargeting.placement.root_placement import ReachTolerances
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import load_robot
from simbench.runs.metrics import FELL_HEIGHT
from simbench.runs.preparation import INITIAL_TILT, tilt_base
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.bullet import open_world
from simbench.sim.engine import GRAVITY, open_engine
from simbench.sim.fixtures import fixture_mechanism
from simbench.sim.fixtures.furniture import Stool
from simbench.sim.fixtures.mechanism import handle_poses
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder
from simbench.sim.starting_pose import find_seat, fit_steps, measure_seat_gap


@pytest.mark.parametrize("heading", [0.0, 0.4, 3.0])
def test_the_root_link_turns_about_the_robots_own_horizontal_axis(heading):
    base = np.array([0.3, -0.2, 0.8, *Rotation.from_rotvec([0.0, 0.0, heading]).as_quat()])
    tilted = tilt_base(base)
    np.testing.assert_array_equal(tilted[:3], base[:3])
    turned = (Rotation.from_quat(tilted[3:]) * Rotation.from_quat(base[3:]).inv()).as_rotvec()
    assert np.linalg.norm(turned) == pytest.approx(INITIAL_TILT, rel=1e-6)
    assert turned[2] == pytest.approx(0.0, abs=1e-15)
    assert np.arctan2(turned[1], turned[0]) == pytest.approx(
        np.angle(np.exp(1j * (heading + np.arctan2(2, 1)))), abs=1e-6
    )


def settled(robot, base, posture):
    """Pose of the root link of a robot without motors, 50 ms after it is put on the floor."""
    with open_engine().open_world(0.001, floor_friction=0.8) as world:
        body = world.add_robot(robot, base, posture)
        for _ in range(50):
            world.step()
        return body.root_pose()


@pytest.mark.parametrize(("place", "heading"), [((-0.37, 0.21), 0.0), ((0.3, 0.2), 0.3)])
def test_rounding_does_not_decide_which_corner_of_a_foot_touches_first(place, heading):
    robot = load_robot("romeo")
    stance = stand(robot, place, heading, "standing")
    poses = []
    for seed in range(8):
        moved = stance.base + 1e-12 * np.random.default_rng(seed).standard_normal(7) * [1, 1, 0, 0, 0, 1, 0]
        poses.append(settled(robot, tilt_base(moved), stance.joints))
    # Those of a robot that is not tilted are 6e-7 and 1.5e-6 m apart.
    assert np.ptp(poses, axis=0).max() < 1e-10


SITS = RobotSection(posture="seated")
HEIGHT = 0.288
"""Of ROMEO's seat in the scenarios, m."""


def stool(stance, height=HEIGHT):
    return fixture_mechanism(
        Stool(type="stool", position_m=(float(stance.base[0]), float(stance.base[1]), 0.0), height_m=height)
    )


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "seated")


def test_thighs_are_level_underneath_and_as_high_as_the_legs_say(romeo, stance):
    # Ankle over sole, shank, and thigh at 1.593 rad from hanging.
    hip = 0.0684 + 0.29 + 0.32 * np.cos(1.593)
    assert stance.base[2] == pytest.approx(hip + 0.20004, abs=1e-5)
    # A horizontal seat touches both ends of a thigh's lower edge at once.
    whole, front = (
        measure_seat_gap(
            romeo,
            np.concatenate([stance.base, stance.joints]),
            fixture_mechanism(Stool(type="stool", position_m=(x, 0.0, 0.0), height_m=HEIGHT, depth_m=depth)),
        )
        for x, depth in ((float(stance.base[0]), 0.3), (float(stance.base[0]) + 0.13, 0.1))
    )
    assert whole == pytest.approx(front, abs=2e-4)


def test_pelvis_and_legs_of_who_sits_stay_whatever_is_asked(romeo, stance):
    joints = np.tile(stance.joints, (3, 1)) + 0.1
    base, still = solve_com_ik(romeo, stance, joints, np.full((3, 2), 0.2), np.full(3, 0.05))
    np.testing.assert_array_equal(base, np.tile(stance.base, (3, 1)))
    legs = [romeo.joint_names.index(n) for side in ("left", "right") for n in romeo.groups[f"{side}_leg"]]
    np.testing.assert_array_equal(still[:, legs], np.tile(stance.joints[legs], (3, 1)))
    rest = np.setdiff1d(np.arange(len(stance.joints)), legs)
    np.testing.assert_array_equal(still[:, rest], joints[:, rest])


def test_who_sits_has_one_pelvis_height(romeo):
    with pytest.raises(RetargetError):
        stand(romeo, (0.0, 0.0), 0.0, "seated", 0.02)


def test_hips_carry_the_moment_of_the_body_and_knees_nothing(romeo, stance):
    """Against a sum over the links: what the hips feel is the moment of all above them about the hips."""
    torque = standing_torques(
        romeo, np.zeros(1), stance.base[None], stance.joints[None], inertia=False, seated=True
    )[0]
    model, data = romeo.model, romeo.model.createData()
    pin.forwardKinematics(model, data, np.concatenate([stance.base, stance.joints]))
    hips = [data.oMi[model.getJointId(name)].translation for name in ("LHipPitch", "RHipPitch")]
    middle = np.mean(hips, axis=0)
    legs = {model.getJointId(n) for side in ("left", "right") for n in romeo.groups[f"{side}_leg"]}
    moment = 0.0
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        lever = data.oMi[joint].act(inertia.lever) - middle
        # The hips' own small links turn with the pelvis, about axes through the hips.
        if joint not in legs or model.names[joint][1:] in ("HipYaw", "HipRoll"):
            moment += inertia.mass * GRAVITY * lever[0]
    carried = 0.0
    for name in ("HipPitch", "HipRoll"):
        for side in "LR":
            joint = model.getJointId(side + name)
            axis = data.oMi[joint].rotation @ (np.eye(3)[1] if name == "HipPitch" else np.eye(3)[0])
            carried += torque[romeo.joint_names.index(side + name)] * axis[1]
    # A motor turns the thigh against the pelvis: forward weight asks it to push the thigh down.
    assert carried == pytest.approx(moment, rel=0.01)
    below = [romeo.joint_names.index(s + n) for s in "LR" for n in ("KneePitch", "AnklePitch", "AnkleRoll")]
    np.testing.assert_allclose(torque[below], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("height", "told"),
    [(0.25, "39.8 mm from the thighs"), (0.30, "10.2 mm inside the thighs"), (None, "one stool; got 0")],
)
def test_a_seat_that_is_not_under_the_thighs_is_refused_in_one_line(romeo, stance, height, told):
    mechanisms = [] if height is None else [stool(stance, height)]
    with pytest.raises(ScenarioError, match=told) as error:
        find_seat(romeo, SITS, mechanisms)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["pump", "steering_wheel"])
def test_the_scenarios_seats_are_under_the_thighs(romeo, name):
    scenario = load_scenario(name)
    assert find_seat(romeo, scenario.robot, scenario_mechanisms(scenario)).name == "stool"


def sit(robot, stance, *, seat, turn=0.0):
    """Let a robot, turned on its way there, sit still for 0.4 s, on a stool or where there is none."""
    steps = 400
    torque = standing_torques(
        robot, np.zeros(1), stance.base[None], stance.joints[None], inertia=False, seated=True
    )
    rest = np.zeros((steps, len(stance.joints)))
    hands = np.zeros((steps, 2), dtype=bool)
    reference = Reference(np.tile(stance.joints, (steps, 1)), rest, np.tile(torque, (steps, 1)), rest, hands)
    recorder = Recorder(steps, robot, [stool(stance)] if seat else [])
    with open_world() as world:
        fixtures = [world.add_fixture(stool(stance))] if seat else []
        base = np.concatenate([stance.base[:5], [np.sin(0.5 * turn), np.cos(0.5 * turn)]])
        body = world.add_robot(robot, base, stance.joints)
        under = fixtures[0] if seat else None
        simulate(Simulation(body, reference, fixtures, seat=under), recorder, LoopOptions(1))
    return recorder


def test_seat_and_floor_carry_the_robot_between_them(romeo, stance):
    log = sit(romeo, stance, seat=True)
    weight = GRAVITY * pin.computeTotalMass(romeo.model)
    late = slice(300, 400)
    feet = log["foot_wrench"][late, :, 2]
    seat = -log["stool_contact_wrench"][late, 2]
    assert (feet.sum(axis=1) + seat).mean() == pytest.approx(weight, rel=0.01)
    # The soles carry at least what is below the knees, 4.18 kg a leg, not half of the robot.
    assert (feet.mean(axis=0) > 4.18 * GRAVITY).all()
    assert seat.min() > 0.5 * weight
    # It sinks by what the seat is lower, and does not slide or rock.
    assert np.abs(log["base_pose"][late, :3] - stance.base[:3]).max() < 0.0015
    assert (np.abs(log["torque_motor"]) / romeo.motors.torque_limit)[late].max() < 0.6


@pytest.mark.parametrize("turn", [1e-12, 1e-3])
def test_feet_of_who_sits_lie_still(romeo, stance, turn):
    """They carry too little for what their motors could do to them, which symmetry alone would hide."""
    log = sit(romeo, stance, seat=True, turn=turn)
    ankles = [romeo.joint_names.index(f"{side}Ankle{axis}") for side in "LR" for axis in ("Pitch", "Roll")]
    late = slice(200, 400)
    assert np.abs(log["joint_velocity"][late][:, ankles]).max() < 0.02
    assert np.abs(log["torque_motor"][late][:, ankles]).max() < 3.0


def test_without_a_seat_it_falls(romeo, stance):
    log = sit(romeo, stance, seat=False)
    assert log["base_pose"][-1, 2] < FELL_HEIGHT * stance.base[2] + 0.1
    assert log["base_velocity"][-1, 2] < -0.3


def few_handles(scenario, poses):
    """Of the pump's stroke."""
    mechanism = scenario_mechanisms(scenario)[0]
    travel = np.linspace(0.0, scenario.motion.task["stroke_m"], poses)
    return {s: HandlePath(p, None) for s, p in handle_poses(mechanism, travel[:, None]).items()}


def test_place_of_who_sits_is_judged_and_found_with_the_pelvis_at_rest(romeo):
    scenario = load_scenario("pump")
    handles, enough = few_handles(scenario, 7), ReachTolerances(ample_margin=0.1)
    x, y = scenario.robot.position_m
    assert not evaluate_placement(romeo, handles, BasePlacement((x - 0.15, y)), "seated").placement.feasible
    found = find_spot(romeo, handles, BasePlacement(), "seated", lambda *stage: None, tolerances=enough)
    assert found.spot.height == 0.0
    again = evaluate_placement(romeo, handles, found.spot, "seated", tolerances=enough).placement
    assert again.margin > 0.09
    np.testing.assert_allclose(again.root_positions, np.tile(again.base[:3], (7, 1)), atol=1e-12)
    assert again.base[2] == pytest.approx(0.55134, abs=1e-5)


SETTINGS = SimulationSection(settle_s=0.5)
WALK = SteppingSection(commands=[{"forward_m": 0.5}])


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def fit(robot, stepping=WALK, **section):
    return fit_steps(robot, RobotSection(name=robot.name, **section), BalanceSection(), stepping, SETTINGS)


def limited(robot, column, upper):
    """The robot with another upper limit of a joint."""
    model = robot.model.copy()
    limit = model.upperPositionLimit.copy()
    limit[7 + column] = upper
    model.upperPositionLimit = limit
    return replace(robot, model=model)


def test_the_length_of_a_leg_is_the_height_of_the_first_joint_over_the_sole_when_it_is_straight(mahru):
    data = mahru.model.createData()
    pin.framesForwardKinematics(mahru.model, data, pin.neutral(mahru.model))
    hip = data.oMi[mahru.model.getJointId(mahru.groups["left_leg"][0])].translation
    sole = data.oMf[mahru.model.getFrameId(mahru.frames["left_foot"])].translation
    assert leg_length(mahru) == pytest.approx(hip[2] - sole[2], abs=1e-6)


def test_a_given_height_is_the_only_one(mahru):
    assert pelvis_heights(mahru, -0.03) == (-0.03,)
    heights = pelvis_heights(mahru, None)
    assert heights[0] == 0.0
    assert (np.diff(heights) < 0.0).all()


def test_what_is_given_stays(mahru):
    given = WALK.model_copy(
        update={"step_length_m": 0.15, "step_width_m": 0.1, "step_turn_rad": 0.3, "lift_m": 0.03}
    )
    section, stepping = fit(mahru, given, height_m=-0.05)
    assert stepping == given
    assert section.height_m == -0.05


def test_steps_are_in_proportion_to_the_legs(mahru):
    _, stepping = fit(mahru)
    assert 0.1 < stepping.step_length_m <= 0.26 * leg_length(mahru) + 1e-3
    assert stepping.step_width_m == pytest.approx(0.5 * stepping.step_length_m, rel=0.01)


def test_ankles_of_less_range_make_shorter_steps(mahru):
    sideways = SteppingSection(commands=[{"sideways_m": -0.2}])
    _, usual = fit(mahru, sideways, height_m=-0.03)
    stiff = mahru
    for name in ("LAnkleRoll", "RAnkleRoll", "LHipRoll", "RHipRoll"):
        stiff = limited(stiff, stiff.joint_names.index(name), 0.18)
    _, shorter = fit(stiff, sideways, height_m=-0.03)
    assert shorter.step_width_m < usual.step_width_m


def test_legs_that_cannot_step_say_why(mahru):
    stuck = mahru
    for name in ("LKneePitch", "RKneePitch"):
        stuck = limited(stuck, stuck.joint_names.index(name), 0.505)
    with pytest.raises(BalanceError, match=r"KneePitch would go to"):
        fit(stuck, height_m=0.0)
