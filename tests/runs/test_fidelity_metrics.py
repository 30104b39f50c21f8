"""A log made by hand of a robot that does what the person did: in time, late, not to the end, with steps."""

import shutil
from dataclasses import replace

import followed_person
import numpy as np
import pytest
import xarray as xr
from scipy.interpolate import make_interp_spline

from simbench.motion.trajectory import sample_trajectory
from simbench.options import RetargetSection
from simbench.retargeting.reference.reference import FollowedSteps, Reference, Timeline
from simbench.runs.log_schema import has_person
from simbench.runs.metric_catalogue import find_metric
from simbench.runs.motion_fidelity import add_fidelity, fidelity_lines, fidelity_rows
from simbench.runs.report.report_page import report_page
from simbench.runs.report.run_report import read_reports
from simbench.runs.run_plan import Plan, decode_plan, encode_plan

START, WEIGHT = 1.5, 600.0


def make_timeline(dancing, stretch=1.0, steps=None):
    nothing = np.empty((0, 35))
    reference = Reference(nothing, nothing, nothing, nothing, np.empty((0, 2), dtype=bool))
    turn = followed_person.HEADING / 2.0
    base = np.array([0.0, 0.0, 0.8, 0.0, 0.0, np.sin(turn), np.cos(turn)])
    return Timeline(reference, base, START, START + stretch * dancing.time, steps=steps)


def make_log(dancing, delay=0.0, stretch=1.0, end=np.inf, landing=None):
    """A log at 200 Hz; with a landing the left foot is in the air for 0.3 s before, and ends up 3 cm off."""
    time = np.arange(0.0, START + 3.0 * stretch + 1.0, 0.005)
    time = time[time <= end]
    logged = sample_trajectory(dancing, (time - START - delay) / stretch)
    logged = replace(logged, time=time)
    wrench, feet = np.zeros((len(time), 2, 6)), np.zeros((len(time), 2, 7))
    wrench[:, :, 2], feet[..., 6] = 0.5 * WEIGHT, 1.0
    if landing is not None:
        wrench[(time >= landing - 0.3) & (time < landing - 1e-9), 0, 2] = 0.0
        feet[time >= landing - 1e-9, 0, :2] = [0.3, 0.03]
    return xr.Dataset(
        {
            "joint_position": (("time", "joint"), logged.q),
            "joint_velocity": (
                ("time", "joint"),
                make_interp_spline(logged.time, logged.q, k=min(3, len(time) - 1)).derivative()(logged.time),
            ),
            "base_pose": (("time", "pose"), logged.base),
            "foot_wrench": (("time", "foot", "axis6"), wrench),
            "foot_pose": (("time", "foot", "pose"), feet),
        },
        coords={"time": time},
        attrs={"mass_kg": WEIGHT / 9.81, "gravity_m_s2": 9.81},
    )


def followed(person, speed=1.0):
    return replace(person, time=person.time / speed), speed, RetargetSection()


def test_a_run_that_does_the_same_at_the_persons_tempo_loses_nothing(mahru, dancing, person):
    log, metrics = add_fidelity(make_log(dancing), mahru, make_timeline(dancing), *followed(person))
    for name, value in metrics.items():
        if name.endswith(("_rad", "_m")) or ("hand_" in name and name.endswith("_fraction")):
            assert value == pytest.approx(0.0, abs=1e-9), name
        assert find_metric(name) is not None, name
    assert metrics["fidelity.duration_ratio"] == pytest.approx(1.0)
    assert metrics["fidelity.lag_s"] == pytest.approx(0.0, abs=1e-4)
    assert metrics["fidelity.executed_fraction"] == 1.0
    assert has_person(log)
    np.testing.assert_allclose(log["direction_error"], 0.0, atol=1e-6)
    limbs = [str(name) for name in log["limb"].values]
    assert "left_forearm" in limbs
    assert "head" in limbs
    # The wrist from the elbow, of both in the same direction.
    names = [str(name) for name in log["body_point"].values]
    ends = [names.index(f"right_{joint}") for joint in ("elbow", "wrist")]
    robot, human = (np.diff(log[f"{who}_point"].values[:, ends], axis=1)[:, 0] for who in ("robot", "person"))
    cosine = np.sum(robot * human, axis=1) / np.linalg.norm(robot, axis=1) / np.linalg.norm(human, axis=1)
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)


def test_tempo_is_the_recordings_also_where_the_scenario_changes_it(mahru, dancing, person):
    # The scenario plays the recording at half its tempo, and the plan slows that by half again.
    log = make_log(dancing, delay=0.05, stretch=4.0)
    _, metrics = add_fidelity(log, mahru, make_timeline(dancing, stretch=4.0), *followed(person, speed=0.5))
    assert metrics["fidelity.duration_ratio"] == pytest.approx(4.0)
    assert metrics["fidelity.stretch_max_ratio"] == pytest.approx(4.0)
    assert metrics["fidelity.lag_s"] == pytest.approx(0.05, abs=5e-4)
    at, robot_at = (metrics[f"fidelity.forearm_max_at_{clock}"] for clock in ("s", "robot_s"))
    assert robot_at == pytest.approx(START + 4.0 * at)


def test_a_run_that_falls_is_compared_until_it_ends(mahru, dancing, person):
    log, metrics = add_fidelity(
        make_log(dancing, end=START + 1.0), mahru, make_timeline(dancing), *followed(person)
    )
    assert metrics["fidelity.executed_fraction"] == pytest.approx(101 / 301)
    assert metrics["fidelity.forearm_max_rad"] == pytest.approx(0.0, abs=1e-9)
    seen = np.isfinite(log["direction_error"].values).all(axis=1)
    assert seen.sum() == 101
    assert seen[:101].all()
    points = {str(name): log["person_point"].sel(body_point=name).values for name in log["body_point"].values}
    np.testing.assert_allclose(points["head"], person.joints["head"])
    # It was not recorded.
    assert np.isnan(points["pelvis"]).all()


@pytest.mark.parametrize("end", [0.01, 1.0, START + 0.01])
def test_a_run_that_ends_before_the_motion_has_no_metrics(mahru, dancing, person, end):
    log = make_log(dancing, end=end)
    same, metrics = add_fidelity(log, mahru, make_timeline(dancing), *followed(person))
    assert metrics == {}
    assert not has_person(same)


def test_steps_are_compared_on_the_runs_clock(mahru, dancing, person):
    when, place, yaw = np.array([1.0]), np.array([[0.3, 0.0]]), np.zeros(1)
    steps = FollowedSteps(np.array([0]), when, place, yaw, when, place, yaw)
    log = make_log(dancing, landing=START + 1.0 + 0.06)
    _, metrics = add_fidelity(log, mahru, make_timeline(dancing, steps=steps), *followed(person))
    assert metrics["fidelity.steps_wanted"] == 1.0
    assert metrics["fidelity.steps_missed_count"] == 0.0
    assert metrics["fidelity.step_position_rms_m"] == pytest.approx(0.03)
    assert metrics["fidelity.step_time_rms_s"] == pytest.approx(0.06, abs=0.005)
    assert metrics["fidelity.step_heading_rms_rad"] == pytest.approx(0.0)
    for name in metrics:
        assert find_metric(name) is not None, name
    # A plan keeps its steps in the cache of plans.
    plan = Plan(make_timeline(dancing, steps=steps), {}, {}, None)
    read = decode_plan(encode_plan(plan)).timeline.steps
    np.testing.assert_array_equal(read.person_position, place)
    assert read.side.tolist() == [0]


ERRORS = {
    "fidelity.hand_mean_fraction": 0.05,
    "fidelity.hand_p95_fraction": 0.12,
    "fidelity.hand_max_fraction": 0.2,
    "fidelity.hand_max_at_s": 1.25,
    "fidelity.hand_max_at_robot_s": 4.5,
    "fidelity.trunk_mean_rad": np.radians(3.0),
    "fidelity.trunk_p95_rad": np.radians(6.0),
    "fidelity.trunk_max_rad": np.radians(9.0),
    "fidelity.trunk_max_at_s": 0.0,
    "fidelity.trunk_max_at_robot_s": 2.0,
    "fidelity.root_mean_m": 0.1,
    "fidelity.root_p95_m": 0.2,
    "fidelity.root_max_m": 0.3004,
    "fidelity.root_max_at_s": 2.0,
    "fidelity.root_max_at_robot_s": 5.0,
}
TEMPO = {
    "fidelity.duration_ratio": 1.5,
    "fidelity.stretch_max_ratio": 2.25,
    "fidelity.stretch_max_at_s": 0.4,
    "fidelity.position_limit_fraction": 0.25,
    "fidelity.speed_limit_fraction": 0.0,
    "fidelity.executed_fraction": 1.0,
}


def test_errors_are_in_percent_of_the_arm_degrees_and_millimetres():
    assert fidelity_rows(ERRORS) == [
        ("hand", "5.0", "12.0", "20.0", "% of arm", "1.25", "4.50"),
        ("trunk", "3.0", "6.0", "9.0", "°", "0.00", "2.00"),
        ("root", "100.0", "200.0", "300.4", "mm", "2.00", "5.00"),
    ]
    # What is not a number, as in a file that was changed, is not shown.
    broken = {**ERRORS, "fidelity.trunk_mean_rad": "x", "fidelity.root_p95_m": None}
    assert [row[0] for row in fidelity_rows(broken)] == ["hand"]


def test_there_is_no_row_and_no_line_of_a_run_without_a_person():
    assert fidelity_rows({"fell": False, "tracking.rms_rad": 0.01}) == []
    assert list(fidelity_lines({"fell": False})) == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "tempo      1.5 times as long as the person, at most 2.25 at 0.40 s"),
        ({"fidelity.stretch_max_ratio": 1.5}, "tempo      1.5 times as long as the person"),
        (
            {"fidelity.stretch_max_ratio": 1.5, "fidelity.lag_s": 0.0123},
            "tempo      1.5 times as long as the person; hands 12.3 ms late",
        ),
        ({"fidelity.duration_ratio": 1.0, "fidelity.stretch_max_ratio": 1.0}, "tempo      the person's"),
        (
            {"fidelity.stretch_max_ratio": 1.5, "fidelity.lag_s": -0.001},
            "tempo      1.5 times as long as the person; hands 1.0 ms early",
        ),
    ],
)
def test_tempo_says_where_it_is_slowest_and_how_late_the_hands_are(more, expected):
    lines = list(fidelity_lines({**TEMPO, **more}))
    assert lines[0] == expected
    assert (
        lines[1] == "limits     a joint is at a limit of its position 25% of the time, at its speed limit 0%"
    )
    assert len(lines) == 2


def test_an_early_end_and_the_steps_have_lines():
    steps = {
        "fidelity.executed_fraction": 0.5,
        "fidelity.steps_wanted": 8.0,
        "fidelity.steps_missed_count": 1.0,
        "fidelity.step_position_rms_m": 0.021,
        "fidelity.step_time_rms_s": 0.05,
        "fidelity.step_heading_rms_rad": np.radians(2.5),
    }
    lines = list(fidelity_lines({**TEMPO, **steps}))
    assert lines[2] == "ended      after 50% of the recording; the rest is not compared"
    assert lines[3] == "steps      7 of the person's 8; RMS 21 mm, 0.050 s and 2.5° off"
    lost = dict.fromkeys([name for name in steps if "_rms_" in name])
    assert list(fidelity_lines({**TEMPO, **steps, **lost}))[3] == "steps      7 of the person's 8"


def test_the_report_has_a_section_of_a_run_that_follows_a_person_and_of_no_other(drawer_run, tmp_path):
    shutil.copytree(drawer_run(), tmp_path / "a")
    # What is shown of a report beside its metrics and its scene is that of the drawer.
    (report,) = read_reports([tmp_path / "a"], lambda *_: None)
    empty = replace(report, metrics={"fell": False}, checks=(), plots=[])
    assert "What is left of the person" not in report_page([empty], tmp_path)
    followed = replace(empty, folder=tmp_path / "b", metrics={**ERRORS, **TEMPO})
    page = report_page([followed], tmp_path)
    section = page[page.index("<h2>What is left of the person</h2>") :]
    assert "<td>3.0</td><td>6.0</td><td>9.0</td><td>°</td>" in section
    assert "tempo 1.5 times as long as the person, at most 2.25 at 0.40 s<br>limits" in section
    both = report_page([empty, followed], tmp_path)
    assert both.count("<h2>What is left of the person in b</h2>") == 1
