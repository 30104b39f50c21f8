"""Check or detection of a recording's unit of length: in the right unit the arms have human length."""

from collections.abc import Callable, Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS
from simbench.robot.sides import SIDES

# Allowed length from shoulder to wrist, m: from a child of two years to a giant. Units differ by a factor of
# two or more.
ARM_LENGTHS = (0.27, 0.85)


def measure_arm_length(joints: Mapping[str, Array]) -> float:
    """Measure the length of an arm from shoulder over elbow to wrist.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres, m, with at least one complete arm.

    Returns
    -------
    float
        Sum of the median lengths of upper arm and forearm, m; mean of both arms if both are complete.
    """
    arms = [
        sum(
            float(np.median(np.linalg.norm(joints[f"{side}_{b}"] - joints[f"{side}_{a}"], axis=1)))
            for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))
        )
        for side in SIDES
        if all(f"{side}_{joint}" in joints for joint in ("shoulder", "elbow", "wrist"))
    ]
    return float(np.mean(arms))


def detect_unit(length_in: Callable[[str], float], source: str) -> str:
    """Find the unit in which the arms have human length.

    Parameters
    ----------
    length_in : callable
        Function from a unit, a key of `UNITS`, to the length of an arm if positions are in that unit, m.
    source : str
        Name of the recording, for messages.

    Returns
    -------
    str
        Name of the unit, a key of `UNITS`.

    Raises
    ------
    MotionError
        There is no such unit, or more than one.
    """
    fitting = _fitting_units(length_in)
    if len(fitting) != 1:
        found = f"human arms would be in {' or '.join(fitting)}" if fitting else "none makes the arms human"
        raise MotionError(
            f"{source}: no unit is declared, and {found}; declare it (--unit), one of {', '.join(UNITS)}"
        )
    return next(iter(fitting))


def check_unit(length_in: Callable[[str], float], unit: str, source: str) -> None:
    """Refuse a unit in which the arms do not have human length.

    Parameters
    ----------
    length_in : callable
        Function from a unit, a key of `UNITS`, to the length of an arm if positions are in that unit, m. It
        is not just proportional to the unit, because a marker map may contain lengths in metres.
    unit : str
        The unit to check, a key of `UNITS`.
    source : str
        Name of the recording, for messages.

    Raises
    ------
    MotionError
        The length is not human; the message names the units in which it would be.
    """
    low, high = ARM_LENGTHS
    length = length_in(unit)
    if low <= length <= high:
        return
    better = [f"{metres:.3f} m in {name}" for name, metres in _fitting_units(length_in).items()]
    advice = (
        f"it would be {' or '.join(better)}: declare that unit (--unit)"
        if better
        else f"no known unit ({', '.join(UNITS)}) makes it human"
    )
    raise MotionError(
        f"{source}: an arm is {length:.4g} m long from shoulder to wrist with lengths in {unit}; human arms "
        f"are {low} to {high} m; {advice}"
    )


def _fitting_units(length_in: Callable[[str], float]) -> dict[str, float]:
    """Find the units in which the arms have human length, and that length, m."""
    low, high = ARM_LENGTHS
    lengths = {name: length_in(name) for name in UNITS}
    return {name: length for name, length in lengths.items() if low <= length <= high}
