"""Fixtures of a person in closed form, and of what markers on the person record."""

import pytest
from marker_people import MARKER_SETS, make_body, record_markers


@pytest.fixture(scope="session")
def make_person():
    return make_body


@pytest.fixture(scope="session")
def person():
    return make_body()


@pytest.fixture(scope="session")
def make_markers():
    return lambda body, name: MARKER_SETS[name](body)


@pytest.fixture(scope="session")
def make_recording():
    return record_markers
