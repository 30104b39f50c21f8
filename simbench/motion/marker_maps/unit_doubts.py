"""Whether a recording's unit of length is what it is said to be: only human arms count."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.anatomy import SIDES
from simbench.motion.readers.options import UNITS

Array = NDArray[np.float64]

# Shoulder to wrist, m: from a child of two years to a giant. Units differ by a factor of two or more.
ARM_LENGTHS = (0.27, 0.85)


def arm_length(joints: Mapping[str, Array]) -> float:
    """Median length of an arm from shoulder over elbow to wrist, in the unit of the joints."""
    arms = [
        sum(
            float(np.median(np.linalg.norm(joints[f"{side}_{b}"] - joints[f"{side}_{a}"], axis=1)))
            for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))
        )
        for side in SIDES
        if all(f"{side}_{joint}" in joints for joint in ("shoulder", "elbow", "wrist"))
    ]
    return float(np.mean(arms))


def detect_unit(length: float, source: str) -> str:
    """Find the unit in which an arm of this length is human.

    Raises
    ------
    MotionError
        There is none, or more than one.
    """
    fitting = _fitting_units(length)
    if len(fitting) != 1:
        found = f"it could be {' or '.join(fitting)}" if fitting else "no unit makes it human"
        raise MotionError(
            f"{source}: the file declares no unit, and an arm is {length:.4g} units long: {found}; "
            f"declare it (--unit), one of {', '.join(UNITS)}"
        )
    return fitting[0]


def check_unit(length: float, unit_name: str, source: str) -> None:
    """Refuse arms that are human only in another unit.

    Parameters
    ----------
    length : float
        Of an arm, m, if the unit is right.
    unit_name : str
        The unit that was taken.
    source : str
        For messages.

    Raises
    ------
    MotionError
        The length is not human; the message names the units that would make it so.
    """
    low, high = ARM_LENGTHS
    if low <= length <= high:
        return
    in_file = length / UNITS[unit_name]
    better = [f"{in_file * UNITS[name]:.3f} m in {name}" for name in _fitting_units(in_file)]
    advice = (
        f"it would be {' or '.join(better)}: declare that unit (--unit)"
        if better
        else f"no known unit ({', '.join(UNITS)}) makes it human"
    )
    raise MotionError(
        f"{source}: an arm is {length:.4g} m long from shoulder to wrist with lengths in {unit_name}; human "
        f"arms are {low} to {high} m; {advice}"
    )


def _fitting_units(length: float) -> list[str]:
    low, high = ARM_LENGTHS
    return [name for name, metres in UNITS.items() if low <= length * metres <= high]
