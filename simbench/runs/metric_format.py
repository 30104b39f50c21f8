"""Metric names and values as people read them."""

from __future__ import annotations

import math
from typing import TypeAlias

Metric: TypeAlias = "float | bool | str | None"

# The longest suffix that fits counts: `_nm_rad` is not `_rad`.
UNITS = {
    "_nms_rad": "N·m·s/rad",
    "_nm_rad": "N·m/rad",
    "_kg_m2": "kg·m²",
    "_j_m3": "J/m³",
    "_j_m2": "J/m²",
    "_rad_s": "rad/s",
    "_m_s2": "m/s²",
    "_ns_m": "N·s/m",
    "_n_m": "N/m",
    "_m_s": "m/s",
    "_j_m": "J/m",
    "_nms": "N·m·s",
    "_rad": "rad",
    "_deg": "°",
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
"""Unit by the suffix of a metric's or a scenario key's name, longest suffix first."""


def unit_of(name: str) -> str:
    """Read the unit of a metric or a scenario key from the suffix of its name.

    `name`: name of the metric, `group.name_unit`, or of the key. Returns the unit; empty for a plain number.
    """
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")


def format_value(value: Metric) -> str:
    """Write a metric's value with four significant digits. Returns text; `none` for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"
