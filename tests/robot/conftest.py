import pytest

from simbench.robot.robot import Robot, load_robot


@pytest.fixture(scope="session")
def romeo() -> Robot:
    return load_robot("romeo")
