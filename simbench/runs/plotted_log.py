"""Logs of which curves can be drawn."""

from pathlib import Path

import xarray as xr

from simbench.errors import RunError
from simbench.runs.fixture_coordinates import fixture_coordinates
from simbench.runs.log import open_run
from simbench.runs.log_schema import require_drawable, require_entries
from simbench.runs.person_log import has_person, require_person

_STATE = ("joint_position", "joint_reference", "torque_motor", "torque_requested", "base_pose")
"""Variables over time that are drawn of every run."""
_PLANNED = ("cog_desired", "zmp_desired")
"""Variables over time that are drawn if the robot was balanced."""
FOLDER = "plots"
"""Folder of the plots in the run directory."""


def open_plotted_run(folder: Path) -> xr.Dataset:
    """Open the log of a run whose plots can be drawn. `folder`: run directory."""
    log = open_run(folder)
    if log.sizes["time"] < 2:
        raise RunError(f"{folder}: interrupted before there was anything to draw")
    _require_data(log, folder)
    if (folder / FOLDER).is_symlink():
        # A run directory of another person may lead anywhere; nothing is written outside it.
        raise RunError(f"{folder / FOLDER}: is a link; plots are written only into the run directory")
    return log


def _require_data(log: xr.Dataset, folder: Path) -> None:
    """Refuse a log that lacks what its plots show, or has numbers that cannot be drawn."""
    require_entries(log, ("joint", "foot", "hand"), ("robot", "settle_s"), folder)
    equipment = [name for each in fixture_coordinates(log) for name in (each.name, f"{each.name}_actor")]
    sampled = [*_STATE, *equipment]
    balance: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    if log.sizes["foot"]:
        sampled.append("foot_wrench")
        attributes = ("mass_kg", "gravity_m_s2")
    if equipment and log.sizes["hand"]:
        sampled.append("grip_wrench")
        require_entries(log, ("hand_contact", "strokes"), (), folder)
    if "zmp" in log:
        sampled.append("cog")
        balance = ("zmp", "support_polygon", *(name for name in _PLANNED if name in log))
    require_entries(log, (*sampled, *balance, "torque_limit"), attributes, folder)
    require_drawable(log, sampled, folder, may_be_missing=balance)
    if has_person(log):
        require_person(log, folder)
