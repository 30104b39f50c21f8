"""Draw the plots of a run into its directory."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from simbench.errors import RunError
from simbench.runs.fixture_coordinates import fixture_coordinates
from simbench.runs.log import open_run
from simbench.runs.log_schema import require_drawable, require_entries
from simbench.runs.person_log import has_person, require_person
from simbench.runs.plots.balance import draw_balance
from simbench.runs.plots.contacts import draw_contacts, has_contacts
from simbench.runs.plots.equipment import draw_equipment
from simbench.runs.plots.fidelity import compare_logged, draw_comparison
from simbench.runs.plots.torque import draw_torque
from simbench.runs.plots.tracking import draw_tracking
from simbench.runs.scenario.loading import Scenario, load_scenario

OnProgress = Callable[[str, int, int], None]

_STATE = ("joint_position", "joint_reference", "torque_motor", "torque_requested", "base_pose")
"""Variables over time that are drawn of every run."""
_PLANNED = ("cog_desired", "zmp_desired")
"""Variables over time that are drawn if the robot was balanced."""
FOLDER = "plots"
"""Folder of the plots in the run directory."""


@dataclass(frozen=True)
class Plot:
    """One plot of a run.

    Parameters
    ----------
    name : str
        `fidelity`, `tracking`, `balance`, `contacts`, `torque` or `equipment`.
    path : Path
        PNG file.
    """

    name: str
    path: Path


def draw_plots(folder: Path, on_progress: OnProgress, only: Collection[str] | None = None) -> list[Plot]:
    """Draw the plots that a run has, complete or interrupted, into `plots/` of its directory.

    A robot on a fixed base has no plot of balance, a run without equipment none of equipment, and one that
    does not follow a person with two arms none of fidelity.

    Parameters
    ----------
    folder : Path
        Run directory.
    on_progress : callable (stage, done, total)
        Callback that receives the progress.
    only : collection of str, optional
        Names of the plots to draw, of those that the run has; all by default.

    Returns
    -------
    list of Plot
        Plots that were drawn.

    Raises
    ------
    RunError, ScenarioError
        If there is no log, or it is too short to draw.
    OSError
        If a file cannot be written.
    """
    log = open_plotted_run(folder)
    scenario = load_scenario(folder / "scenario.yaml")
    names = [name for name in _plot_names(log) if only is None or name in only]
    plots = [Plot(name, folder / FOLDER / f"{name}.png") for name in names]
    if plots:
        (folder / FOLDER).mkdir(exist_ok=True)
    for done, plot in enumerate(plots, start=1):
        _draw(plot, log, scenario)
        on_progress("plots", done, len(plots))
    return plots


def open_plotted_run(folder: Path) -> xr.Dataset:
    """Open the log of a run whose plots can be drawn.

    Parameters
    ----------
    folder : Path
        Run directory.

    Returns
    -------
    xarray.Dataset
        Its log.

    Raises
    ------
    RunError
        If there is no log, it is too short or lacks data, or `plots` leads out of the run directory.
    """
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


def _plot_names(log: xr.Dataset) -> list[str]:
    """List the plots for which a log has data."""
    has_data = {
        "fidelity": has_person(log),
        "equipment": bool(fixture_coordinates(log)),
        "balance": "zmp" in log,
        "contacts": has_contacts(log),
        "tracking": True,
        "torque": True,
    }
    return [name for name, present in has_data.items() if present]


def _draw(plot: Plot, log: xr.Dataset, scenario: Scenario) -> None:
    """Draw one plot."""
    title = f"{scenario.name} on {log.attrs['robot']}: "
    if plot.name == "balance":
        draw_balance({scenario.name: log}, f"{title}ZMP and COG over the support", plot.path)
    elif plot.name == "contacts":
        strength = scenario.grip.max_force_n, scenario.grip.max_torque_nm
        draw_contacts(log, strength, f"{title}contact and grip forces", plot.path)
    elif plot.name == "equipment":
        draw_equipment(log, f"{title}equipment", plot.path)
    elif plot.name == "fidelity":
        draw_comparison(compare_logged(log, f"{title}what is left of the person"), plot.path)
    elif plot.name == "torque":
        draw_torque(log, f"{title}motor torque against its limit", plot.path)
    else:
        draw_tracking(log, f"{title}tracking by joint", plot.path)
