"""Which way a metric is worse, and how far it may be from its baseline: by the words and unit in its name.

What rounding does was measured: eleven scenarios, each run again with the robot 1e-12 m and 1e-12 rad
elsewhere. Most metrics moved by less than a millionth of themselves; by up to 0.8 %, which `RELATIVE` is
above, where hands hold a handle. The absolute tolerances are for numbers next to zero. What is chaotic, such
as the peak force of an impact or how a robot falls, moved by 10 % and more, which a table could only allow by
being blind elsewhere: that spread is measured for every scenario and kept in its baseline.
"""

from fnmatch import fnmatchcase
from typing import Literal

Better = Literal["lower", "higher", "same", "ignored"]
"""Whether less of a metric is better, or more, or neither and any change counts, or none does."""

RELATIVE = 0.01
"""Part of the baseline's value that a metric may be away from it."""

SPREADS = 5.0
"""How many times as far as rounding was seen to move a metric it may be away from its baseline."""

# The first pattern that fits counts; a metric that none fits is to stay the same.
BETTER: tuple[tuple[str, Better], ...] = (
    ("timing.*", "ignored"),
    ("*margin*", "higher"),
    ("*.inside_fraction", "higher"),
    ("*.held_fraction", "higher"),
    ("push.survived_*", "higher"),
    ("push.rest_s", "lower"),
    ("fell", "lower"),
    ("*.gave_up", "lower"),
    ("*.lost", "lower"),
    ("contact.*_count", "lower"),
    ("retarget.slow_down", "lower"),
    ("*interference_count", "lower"),
    ("*violation*", "lower"),
    ("*saturated_fraction", "lower"),
    ("*error*", "lower"),
    ("*difference*", "lower"),
    ("tracking.*", "lower"),
    ("imitation.*", "lower"),
    ("retarget.hand_*", "lower"),
    ("retarget.similarity", "lower"),
    ("hands.*", "lower"),
    ("cog.rms_m", "lower"),
    ("zmp.rms_m", "lower"),
    ("seat.slip_m", "lower"),
    ("seat.tilt_rad", "lower"),
)

# The first ending that fits counts: `_rad_s` is not `_s`.
ABSOLUTE: tuple[tuple[str, float], ...] = (
    ("_count", 0.0),
    ("_fraction", 1e-3),
    ("_ratio", 1e-3),
    ("_rad_s", 1e-3),
    ("_m_s", 1e-3),
    ("_rad", 2e-6),
    ("_nm", 1e-2),
    ("_ns", 1e-2),
    ("_kg", 1e-3),
    ("_m", 1e-5),
    ("_n", 0.1),
    # Two samples of a log at 200 Hz.
    ("_s", 1e-2),
)
"""By the unit that a name ends in, in that unit; without any, zero."""


def metric_direction(name: str) -> Better:
    """Find which way a metric is better.

    Parameters
    ----------
    name : str
        `group.name_unit`.

    Returns
    -------
    str
        `lower`, `higher`, `same` or `ignored`.
    """
    return next((way for pattern, way in BETTER if fnmatchcase(name, pattern)), "same")


def usual_tolerance(name: str, value: float) -> float:
    """Find how far a metric may be from its baseline where rounding alone moves it less.

    Parameters
    ----------
    name : str
        `group.name_unit`.
    value : float
        Of the baseline, in the metric's unit.

    Returns
    -------
    float
        In the metric's unit.
    """
    absolute = next((least for ending, least in ABSOLUTE if name.endswith(ending)), 0.0)
    return max(absolute, RELATIVE * abs(value))
