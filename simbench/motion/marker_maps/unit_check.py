"""Whether a recording's unit of length is what it is said to be: only human arms count."""

from collections.abc import Callable, Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS
from simbench.robot.sides import SIDES

# Shoulder to wrist, m: from a child of two years to a giant. Units differ by a factor of two or more.
ARM_LENGTHS = (0.27, 0.85)


def arm_length(joints: Mapping[str, Array]) -> float:
    """Median length of an arm from shoulder over elbow to wrist, m."""
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
    """Find the unit in which the arms are human.

    Parameters
    ----------
    length_in : callable
        From a unit to the length of an arm in it, m.
    source : str
        For messages.

    Returns
    -------
    str
        A key of `UNITS`.

    Raises
    ------
    MotionError
        There is none, or more than one.
    """
    fitting = _fitting_units(length_in)
    if len(fitting) != 1:
        found = f"human arms would be in {' or '.join(fitting)}" if fitting else "none makes the arms human"
        raise MotionError(
            f"{source}: no unit is declared, and {found}; declare it (--unit), one of {', '.join(UNITS)}"
        )
    return next(iter(fitting))


def check_unit(length_in: Callable[[str], float], unit: str, source: str) -> None:
    """Refuse arms that are human only in another unit.

    Parameters
    ----------
    length_in : callable
        From a unit to the length of an arm in it, m: not just in proportion, for a map may hold lengths.
    unit : str
        The unit that was taken.
    source : str
        For messages.

    Raises
    ------
    MotionError
        The length is not human; the message names the units that would make it so.
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
    low, high = ARM_LENGTHS
    lengths = {name: length_in(name) for name in UNITS}
    return {name: length for name, length in lengths.items() if low <= length <= high}
