import numpy as np
import pytest
from robot_walks import make_walks
from wheel_robots import robot_parameters

from simbench import load_robot


@pytest.fixture(scope="session", params=robot_parameters("g1"))
def g1(request):
    return load_robot(request.param)


@pytest.fixture(scope="session")
def walk(g1):
    """Two seconds of a walk at 30 Hz with a heading of 2 rad."""
    walks = make_walks(g1, 1, rng=np.random.default_rng(5), heading=2.0)
    return walks.trajectory(g1)


@pytest.fixture(scope="session")
def body(g1):
    """Indices of the 29 joints that are not those of the fingers."""
    return [k for k, name in enumerate(g1.joint_names) if "_hand_" not in name]
