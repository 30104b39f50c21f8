"""What may be chosen of a retargeting by name; without importing what retargets."""

from typing import get_args

from simbench.errors import RetargetError
from simbench.options import RETARGETING_METHODS, RetargetSection
from simbench.plugins.options import is_plugin

METHODS = RETARGETING_METHODS
TIMINGS: tuple[str, ...] = get_args(RetargetSection.model_fields["timing"].annotation)
KINEMATIC = "kinematic"
PHYSICS: tuple[str, ...] = (KINEMATIC, *get_args(RetargetSection.model_fields["physics"].annotation))
"""Levels of physics: the person's motion within the robot's limits; feet planted and balanced; steps too."""


def require_choices(method: str, timing: str, physics: str | None) -> None:
    """Refuse what cannot be chosen.

    Parameters
    ----------
    method : str
        Method of retargeting, one of `METHODS`, or a plug-in of group `simbench.retargeters`.
    timing : str
        What gives way where the person is faster than the robot, one of `TIMINGS`.
    physics : str or None
        Level of physics, one of `PHYSICS`; None for the one that fits robot and recording.

    Raises
    ------
    RetargetError
        If one of them is unknown, in one line that names those that there are.
    """
    if method not in METHODS and not is_plugin("retargeters", method, METHODS):
        raise RetargetError(f"unknown method `{method}`; allowed: {', '.join(METHODS)}")
    if timing not in TIMINGS:
        raise RetargetError(f"unknown timing `{timing}`; allowed: {', '.join(TIMINGS)}")
    if physics is not None and physics not in PHYSICS:
        raise RetargetError(f"unknown physics `{physics}`; allowed: {', '.join(PHYSICS)}")
    if physics == KINEMATIC and method != "bones":
        raise RetargetError(f"method `{method}`: of physics `stand` and `steps`; `kinematic` has bones only")
    if physics == KINEMATIC and timing not in ("auto", "preserve"):
        raise RetargetError(
            f"timing `{timing}`: physics `kinematic` keeps the recorded clock; allowed: auto, preserve"
        )
