"""Recordings of the scaled model itself, and Mahru, dancing, with a person who does the same."""

import followed_person
import pytest
from performances import record_model

from simbench.robot.robot import load_robot


@pytest.fixture(scope="session")
def performed():
    """Record what motion capture would see of the scaled model itself moving by q (T, nq)."""
    return record_model


@pytest.fixture(scope="session")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="session")
def dancing(mahru):
    return followed_person.dancing_robot(mahru)


@pytest.fixture(scope="session")
def person(mahru, dancing):
    return followed_person.dancing_person(mahru, dancing)
