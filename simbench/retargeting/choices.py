"""What may be chosen of a retargeting by name; without importing what retargets."""

from typing import get_args

from simbench.errors import RetargetError
from simbench.options import RETARGETING_METHODS, RetargetSection
from simbench.plugins.options import is_plugin

METHODS = RETARGETING_METHODS
TIMINGS: tuple[str, ...] = get_args(RetargetSection.model_fields["timing"].annotation)
LEGS: tuple[str, ...] = get_args(RetargetSection.model_fields["legs"].annotation)


def require_choices(method: str, timing: str, legs: str) -> None:
    """Refuse what cannot be chosen.

    Parameters
    ----------
    method : str
        Method of retargeting, one of `METHODS`, or a plug-in of group `simbench.retargeters`.
    timing : str
        What gives way where the person is faster than the robot, one of `TIMINGS`.
    legs : str
        What the legs do, one of `LEGS`.

    Raises
    ------
    RetargetError
        If one of them is unknown, in one line that names those that there are.
    """
    if method not in METHODS and not is_plugin("retargeters", method, METHODS):
        raise RetargetError(f"unknown method `{method}`; allowed: {', '.join(METHODS)}")
    if timing not in TIMINGS:
        raise RetargetError(f"unknown timing `{timing}`; allowed: {', '.join(TIMINGS)}")
    if legs not in LEGS:
        raise RetargetError(f"unknown legs `{legs}`; allowed: {', '.join(LEGS)}")
