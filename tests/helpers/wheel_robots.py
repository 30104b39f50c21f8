"""Tests with robots whose URDFs are in the wheel example-robot-data are skipped where it is not installed."""

from functools import cache

import pytest

from simbench.robot.description import read_description
from simbench.robot.packages import find_missing_package, shipped_robots


@cache
def missing(name: str) -> str | None:
    """Package that a robot that ships with simbench lacks."""
    return find_missing_package(read_description(shipped_robots()[name]).urdf)


def robot_parameters(*names: str):
    """Names of robots as parameters of a test, by default all that ship; skipped without their package."""
    return [
        pytest.param(name, marks=pytest.mark.skipif(bool(missing(name)), reason=f"needs {missing(name)}"))
        for name in names or shipped_robots()
    ]
