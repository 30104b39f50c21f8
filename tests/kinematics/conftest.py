import pytest

from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import upper_body


@pytest.fixture(scope="session")
def upper_romeo():
    return upper_body(load_robot("romeo"))


@pytest.fixture(scope="session")
def puma_model():
    return load_robot("puma560").model
