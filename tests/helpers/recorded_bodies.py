"""One recording prepared for laws, and random states of its body."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simbench.motion.actors.session import perform_in_session
from simbench.skills.law_motion import observe
from simbench.skills.task_motion import TaskMotion, prepare_romeo_motion

SEED = 2018


@pytest.fixture(scope="session")
def pump_motion(made_once: Callable[[str, Callable[[], Any]], Any]):
    return made_once("pump-performance", lambda: perform_in_session(SEED, 2, "pump").motion)


@pytest.fixture(scope="session")
def whole_body(pump_motion) -> TaskMotion:
    """All 21 coordinates are the law's; the two first repetitions."""
    return prepare_romeo_motion(pump_motion, span=(3.4, 8.0), given=(), gain=1e-3)


@pytest.fixture(scope="session")
def arms(pump_motion) -> TaskMotion:
    """Trunk yaw and arms are the law's; the same repetitions."""
    return prepare_romeo_motion(pump_motion, span=(3.4, 8.0))


@pytest.fixture(scope="session")
def states(whole_body):
    """States along the motion, away from it, and twists of the hands."""
    rng = np.random.default_rng(5)
    body, constants = whole_body.body, whole_body.constants
    found = []
    for t in (0, 100, 300):
        q = whole_body.imitated[t] + rng.normal(0.0, 0.2, len(whole_body.names))
        found.append((q, observe(body, constants, q), rng.normal(0.0, 0.3, 12)))
    return found
