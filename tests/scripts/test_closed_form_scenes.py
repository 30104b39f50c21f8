"""Scenes with a closed form in both engines."""

import pytest
from script_modules import loaded_script

from simbench.sim.engine import ENGINES, is_installed

with loaded_script("studies/closed_form_scenes.py") as module:
    SCENES = module.SCENES

STEP = 1e-3

BOUNDS = {
    "height after 0.5 s of fall": {"bullet": 2.6e-3, "mujoco": 2.6e-3},
    "distance of a block that slides to rest": {"bullet": 1e-5, "mujoco": 3e-5},
    "speed of a block after an oblique landing": {"bullet": 1e-2, "mujoco": 1e-2},
    "its bounce": {"bullet": 1e-9, "mujoco": 8e-4},
    "period of a pendulum": {"bullet": 1e-6, "mujoco": 1e-6},
    "amplitude after three periods": {"bullet": 3e-6, "mujoco": 3e-6},
    "precession of a spinning body": {"bullet": 2e-4, "mujoco": 2e-4},
    "its angle with its momentum": {"bullet": 4e-4, "mujoco": 4e-4},
    "Ixx by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "Iyy by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "Izz by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "way of a block at 98% of break-away": {"bullet": 2e-7, "mujoco": 3e-6},
    "way of a block at 102% of break-away": {"bullet": 4e-5, "mujoco": 4e-5},
    "way of a joint at 98% of break-away": {"bullet": 1e-12, "mujoco": 1e-6},
    "way of a joint at 102% of break-away": {"bullet": 3e-5, "mujoco": 3e-5},
}
"""Largest error at a step of 1 ms, in the unit of the quantity.

Semi-implicit Euler falls g t dt / 2 too far. MuJoCo's friction creeps, as its constraints give way
a little; what lands obliquely bounces a little, as its friction takes a part of sliding for parting."""


@pytest.fixture(params=[name for name in sorted(ENGINES) if is_installed(name)])
def engine(request):
    return request.param


def results_of(scene: str, engine: str, timestep: float):
    return SCENES[scene](engine, timestep)


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_engines_follow_closed_forms(engine, scene):
    for result in results_of(scene, engine, STEP):
        assert result.error <= BOUNDS[result.quantity][engine], result


@pytest.mark.parametrize(
    ("scene", "order"),
    [("free fall", 1), ("pendulum", 2), ("spinning body", 1), ("break-away of a joint", 1)],
)
def test_errors_shrink_with_the_time_step(engine, scene, order):
    """Half the step is half the error, or a quarter of it where the scheme is of second order."""
    coarse, fine = (results_of(scene, engine, step) for step in (STEP, 0.5 * STEP))
    for before, after in zip(coarse, fine, strict=True):
        assert after.error <= 1.15 * 0.5**order * before.error + 1e-12, (before, after)
