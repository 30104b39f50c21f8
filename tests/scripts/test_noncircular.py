"""Motions that are made by something else than the law that reads them."""

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.motion.actors.session import perform_in_session
from simbench.skills.anatomical_motion import prepare_motion
from simbench.skills.inverse_optimal_control import make_fitness

WEIGHTS = np.array([0.8, 0.15, 0.0, 0.05])


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/noncircular.py") as module:
        yield module


@pytest.fixture(scope="module")
def knife():
    return prepare_motion(perform_in_session(2018, 3, "knife").motion, span=(4.0, 4.5))


def test_only_the_law_reads_its_own_motion_without_error(script, knife):
    errors = {}
    for name, generate in script.GENERATORS.items():
        made = generate(knife, WEIGHTS, np.random.default_rng(1))
        errors[name] = make_fitness(made)(WEIGHTS)[0] / made.duration
        # The reader starts with the hands on their path, and shoulders and elbows near what it sees.
        placed = script.place_points(made, np.repeat(made.path.start[None], len(made.time), axis=0))
        assert np.abs(placed[0] - made.path.points[0]).max() < 0.05
    assert errors.pop("the law that reads it") < 1e-9
    assert min(errors.values()) > 1e-4
