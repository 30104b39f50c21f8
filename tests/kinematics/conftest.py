import pytest

from simbench.retargeting.imitation.scaling import upper_body
from simbench.robot.robot import load_robot


@pytest.fixture(scope="session")
def upper_romeo():
    return upper_body(load_robot("romeo"))


@pytest.fixture(scope="session")
def puma_model():
    return load_robot("puma560").model
