"""Mahru as a matched body, and the targets of a person who walks."""

import pytest

from simbench.motion.readers import read_motion
from simbench.options import RetargetSection
from simbench.retargeting.imitate.problem import ImitationProblem, find_targets
from simbench.retargeting.match.body import match_body
from simbench.robot.robot import load_robot


@pytest.fixture(scope="session")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="session")
def walking():
    return read_motion("deepmimic:humanoid3d_walk")


@pytest.fixture(scope="session")
def walk_problem(mahru, walking):
    body = match_body(mahru)
    return ImitationProblem(body, find_targets(body, walking), RetargetSection())
