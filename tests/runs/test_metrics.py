"""x"""

import math

import numpy as np
import pinocchio as pin
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from simbench.options import PushSection, SimulationSection, SteppingSection, end_of_pushes
from simbench.runs.log import contact_variables
from simbench.runs.log_builder import add_support_polygon, build_dataset
from simbench.runs.metrics import (
    commanded_displacement,
    fixture_metrics,
    push_metrics,
    run_metrics,
    step_metrics,
)
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios
from simbench.sim.push import plan_pushes
from simbench.sim.sensing import ContactEvent

# Two soles: x from -0.04 to 0.13 m, y from 0.06 to 0.13 m and mirrored.
SOLES = np.array(
    [
        [[-0.04, sign * 0.06], [0.13, sign * 0.06], [0.13, sign * 0.13], [-0.04, sign * 0.13]]
        for sign in (1.0, -1.0)
    ]
)
SAMPLES = 21
TIME = 0.1 * np.arange(SAMPLES)
MASS, GRAVITY = 40.0, 9.81
LABELS = {
    "time": TIME,
    "joint": ("LHipPitch", "LElbowRoll", "LHand"),
    "foot": ("left", "right"),
    "hand": ("left", "right"),
    "xyz": ("x", "y", "z"),
    "xy": ("x", "y"),
    "axis6": ("fx", "fy", "fz", "mx", "my", "mz"),
}


def make_log(events=(), attributes=None, **changes):
    """Two seconds of a robot of three joints that stands perfectly still; one second of it is settling."""
    still = np.zeros((SAMPLES, 3))
    wrench = np.zeros((SAMPLES, 2, 6))
    wrench[1:, :, 2] = 0.5 * MASS * GRAVITY
    zmp = np.tile([0.045, 0.0], (SAMPLES, 1))
    zmp[0] = np.nan
    points = np.tile(SOLES, (SAMPLES, 1, 1, 1))
    points[0] = np.nan
    hands = ("time", "hand")
    variables = {
        "joint_position": (("time", "joint"), still, "rad"),
        "joint_reference": (("time", "joint"), still, "rad"),
        "torque_motor": (("time", "joint"), still, "N m"),
        "base_pose": (("time", "pose"), np.tile([0, 0, 0.86, 0, 0, 0, 1.0], (SAMPLES, 1)), "m"),
        "stool_contact_wrench": (("time", "axis6"), np.zeros((SAMPLES, 6)), "N, N m"),
        "cog": (("time", "xyz"), np.tile([0.045, 0.0, 0.67], (SAMPLES, 1)), "m"),
        "foot_wrench": (("time", "foot", "axis6"), wrench, "N, N m"),
        "foot_points": (("time", "foot", "point", "xy"), points, "m"),
        "foot_pose": (("time", "foot", "pose"), np.tile([0, 0, 0, 0, 0, 0, 1.0], (SAMPLES, 2, 1)), "m"),
        "zmp": (("time", "xy"), zmp, "m"),
        "zmp_from_momentum": (("time", "xy"), np.tile([0.045, 0.0], (SAMPLES, 1)), "m"),
        "palm_position": ((*hands, "xyz"), np.zeros((SAMPLES, 2, 3)), "m"),
        "palm_actor": ((*hands, "xyz"), np.zeros((SAMPLES, 2, 3)), "m"),
        "hand_contact": (hands, np.zeros((SAMPLES, 2), dtype=bool), ""),
        "grip_engaged": (hands, np.zeros((SAMPLES, 2), dtype=bool), ""),
        "grip_wrench": ((*hands, "axis6"), np.zeros((SAMPLES, 2, 6)), "N, N m"),
        "position_lower": (("joint",), np.array([-1.0, -2.0, 0.0]), "rad"),
        "position_upper": (("joint",), np.array([1.0, 0.5, 1.7]), "rad"),
        "lowest_position": (("joint",), np.zeros(3), "rad"),
        "highest_position": (("joint",), np.zeros(3), "rad"),
        "speed_limit": (("joint",), np.array([4.0, 5.0, 4.0]), "rad/s"),
        "highest_speed": (("joint",), np.zeros(3), "rad/s"),
        "torque_limit": (("joint",), np.array([40.0, 8.0, 1.0]), "N m"),
        "is_grip": (("joint",), np.array([False, False, True]), ""),
        "is_arm": (("joint",), np.array([False, True, False]), ""),
        **contact_variables(events),
    }
    for name, values in changes.items():
        variables[name] = (variables[name][0], np.asarray(values), variables[name][2])
    settings = {
        "robot": "romeo",
        "mass_kg": MASS,
        "gravity_m_s2": GRAVITY,
        "settle_s": 1.0,
        "grips_lost": 0,
        "saturated_fraction": 0.0,
        "hand_links": "l_wrist l_fingers r_wrist r_fingers",
        "foot_links": "l_ankle l_sole r_ankle r_sole",
        "thigh_links": "l_thigh r_thigh",
        "seat": "",
    }
    return add_support_polygon(build_dataset(variables, LABELS, settings | (attributes or {})))


def over_time(value, **at):
    """`value` (k,) at every sample but those given as `at_12=...`."""
    values = np.tile(np.asarray(value, dtype=float), (SAMPLES, 1))
    for name, other in at.items():
        values[int(name.removeprefix("at_"))] = other
    return values


def test_a_robot_that_stands_perfectly_still():
    metrics = run_metrics(make_log())
    assert metrics == {
        "fell": False,
        "zmp.inside_fraction": 1.0,
        # The nearest edge is the toes' and the heels', 85 mm away.
        "zmp.min_margin_m": pytest.approx(0.085),
        "zmp.margin_p05_m": pytest.approx(0.085),
        "zmp.still_difference_rms_m": 0.0,
        "feet.still_load_error_fraction": 0.0,
        "cog.max_excursion_m": 0.0,
        "feet.slip_m": 0.0,
        "feet.turn_rad": 0.0,
        "hands.rms_m": None,
        "hands.max_m": None,
        "tracking.rms_rad": 0.0,
        "tracking.max_rad": 0.0,
        "tracking.arms_rms_rad": 0.0,
        "limits.position_violation_rad": 0.0,
        "limits.speed_ratio": 0.0,
        "limits.torque_ratio": 0.0,
        "torque.rms_nm": 0.0,
        "torque.arms_rms_nm": 0.0,
        "torque.saturated_fraction": 0.0,
        "contact.peak_force_n": 0.0,
        "contact.self_count": 0.0,
        "contact.floor_unintended_count": 0.0,
        "contact.equipment_unintended_count": 0.0,
    }
    assert type(metrics["fell"]) is bool


@pytest.mark.parametrize(
    ("lowest", "fell"), [(0.86, False), (0.61, False), (0.60, True), (0.1, True), (np.nan, True)]
)
def test_it_fell_when_the_root_drops_below_seven_tenths(lowest, fell):
    pose = over_time([0.0, 0.0, 0.86, 0.0, 0.0, 0.0, 1.0])
    pose[15, 2] = lowest
    assert run_metrics(make_log(base_pose=pose))["fell"] is fell


@pytest.mark.parametrize(
    ("zmp", "margin"),
    [
        ([0.045, 0.0], 0.085),
        ([0.125, 0.0], 0.005),
        ([0.045, 0.12], 0.01),
        ([0.0, 0.0], 0.04),  # between the feet is inside: the polygon is the hull of both soles
        ([0.15, 0.0], -0.02),
        ([0.16, 0.17], -0.05),  # 3-4-5 from a corner
    ],
)
def test_margin_is_the_signed_distance_to_the_hull_of_both_soles(zmp, margin):
    log = make_log(zmp=over_time([0.045, 0.0], at_12=zmp))
    assert float(log["zmp_margin"][12]) == pytest.approx(margin)
    metrics = run_metrics(log)
    assert metrics["zmp.min_margin_m"] == pytest.approx(min(margin, 0.085))
    # 11 samples from the end of settling on.
    assert metrics["zmp.inside_fraction"] == pytest.approx(1.0 if margin > 0.0 else 10 / 11)


def test_support_polygon_is_padded_with_nan_and_without_contact_nothing_is_inside():
    points = np.tile(SOLES, (SAMPLES, 1, 1, 1))
    points[0] = points[14] = np.nan
    points[13, 1] = np.nan
    points[12, :, 2:] = np.nan
    log = make_log(foot_points=points, zmp=over_time([0.045, 0.1]))
    corners = (~np.isnan(log["support_polygon"].values[..., 0])).sum(axis=1)
    assert corners[[11, 12, 13, 14]].tolist() == [4, 4, 4, 0]
    assert log["support_polygon"].attrs["units"] == log["zmp_margin"].attrs["units"] == "m"
    # On one foot the margin is that of one sole.
    np.testing.assert_allclose(log["zmp_margin"][[11, 13, 14]], [0.03, 0.03, -np.inf])
    np.testing.assert_allclose(log["zmp_margin"][12], -0.04)
    metrics = run_metrics(log)
    assert metrics["zmp.inside_fraction"] == pytest.approx(9 / 11)
    assert metrics["zmp.min_margin_m"] == -np.inf


def test_a_zmp_outside_while_settling_does_not_count():
    metrics = run_metrics(make_log(zmp=over_time([0.045, 0.0], at_9=[0.5, 0.5])))
    assert metrics["zmp.inside_fraction"] == 1.0


def test_zmps_are_compared_and_the_load_is_checked_in_the_second_half_of_settling():
    other = over_time([0.045, 0.0], at_4=[9.0, 9.0], at_11=[9.0, 9.0])
    other[5:11] = [0.045 + 0.003, 0.004]
    wrench = np.zeros((SAMPLES, 2, 6))
    wrench[:, 0, 2], wrench[:, 1, 2] = 0.7 * MASS * GRAVITY, 0.3 * MASS * GRAVITY
    wrench[4] = wrench[11] = 0.0
    wrench[8, 0, 2] *= 1.01
    metrics = run_metrics(make_log(zmp_from_momentum=other, foot_wrench=wrench))
    assert metrics["zmp.still_difference_rms_m"] == pytest.approx(0.005)
    assert metrics["feet.still_load_error_fraction"] == pytest.approx(0.007)


@pytest.mark.parametrize("settle", [0.0, 0.04])
def test_without_time_to_settle_rest_is_not_judged_and_the_first_sample_does_not_count(settle):
    """No contact force is known at time 0, before the first step."""
    metrics = run_metrics(make_log(attributes={"settle_s": settle}))
    assert "zmp.still_difference_rms_m" not in metrics
    assert "feet.still_load_error_fraction" not in metrics
    assert metrics["zmp.inside_fraction"] == 1.0
    assert metrics["zmp.min_margin_m"] == pytest.approx(0.085)


def test_cog_excursion_is_horizontal_and_from_the_end_of_settling():
    cog = over_time([0.045, 0.0, 0.67], at_3=[1.0, 1.0, 0.67], at_17=[0.075, -0.04, 0.2])
    assert run_metrics(make_log(cog=cog))["cog.max_excursion_m"] == pytest.approx(0.05)


def test_tracking_counts_every_joint_but_the_grips_after_settling():
    error = over_time([0.0, 0.0, 0.0], at_5=[9.0, 9.0, 9.0], at_12=[0.03, 0.0, 8.0], at_18=[0.0, -0.04, 0.0])
    metrics = run_metrics(make_log(joint_position=error + 0.2, joint_reference=over_time([0.2] * 3)))
    assert metrics["tracking.max_rad"] == pytest.approx(0.04)
    assert metrics["tracking.rms_rad"] == pytest.approx(0.05 / np.sqrt(11 * 2))
    assert metrics["tracking.arms_rms_rad"] == pytest.approx(0.04 / np.sqrt(11))


ON_THE_GROUND = (("time", "foot"), np.ones((SAMPLES, 2), dtype=bool))


def test_cog_and_zmp_are_compared_with_their_profiles_after_settling():
    """One sample 3-4-5 mm off for the COG, one in the air, whose ZMP is no number."""
    cog = over_time([0.045, 0.0, 0.67], at_5=[9.0, 9.0, 9.0], at_14=[0.048, 0.004, 0.3])
    zmp = over_time([0.045, 0.0], at_5=[9.0, 9.0], at_12=[np.nan, np.nan], at_15=[0.045, -0.02])
    pose = over_time([0.0, 0.0, 0.86, 0.0, 0.0, 0.0, 1.0])
    # It looks to the left (+y), and goes 2 m forward, 0.5 m to its right; turns by 1.2 rad to the right.
    pose[:, 3:] = [0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)]
    pose[-1, :2] = [0.5, 2.0]
    pose[-1, 3:] = [0.0, 0.0, np.sin(0.5 * (np.pi / 2 - 1.2)), np.cos(0.5 * (np.pi / 2 - 1.2))]
    profile = (("time", "xy"), np.tile([0.045, 0.0], (SAMPLES, 1)))
    attributes = {"steps": 3, "balance_gave_up_s": np.nan}
    log = make_log(cog=cog, zmp=zmp, base_pose=pose, attributes=attributes)
    assert "cog.rms_m" not in run_metrics(log)
    log = log.assign(cog_desired=profile, zmp_desired=profile, contact_planned=ON_THE_GROUND)
    metrics = run_metrics(log)
    assert metrics["cog.rms_m"] == pytest.approx(0.005 / np.sqrt(11))
    assert metrics["zmp.rms_m"] == pytest.approx(0.02 / np.sqrt(10))
    assert metrics["base.forward_m"] == pytest.approx(2.0)
    assert metrics["base.left_m"] == pytest.approx(-0.5)
    assert metrics["base.turn_rad"] == pytest.approx(-1.2)
    assert metrics["steps.count"] == 0.0
    assert metrics["balance.gave_up"] is False
    assert run_metrics(log.assign_attrs(balance_gave_up_s=1.5))["balance.gave_up"] is True


def test_turns_of_more_than_half_a_round_are_counted():
    yaw = np.linspace(0.0, 5.0, SAMPLES)
    pose = over_time([0.0, 0.0, 0.86, 0.0, 0.0, 0.0, 1.0])
    pose[:, 5], pose[:, 6] = np.sin(0.5 * yaw), np.cos(0.5 * yaw)
    profile = (("time", "xy"), np.tile([0.045, 0.0], (SAMPLES, 1)))
    log = make_log(base_pose=pose, attributes={"steps": 0, "balance_gave_up_s": np.nan})
    metrics = run_metrics(log.assign(cog_desired=profile, zmp_desired=profile, contact_planned=ON_THE_GROUND))
    assert metrics["base.turn_rad"] == pytest.approx(5.0)


def test_a_run_that_ended_before_its_first_sample_has_a_support_polygon_of_no_samples():
    log = add_support_polygon(make_log().isel(time=slice(0, 0)))
    assert log["support_polygon"].shape == (0, 8, 2)


@pytest.mark.parametrize(
    ("low", "high", "violation"),
    [
        ([-1.0, -2.0, 0.0], [1.0, 0.5, 1.7], 0.0),
        ([-1.25, 0.0, 0.0], [0.9, 0.0, 0.0], 0.25),
        ([0.0, 0.0, -0.01], [0.0, 0.57, 0.0], 0.07),
    ],
)
def test_position_violation_is_the_largest_of_any_joint_on_either_side(low, high, violation):
    metrics = run_metrics(make_log(lowest_position=low, highest_position=high))
    assert metrics["limits.position_violation_rad"] == pytest.approx(violation)


def test_ratios_are_against_each_joint_s_own_limit():
    torque = over_time([0.0, 0.0, 0.0], at_2=[-30.0, 0.0, 0.0], at_7=[0.0, 7.2, 0.2])
    log = make_log(
        highest_speed=[1.0, 6.0, 2.0], torque_motor=torque, attributes={"saturated_fraction": 0.25}
    )
    metrics = run_metrics(log)
    assert metrics["limits.speed_ratio"] == pytest.approx(1.2)
    assert metrics["limits.torque_ratio"] == pytest.approx(0.9)
    assert metrics["torque.saturated_fraction"] == 0.25


def test_torque_is_that_after_settling_without_the_grips():
    torque = over_time([0.0, 0.0, 0.0], at_2=[50.0, 0.0, 0.0], at_12=[3.0, 4.0, 9.0], at_15=[0.0, 6.0, 0.0])
    metrics = run_metrics(make_log(torque_motor=torque))
    # Eleven samples of two joints, one of them an arm's.
    assert metrics["torque.rms_nm"] == pytest.approx(np.sqrt((9.0 + 16.0 + 36.0) / 22.0))
    assert metrics["torque.arms_rms_nm"] == pytest.approx(np.sqrt((16.0 + 36.0) / 11.0))


def test_hands_are_judged_where_they_are_in_contact():
    contact = np.zeros((SAMPLES, 2), dtype=bool)
    contact[12:16, 0] = contact[14:16, 1] = True
    palm = np.zeros((SAMPLES, 2, 3))
    palm[5] = [7.0, 0.0, 0.0]
    palm[12, 0] = [0.003, 0.0, 0.004]
    palm[14, 1] = [0.0, 0.012, 0.0]
    engaged = contact.copy()
    engaged[12, 0] = False
    engaged[3, 1] = True
    wrench = np.zeros((SAMPLES, 2, 6))
    wrench[13, 0] = [3.0, 0.0, 4.0, 100.0, 0.0, 0.0]
    metrics = run_metrics(
        make_log(
            hand_contact=contact,
            palm_position=palm + 0.1,
            palm_actor=np.full((SAMPLES, 2, 3), 0.1),
            grip_engaged=engaged,
            grip_wrench=wrench,
            attributes={"grips_lost": 2},
        )
    )
    assert metrics["hands.max_m"] == pytest.approx(0.012)
    assert metrics["hands.rms_m"] == pytest.approx(0.013 / np.sqrt(6))
    assert metrics["grip.held_fraction"] == pytest.approx(5 / 6)
    assert metrics["grip.max_force_n"] == pytest.approx(5.0)
    assert metrics["grip.lost"] == 2.0


def test_contacts_are_sorted_into_intended_and_unintended():
    pairs = {
        ("romeo/l_ankle", "floor"): 200.0,
        ("romeo/r_ankle", "floor"): 233.0,
        ("romeo/RKneePitchLink", "floor"): 10.0,  # unintended
        ("romeo/l_wrist", "floor"): 5.0,  # unintended: hands belong on the handle
        ("romeo/l_wrist", "drawer/drawer"): 3.0,
        ("romeo/r_fingers", "drawer/cabinet"): 3.0,
        ("romeo/LElbowYawLink", "drawer/cabinet"): 2.0,  # unintended
        ("romeo/r_ankle", "drawer/table"): 1.0,  # unintended
        ("romeo/torso", "drawer/drawer"): 1.0,  # unintended
        ("romeo/l_wrist", "romeo/LHipPitchLink"): 8.0,  # self
    }
    events = [ContactEvent(*pair, 0.1, 0.2, force) for pair, force in pairs.items()]
    metrics = run_metrics(make_log(events))
    assert metrics["contact.peak_force_n"] == 233.0
    assert metrics["contact.self_count"] == 1.0
    assert metrics["contact.floor_unintended_count"] == 2.0
    assert metrics["contact.equipment_unintended_count"] == 3.0


def test_thighs_may_touch_the_seat_and_nothing_else_may():
    pairs = [
        ("romeo/l_thigh", "stool/stool"),
        ("romeo/torso", "stool/stool"),  # unintended
        ("romeo/r_thigh", "drawer/table"),  # unintended
    ]
    events = [ContactEvent(*pair, 0.1, 0.2, 1.0) for pair in pairs]
    press = {"stool_contact_wrench": over_time([0.0] * 6)}
    seated = make_log(events, {"seat": "stool"}, **press)
    assert run_metrics(seated)["contact.equipment_unintended_count"] == 2.0
    assert run_metrics(make_log(events))["contact.equipment_unintended_count"] == 3.0


def test_who_sits_is_judged_by_seat_and_pelvis_and_has_no_zmp():
    """The pelvis slides by 3-4-5 mm and tilts by 0.02 rad; the seat carries 300 N, once 120."""
    pose = over_time([0, 0, 0.55, 0, 0, 0, 1.0], at_15=[0.003, 0, 0.546, np.sin(0.01), 0, 0, np.cos(0.01)])
    press = over_time([0, 0, -300.0, 0, 0, 0], at_0=[0.0] * 6, at_12=[5.0, 0, -120.0, 0, 0, 0])
    log = make_log((), {"seat": "stool"}, base_pose=pose, stool_contact_wrench=press)
    metrics = run_metrics(log)
    assert metrics["fell"] is False
    assert metrics["seat.least_force_n"] == pytest.approx(120.0)
    assert metrics["seat.mean_force_n"] == pytest.approx(300.0 - 180.0 / 11)
    assert metrics["seat.slip_m"] == pytest.approx(0.005)
    assert metrics["seat.tilt_rad"] == pytest.approx(0.02)
    assert not any(name.startswith("zmp.") for name in metrics)
    pose[18:, 2] = 0.38
    assert run_metrics(make_log((), {"seat": "stool"}, base_pose=pose, stool_contact_wrench=press))["fell"]


def test_travel_is_compared_stroke_by_stroke_and_the_worst_counts():
    """The actor opens by 110 mm and closes; the robot follows with 110, then with 88 mm."""
    stroke = 0.12 + 0.11 * np.array([0, 0.5, 1, 0.5, 0])
    actor = np.concatenate([[0.12] * 3, stroke, [0.12] * 2, stroke, [0.12] * 6])
    robot = actor.copy()
    robot[10:15] = 0.12 + 0.8 * (actor[10:15] - 0.12)
    log = make_log().assign(
        drawer_travel=("time", robot), drawer_travel_actor=("time", actor),
        strokes=(("stroke", "bound"), np.array([[TIME[3], TIME[7]], [TIME[10], TIME[14]]])),
    )  # fmt: skip
    metrics = fixture_metrics(log, "drawer", {"travel": "m"})
    assert metrics == {"drawer.travel_m": pytest.approx(0.11), "drawer.travel_ratio": pytest.approx(0.8)}
    # A run that ended before the second stroke, as by a fall, has done nothing of it.
    cut = fixture_metrics(log.isel(time=slice(0, 9)), "drawer", {"travel": "m"})
    assert cut["drawer.travel_ratio"] == 0.0
    free = log.assign(strokes=(("none", "bound"), np.empty((0, 2))))
    assert fixture_metrics(free, "drawer", {"travel": "m"}) == {"drawer.travel_m": pytest.approx(0.11)}


def test_every_joint_of_a_fixture_is_measured():
    """The left turns by 3 rad of the actor's 4, the right keeps up: as two names, in their unit."""
    there = np.linspace(0.0, 1.0, SAMPLES)
    log = make_log().assign(
        valves_left_turn=("time", 3.0 * there), valves_left_turn_actor=("time", 4.0 * there),
        valves_right_turn=("time", 0.5 - 2.0 * there), valves_right_turn_actor=("time", 0.4 - 2.0 * there),
        strokes=(("stroke", "bound"), np.array([[TIME[0], TIME[-1]]])),
    )  # fmt: skip
    assert fixture_metrics(log, "valves", {"left_turn": "rad", "right_turn": "rad"}) == {
        "valves.left_turn_rad": pytest.approx(3.0),
        "valves.left_turn_ratio": pytest.approx(0.75),
        "valves.right_turn_rad": pytest.approx(2.0),
        "valves.right_turn_ratio": pytest.approx(1.0),
    }


def test_a_joint_that_no_hand_was_to_move_has_no_share():
    """The valve that an arm without a left hand leaves alone: its way is told, 0 of 0 is not."""
    there = np.linspace(0.0, 1.0, SAMPLES)
    log = make_log().assign(
        valves_left_turn=("time", 1e-4 * there), valves_left_turn_actor=("time", np.zeros(SAMPLES)),
        valves_right_turn=("time", 3.0 * there), valves_right_turn_actor=("time", 4.0 * there),
        strokes=(("stroke", "bound"), np.array([[TIME[0], TIME[-1]]])),
    )  # fmt: skip
    assert fixture_metrics(log, "valves", {"left_turn": "rad", "right_turn": "rad"}) == {
        "valves.left_turn_rad": pytest.approx(1e-4),
        "valves.right_turn_rad": pytest.approx(3.0),
        "valves.right_turn_ratio": pytest.approx(0.75),
    }


@pytest.mark.parametrize("angle", [1e-4, 0.3, 3.1])
def test_how_far_what_stands_was_moved_and_turned(angle):
    """Farthest from where it stood when the run had settled; a quaternion and its negative are one turn."""
    stand = np.tile([0.4, 0.1, 0.8, 0.0, 0.0, 0.0, 1.0], (SAMPLES, 1))
    # Before: it does not count.
    stand[3] = [0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0]
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    stand[15] = [0.43, 0.06, 0.8, *(-np.sin(0.5 * angle) * axis), -np.cos(0.5 * angle)]
    stand[16] = [0.41, 0.1, 0.8, *(0.5 * np.sin(0.25 * angle) * axis), 1.0]
    stand[16, 3:] /= np.linalg.norm(stand[16, 3:])
    # As Bullet knows it.
    stand = stand.astype(np.float32).astype(float)
    log = make_log().assign(block_stand=(("time", "pose"), stand))
    metrics = fixture_metrics(log, "block", {})
    assert metrics.keys() == {"block.moved_m", "block.turned_rad"}
    assert metrics["block.moved_m"] == pytest.approx(0.05, abs=1e-7)
    assert metrics["block.turned_rad"] == pytest.approx(angle, abs=1e-6)


def test_feet_that_slide_and_turn_are_measured_only_while_they_carry():
    """The left foot slides 3 mm and turns by 0.02 rad; the right one makes a step of 0.4 m."""
    time = np.linspace(0.0, 2.0, SAMPLES)
    pose = np.tile([0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0], (SAMPLES, 2, 1))
    late = time > 1.5
    # Near half a turn, where angles jump by a whole one.
    heading = np.pi - 0.01 + np.where(late, 0.02, 0.0)
    pose[:, 0, 5], pose[:, 0, 6] = np.sin(0.5 * heading), np.cos(0.5 * heading)
    pose[late, 0, 0] += 0.003
    wrench = np.zeros((SAMPLES, 2, 6))
    wrench[1:, :, 2] = 0.5 * MASS * GRAVITY
    swing = (time > 1.2) & (time < 1.6)
    wrench[swing, 1, 2] = 0.05 * MASS * GRAVITY
    pose[swing, 1, 0] = 0.2
    pose[time >= 1.6, 1, 0] = 0.4
    metrics = run_metrics(make_log(foot_pose=pose, foot_wrench=wrench))
    assert metrics["feet.slip_m"] == pytest.approx(0.003)
    assert metrics["feet.turn_rad"] == pytest.approx(0.02)


def test_feet_that_never_carry_have_no_slip():
    metrics = run_metrics(make_log(foot_wrench=np.zeros((SAMPLES, 2, 6))))
    assert metrics["feet.slip_m"] is None
    assert metrics["feet.turn_rad"] is None


SECTION = PushSection(
    first_ns=10.0, increment_ns=5.0, count=3, start_s=1.0, interval_s=2.0, direction_rad=0.5
)
SETTINGS = SimulationSection(timestep_s=0.002, settle_s=0.5)


def log_of(fall=99.0, rocks_from=99.0):
    """A robot that falls at a time, or moves from another on."""
    seconds = np.arange(0.0, 7.5, 0.05)
    pose, velocity = np.zeros((len(seconds), 7)), np.zeros((len(seconds), 3))
    pose[:, 2] = np.where(seconds < fall, 0.8, 0.5)
    velocity[:, 0] = np.where((seconds < rocks_from) & ~((seconds > 3.5) & (seconds < 4.48)), 0.04, 0.06)
    return xr.Dataset(
        {"base_pose": (("time", "pose"), pose), "cog_velocity": (("time", "xyz"), velocity)},
        {"time": seconds},
    )


def test_pushes_are_laid_out_in_steps():
    pushes = plan_pushes(SECTION, SETTINGS)
    impulses, directions, starts, durations = zip(*pushes, strict=True)
    assert impulses == (10.0, 15.0, 20.0)
    assert starts == (750, 1750, 2750)
    assert set(durations) == {50}
    assert set(directions) == {0.5}
    assert end_of_pushes(SECTION) == 7.0


@pytest.mark.parametrize(
    ("fall", "strongest", "count"), [(1.7, 0.0, 0.0), (4.0, 10.0, 1.0), (7.0, 15.0, 2.0), (99.0, 20.0, 3.0)]
)
def test_the_last_push_before_the_fall_does_not_count(fall, strongest, count):
    metrics = push_metrics(log_of(fall), SECTION, plan_pushes(SECTION, SETTINGS), 0.002)
    assert metrics["push.survived_ns"] == strongest
    assert metrics["push.survived_count"] == count
    assert metrics["push.survived_fraction"] == pytest.approx(count / 3.0)
    # It moved from the second push, at 3.5 s, to 4.45 s.
    assert metrics["push.rest_s"] == pytest.approx(0.95 if count == 3.0 else np.nan, nan_ok=True)


@pytest.mark.parametrize("start", [3.4, 5.4, 7.4])
def test_who_rocks_on_has_survived_but_is_not_at_rest(start):
    metrics = push_metrics(log_of(rocks_from=start), SECTION, plan_pushes(SECTION, SETTINGS), 0.002)
    assert metrics["push.survived_count"] == 3.0
    assert np.isnan(metrics["push.rest_s"])


FOLLOWS = {
    "base.forward_m": "stepping",
    "base.left_m": "stepping",
    "base.turn_rad": "stepping",
    "steps.count": "stepping",
    "push.survived_ns": "push",
    "push.survived_count": "push",
}
"""Metrics whose value follows from commands of a section, which a user may change with --set."""

DISTANCE = st.floats(-3.0, 3.0)
COMMAND = st.one_of(
    st.builds(lambda count: {"march": count}, st.integers(1, 9)),
    st.builds(lambda distance: {"forward_m": distance}, DISTANCE),
    st.builds(lambda distance: {"sideways_m": distance}, DISTANCE),
    st.builds(lambda angle: {"turn_rad": angle}, DISTANCE),
)


def section(*commands):
    return SteppingSection(commands=commands)


@given(st.lists(COMMAND, min_size=1, max_size=6))
def test_commands_are_composed_as_rigid_motions(commands):
    """Each in the frame where the one before ends: products of homogeneous transforms."""
    pose = pin.SE3.Identity()
    for command in commands:
        step = np.array([command.get("forward_m", 0.0), command.get("sideways_m", 0.0), 0.0])
        pose = pose * pin.SE3(pin.utils.rotate("z", command.get("turn_rad", 0.0)), step)
    forward, left, rotation = commanded_displacement(section(*commands).commands)
    np.testing.assert_allclose([forward, left], pose.translation[:2], atol=1e-12)
    assert math.remainder(rotation - math.atan2(pose.rotation[1, 0], pose.rotation[0, 0]), math.tau) == (
        pytest.approx(0.0, abs=1e-12)
    )


def test_whole_turns_are_counted():
    assert commanded_displacement(section({"turn_rad": 5.0}, {"turn_rad": 5.0}).commands) == (0.0, 0.0, 10.0)


def test_errors_are_distances_from_the_command():
    """The quarter turn makes the second metre one to the left."""
    measured = {"base.forward_m": 0.97, "base.left_m": 1.02, "base.turn_rad": 1.5, "steps.count": 18.0}
    commands = section({"forward_m": 1.0}, {"turn_rad": math.pi / 2}, {"forward_m": 1.0})
    errors = step_metrics(measured, commands, 20)
    assert errors == pytest.approx(
        {
            "base.forward_error_m": 0.03,
            "base.left_error_m": 0.02,
            "base.turn_error_rad": math.pi / 2 - 1.5,
            "steps.missed_count": 2.0,
        }
    )


def test_no_scenario_checks_a_number_that_its_commands_decide():
    """Otherwise the same scenario with other commands ends with a failed check, however well it went."""
    stepping = pushed = 0
    for name in list_scenarios():
        scenario = load_scenario(name)
        stepping += scenario.stepping is not None
        pushed += scenario.push is not None
        for metric, decides in FOLLOWS.items():
            assert getattr(scenario, decides) is None or metric not in scenario.checks, (name, metric)
    assert stepping >= 3
    assert pushed >= 2
