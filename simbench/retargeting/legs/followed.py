"""The steps that a robot is to follow, beside those that are planned, for the measures of a run."""

import numpy as np

from simbench.retargeting.legs.footsteps import FootstepPlan, TimedStep
from simbench.retargeting.motion_fidelity import FollowedSteps


def followed_steps(
    wanted: FootstepPlan, planned: FootstepPlan, duration: float, heading: float
) -> FollowedSteps:
    """Set the person's footsteps beside the planned ones.

    Parameters
    ----------
    wanted : FootstepPlan
        The person's footsteps, scaled.
    planned : FootstepPlan
        Planned footsteps, the same number in the same order.
    duration : float
        Duration of the recording, s.
    heading : float
        Direction of the recording's x axis in the world frame of the run, rad.

    Returns
    -------
    FollowedSteps
        Steps with which the person landed within the recording, by the time of the landing.
    """
    pairs = [
        (person, plan)
        for person, plan in zip(wanted.steps, planned.steps, strict=True)
        if person.recorded and person.landing <= duration
    ]
    pairs.sort(key=lambda pair: pair[0].landing)
    person, plan = ([pair[number] for pair in pairs] for number in (0, 1))

    def places(steps: list[TimedStep]) -> np.ndarray:
        return np.array([step.position for step in steps]).reshape(-1, 2)

    return FollowedSteps(
        np.array([step.foot for step in person], dtype=np.int64),
        np.array([step.landing for step in person]),
        places(person),
        np.array([step.yaw for step in person]),
        np.array([step.landing for step in plan]),
        places(plan),
        np.array([step.yaw for step in plan]),
        heading,
    )
