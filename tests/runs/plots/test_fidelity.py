"""The picture of a robot beside the person: what it shows, and which logs cannot be drawn."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from simbench.errors import RunError
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import load_robot
from simbench.runs.log_schema import require_person
from simbench.runs.plots import fidelity_plot
from simbench.runs.plots.fidelity_plot import (
    Comparison,
    centre_points,
    choose_moments,
    compare_logged,
    draw_comparison,
    draw_robot,
    frame_points,
    panel_size,
    project_line,
)

TIME = np.arange(61) / 30.0
BODY = ("left_hip", "left_knee", "left_ankle", "left_shoulder", "left_elbow", "left_wrist", "right_shoulder")


def points(swing=1.0, forward=0.0):
    """A body whose left wrist swings up and back twice, and that goes forward."""
    at = {name: np.tile([0.0, 0.1 * k, 0.2 * k], (len(TIME), 1)) for k, name in enumerate(BODY)}
    at["left_wrist"] = at["left_elbow"] + 0.3 * swing * np.column_stack(
        [np.sin(2.0 * np.pi * TIME), 0.0 * TIME, -np.cos(2.0 * np.pi * TIME)]
    )
    return {name: values + np.outer(TIME, [forward, 0.0, 0.0]) for name, values in at.items()}


def comparison(**changes):
    made = Comparison(
        "by hand",
        TIME,
        2.0 + 1.5 * TIME,
        points(),
        points(0.5, 1.0),
        {
            "left_forearm": 0.3 + 0.1 * np.sin(TIME),
            "right_forearm": np.full(len(TIME), 0.1),
            "head": 0.2 * TIME,
        },
        np.array([0, 15, 30, 60]),
    )
    return replace(made, **changes)


def test_moments_are_of_different_postures_and_of_the_whole_duration():
    moments = choose_moments(points(), TIME, 4)
    assert len(set(moments.tolist())) == 4
    assert (np.diff(moments) > 0).all()
    wrist = points()["left_wrist"][moments] - points()["left_elbow"][moments]
    assert np.ptp(wrist[:, 2]) > 0.55
    assert np.ptp(TIME[moments]) > 1.0
    # Where a body goes is no posture.
    np.testing.assert_array_equal(choose_moments(points(forward=2.0), TIME, 4), moments)
    assert choose_moments(points(), TIME, 100).tolist() == list(range(61))
    assert len(choose_moments(points(0.0), TIME, 3)) == 3


def test_a_body_that_walks_is_seen_at_the_same_distance():
    walking, still = points(forward=2.0), points()
    walking["left_ankle"] = np.full((61, 3), np.nan)
    still["left_ankle"] = walking["left_ankle"]
    for name, values in centre_points(walking).items():
        np.testing.assert_allclose(values, centre_points(still)[name], atol=1e-12)
        np.testing.assert_allclose(values[:, 2], still[name][:, 2])


def test_the_camera_follows_the_body_and_sees_it_from_the_front_left():
    walking = points(forward=2.0)
    first, last = frame_points(walking, np.array([0, 60]), (200, 250))
    assert first.distance_m == last.distance_m
    for moment, camera in ((0, first), (60, last)):
        seen = project_line(camera, np.array([values[moment] for values in walking.values()]))
        assert (seen > 0.0).all()
        assert (seen < [200, 250]).all()
        # Up is up, and the body's left is on the right of the picture.
        up, left, ahead = (
            np.diff(
                project_line(camera, walking["left_hip"][moment] + np.array([np.zeros(3), step])), axis=0
            )[0]
            for step in np.eye(3)[[2, 1, 0]] * 0.1
        )
        assert up[1] < -1.0
        assert left[0] > 1.0
        assert ahead[0] < -1.0
    hidden = np.array([[0.0, 0.0, 1.0], [np.nan, 0.0, 0.0]])
    assert project_line(first, hidden).shape == (1, 2)


def test_the_picture_has_a_panel_for_each_moment_of_both(tmp_path):
    width, height = panel_size(4)
    # A colour that nothing else has.
    drawn = [np.full((height, width, 3), (10, 200, 90), np.uint8)] * 4
    path = tmp_path / "c.png"
    draw_comparison(comparison(pictures=drawn), path)
    image = np.asarray(Image.open(path).convert("RGB")).astype(int)
    green = np.abs(image - (10, 200, 90)).max(axis=2) < 8
    assert image.shape[1] == 1200
    assert green.sum() > 0.97 * 4 * width * height
    assert [entry.name for entry in tmp_path.iterdir()] == ["c.png"]
    # The second clock takes room.
    draw_comparison(comparison(robot_time=TIME), tmp_path / "same.png")
    assert Image.open(tmp_path / "same.png").size[1] < image.shape[0]


def test_a_robot_is_drawn_at_the_moments_turned_back_and_in_the_middle(mahru_standing, monkeypatch):
    robot, trajectory, heading = mahru_standing
    drawn = []

    def draw_views(*given):
        drawn.append(given)
        return ["picture"], "OpenGL"

    monkeypatch.setattr(fidelity_plot, "draw_views", draw_views)
    assert draw_robot(robot, trajectory, heading, np.array([1]), (120, 160)) == ["picture"]
    ((shown, frames, indices, (camera,)),) = drawn
    assert shown is robot
    assert list(indices) == [0]
    np.testing.assert_allclose(frames.base, [[0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0]], atol=1e-12)
    np.testing.assert_array_equal(frames.joints, trajectory.q[[1]])
    assert (camera.width, camera.height, camera.yaw_deg) == (120, 160, fidelity_plot.YAW)
    x, y = project_line(camera, frames.base[:, :3])[0]
    assert abs(x - 60.0) < 10.0
    assert 0.0 < y < 160.0


def test_where_no_renderer_works_there_are_no_pictures(mahru_standing, monkeypatch):
    def fail(*given):
        raise RunError("no renderer")

    monkeypatch.setattr(fidelity_plot, "draw_views", fail)
    assert draw_robot(*mahru_standing, np.array([0]), (120, 160)) is None


@pytest.fixture(scope="module")
def mahru_standing():
    """Mahru, standing; at the second sample half a metre farther in its heading."""
    robot, heading = load_robot("mahru"), 1.2
    base = np.tile([0.0, 0.0, 0.7, 0.0, 0.0, np.sin(0.6), np.cos(0.6)], (2, 1))
    base[1, :2] = 0.5 * np.cos(heading), 0.5 * np.sin(heading)
    q = np.tile(robot.postures["standing"], (2, 1))
    return robot, JointTrajectory(np.array([0.0, 1.0]), q, robot.joint_names, base), heading


def make_log(**changes):
    person, robot = (np.stack(list(each.values()), axis=1) for each in (points(), points(0.5)))
    robot[40:] = np.nan
    person[:, 2] = np.nan
    errors = np.zeros((len(TIME), 1))
    errors[40:] = np.nan
    data = {
        "recording_time": (("recording",), TIME),
        "recording_robot_time": (("recording",), 2.0 + TIME),
        "direction_error": (("recording", "limb"), errors),
        "person_point": (("recording", "body_point", "xyz"), person),
        "robot_point": (("recording", "body_point", "xyz"), robot),
        **changes,
    }
    labels = {"limb": ["left_forearm"], "body_point": list(BODY)}
    return xr.Dataset(data, coords=labels)


def test_a_run_that_ended_early_is_drawn_as_far_as_it_went(tmp_path):
    log = make_log()
    require_person(log, tmp_path)
    shown = compare_logged(log, "early")
    # An ankle that was not recorded is no point of the person.
    assert "left_ankle" not in shown.person
    assert "left_ankle" in shown.robot
    assert shown.moments.max() > 40
    draw_comparison(shown, tmp_path / "early.png")
    assert Image.open(tmp_path / "early.png").size[0] == 1200


@pytest.mark.parametrize(
    "changes",
    [
        {"recording_time": (("recording",), np.zeros(61))},
        {"recording_robot_time": (("recording",), np.full(61, np.nan))},
        {"person_point": (("recording", "body_point", "xyz"), np.full((61, 7, 3), np.nan))},
        {"robot_point": (("recording", "body_point", "xyz"), np.full((61, 7, 3), np.inf))},
    ],
)
def test_a_person_that_cannot_be_drawn_is_refused_in_one_line(tmp_path, changes):
    with pytest.raises(RunError):
        require_person(make_log(**changes), tmp_path)


def test_a_log_without_a_part_of_the_person_is_refused(tmp_path):
    with pytest.raises(RunError):
        require_person(make_log().drop_vars("direction_error"), tmp_path)
