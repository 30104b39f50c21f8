"""The camera of a scenario that does not place it."""

import dataclasses

import numpy as np
import pytest

from simbench.options import CameraSection
from simbench.robot.robot import load_robot
from simbench.sim.camera_fitting import fit_camera


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
