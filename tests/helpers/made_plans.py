"""Small plans for tests of their files and of the cache."""

import numpy as np

from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.runs.run_plan import Plan


def make_plan(seed=0, samples=40):
    """Make a plan of random numbers."""
    rng = np.random.default_rng(seed)
    sides = ("left", "right")
    hands = HandPlan(
        {side: rng.random(9) for side in sides},
        {side: rng.random(9) > 0.5 for side in sides},
        {side: rng.random(9) for side in sides},
        {side: rng.random((9, 4, 4)) for side in sides},
        {side: rng.random((9, 4, 4)) for side in sides},
        {"left": None, "right": np.array([0.0, 1.0, 0.0])},
    )
    joints = [np.asfortranarray(rng.random((samples, 3))), *(rng.random((samples, 3)) for _ in range(3))]
    reference = Reference(*joints, rng.random((samples, 2)) > 0.5)
    timeline = Timeline(reference, rng.random(7), 0.5, np.arange(9.0), hands, rng.random((samples, 7)))
    metrics = {"retarget.slow_down": 1.0 / 3.0, "retarget.hand_max_m": float("nan")}
    return Plan(timeline, metrics, {"drawer": rng.random((9, 1))}, np.array([[0, 4], [4, 8]]), ("one",))
