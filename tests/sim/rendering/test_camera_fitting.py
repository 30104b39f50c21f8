"""The camera of a scenario that does not place it."""

import dataclasses

import numpy as np
import pytest

from simbench.options import CameraSection
from simbench.robot.robot import load_robot
from simbench.sim.rendering.portrait import fit_camera
from simbench.sim.rendering.scene_view import Camera, project


def scaled(robot, factor):
    """The same robot with all its lengths multiplied."""
    model = robot.model.copy()
    for joint in range(1, model.njoints):
        placement = model.jointPlacements[joint].copy()
        placement.translation = factor * placement.translation
        model.jointPlacements[joint] = placement
    for frame in model.frames:
        placement = frame.placement.copy()
        placement.translation = factor * placement.translation
        frame.placement = placement
    return dataclasses.replace(robot, model=model)


@pytest.mark.parametrize("name", ["romeo", "mahru"])
def test_robots_of_a_persons_height_get_the_same_camera(name):
    robot = load_robot(name)
    camera = fit_camera(robot, robot.postures["standing"], CameraSection())
    assert camera.target_m == (0.1, 0.0, 0.75)
    assert camera.distance_m == 2.2


@pytest.mark.parametrize("factor", [0.2, 2.0])
def test_a_small_or_large_robot_is_as_large_in_the_picture(romeo, factor):
    posture = romeo.postures["standing"]
    camera = fit_camera(scaled(romeo, factor), posture, CameraSection())
    assert camera.distance_m == pytest.approx(2.2 * factor, rel=0.05)
    np.testing.assert_allclose(camera.target_m, np.multiply(factor, (0.1, 0.0, 0.75)), rtol=0.05, atol=1e-9)


def test_what_is_given_stays(romeo):
    given = CameraSection(target_m=(1.0, 2.0, 3.0), distance_m=4.0)
    assert fit_camera(scaled(romeo, 0.2), None, given) == given


def test_an_arm_gets_the_usual_camera():
    camera = fit_camera(load_robot("puma560"), None, CameraSection())
    assert (camera.target_m, camera.distance_m) == ((0.1, 0.0, 0.75), 2.2)


@pytest.mark.parametrize("yaw", [0.0, 50.0, 200.0])
def test_all_of_a_way_is_in_the_picture(romeo, yaw):
    path = np.column_stack([np.linspace(0.0, 6.0, 50), np.linspace(0.0, -2.0, 50) ** 2])
    section = fit_camera(romeo, romeo.postures["standing"], CameraSection(yaw_deg=yaw), path)
    fields = ("target_m", "distance_m", "yaw_deg", "pitch_deg", "fov_deg", "width", "height", "fps")
    camera = Camera(**{name: getattr(section, name) for name in fields})
    for height in (0.0, 1.4):
        pixels = project(camera, np.column_stack([path, np.full(50, height)]))
        assert (pixels > 0.0).all()
        assert (pixels < [camera.width, camera.height]).all()


def test_a_robot_that_stays_has_the_usual_camera(romeo):
    path = np.array([[0.0, 0.0], [0.1, 0.2]])
    given = CameraSection()
    assert fit_camera(romeo, None, given, path) == fit_camera(romeo, None, given)
