"""Mahru, dancing, and a person who does the same."""

import followed_person
import pytest

from simbench.robot.robot import load_robot


@pytest.fixture(scope="session")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="session")
def dancing(mahru):
    return followed_person.dancing_robot(mahru)


@pytest.fixture(scope="session")
def person(mahru, dancing):
    return followed_person.dancing_person(mahru, dancing)
