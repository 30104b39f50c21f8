"""Metric names and values as people read them."""

import math

from simbench.runs.checks import Metric

# Longest first: `_nm_rad` is not `_rad`.
_UNITS = {
    "_nm_rad": "N·m/rad",
    "_rad_s": "rad/s",
    "_m_s2": "m/s²",
    "_n_m": "N/m",
    "_m_s": "m/s",
    "_rad": "rad",
    "_nm": "N·m",
    "_ns": "N·s",
    "_hz": "Hz",
    "_kg": "kg",
    "_m": "m",
    "_n": "N",
    "_s": "s",
    "_w": "W",
    "_j": "J",
}


def unit_of(name: str) -> str:
    """Read a metric's unit from the suffix of its name.

    Parameters
    ----------
    name : str
        Name of the metric, `group.name_unit`.

    Returns
    -------
    str
        The unit; empty for a plain number.
    """
    return next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")


def format_value(value: Metric) -> str:
    """Write a metric's value with four significant digits.

    Parameters
    ----------
    value : float, bool, str or None
        Value of the metric.

    Returns
    -------
    str
        Text; `none` for None and NaN.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"
