"""Sections of the robots, their roles, and what is refused."""

import pytest

from simbench.balance.sections import Role, assign, limb_sections
from simbench.errors import BalanceError
from simbench.robot.robot import load_robot

LEGS = ("left_leg", "right_leg")
STEPPING = {"left_leg": Role.BASE, "right_leg": Role.C_BUSY}


@pytest.fixture(scope="module")
def robots():
    return {name: load_robot(name) for name in ("mahru", "romeo")}


def test_sections_are_the_robots_limbs(robots):
    for robot in robots.values():
        sections = limb_sections(robot)
        assert [section.name for section in sections[:2]] == list(LEGS)
        assert {section.name for section in sections} == set(robot.groups)
        for section in sections:
            joints = [robot.model.names[1 + column - 5] for column in section.columns]
            assert joints == list(robot.groups[section.name])
        assert [s.name for s in sections if s.frame >= 0] == [*LEGS, "left_arm", "right_arm"]
        assert robot.model.frames[sections[1].frame].name == robot.frames["right_foot"]
        assert sorted(column for s in sections for column in s.columns) == list(range(6, robot.model.nv))


@pytest.mark.parametrize(
    ("roles", "contacts", "message"),
    [
        (
            STEPPING,
            ["right_leg"],
            r"^base section left_leg has no contact with the ground; allowed: right_leg$",
        ),
        ({}, LEGS, r"^base sections: none; it has to be one; allowed: left_leg, right_leg$"),
        (dict.fromkeys(LEGS, Role.BASE), LEGS, r"^base sections: left_leg, right_leg; it has to be one"),
        (
            {"trunk": Role.BASE},
            ["trunk"],
            r"^base section trunk has 1 joints and no end; allowed: .* 6 joints$",
        ),
        (STEPPING | {"tail": Role.HELD}, LEGS, r"^unknown section tail; allowed: left_leg, right_leg, "),
    ],
)
def test_roles_that_cannot_be_are_refused(robots, roles, contacts, message):
    robot = robots["mahru"]
    with pytest.raises(BalanceError, match=message):
        assign(robot.model, limb_sections(robot), roles, contacts)
