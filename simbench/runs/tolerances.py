"""Direction in which a metric improves, and its tolerance, both by the words and the unit in its name.

The effect of rounding was measured on eleven scenarios, each run again with the robot moved by 1e-12 m and
1e-12 rad. Most metrics changed by less than a millionth of their value, where hands hold a handle by up to
0.8 %, for which `RELATIVE` leaves room. The absolute tolerances are for values near zero. Chaotic quantities,
such as the peak force of an impact or how a robot falls, changed by 10 % and more. A table could allow for
that only with tolerances that hide real changes elsewhere, so this spread is measured for every scenario and
kept in its baseline.
"""

from fnmatch import fnmatchcase
from typing import Literal

Better = Literal["lower", "higher", "same", "ignored"]
"""Direction in which a metric improves; for `same` every change counts as worse, for `ignored` none does."""

RELATIVE = 0.01
"""Allowed difference from the baseline as a fraction of its value."""

SPREADS = 5.0
"""Allowed difference from the baseline as a multiple of what rounding was seen to cause."""

# The first matching pattern counts; a metric without one must stay the same.
BETTER: tuple[tuple[str, Better], ...] = (
    ("timing.*", "ignored"),
    # Which of two nearly equal errors is the largest is chance.
    ("follow.scale", "higher"),
    ("follow.changed_step_count", "lower"),
    ("follow.*_count", "same"),
    ("follow.*", "lower"),
    ("fidelity.*_at_s", "ignored"),
    ("fidelity.*_at_robot_s", "ignored"),
    ("fidelity.executed_fraction", "higher"),
    ("fidelity.steps_wanted", "same"),
    ("fidelity.steps_landed", "same"),
    ("fidelity.lag_s", "same"),
    ("fidelity.*", "lower"),
    ("*margin*", "higher"),
    ("*.inside_fraction", "higher"),
    ("*.held_fraction", "higher"),
    ("*.contact_agreement_fraction", "higher"),
    ("push.survived_*", "higher"),
    ("push.rest_s", "lower"),
    ("simulation.diverged_s", "higher"),
    ("fell", "lower"),
    ("*.gave_up", "lower"),
    ("*.lost", "lower"),
    ("contact.*_count", "lower"),
    ("steps.missed_count", "lower"),
    ("retarget.slow_down*", "lower"),
    ("retarget.stretched_fraction", "lower"),
    ("retarget.tempo_*", "lower"),
    ("retarget.amplitude_lost_*", "lower"),
    ("*interference_count", "lower"),
    ("*violation*", "lower"),
    ("*saturated_fraction", "lower"),
    ("*error*", "lower"),
    ("*difference*", "lower"),
    ("tracking.*", "lower"),
    ("imitation.*", "lower"),
    ("retarget.hand_*", "lower"),
    ("retarget.robot_*", "lower"),
    ("motion.doubt_count", "lower"),
    ("retarget.similarity", "lower"),
    ("hands.*", "lower"),
    ("cog.rms_m", "lower"),
    ("zmp.rms_m", "lower"),
    ("feet.slip_m", "lower"),
    ("feet.turn_rad", "lower"),
    ("seat.slip_m", "lower"),
    ("seat.tilt_rad", "lower"),
)

# The first matching suffix counts: `_rad_s` is not `_s`.
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
"""Allowed difference by the unit that a metric's name ends in, in that unit; zero for other names."""


def metric_direction(name: str) -> Better:
    """Find the direction in which a metric improves.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.

    Returns
    -------
    str
        `lower`, `higher`, `same` or `ignored`.
    """
    return next((better for pattern, better in BETTER if fnmatchcase(name, pattern)), "same")


def usual_tolerance(name: str, value: float) -> float:
    """Find how far a metric may be from its baseline unless rounding moves it further.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.
    value : float
        Value of the baseline, in the metric's unit.

    Returns
    -------
    float
        Tolerance in the metric's unit.
    """
    absolute = next((tolerance for suffix, tolerance in ABSOLUTE if name.endswith(suffix)), 0.0)
    return max(absolute, RELATIVE * abs(value))
