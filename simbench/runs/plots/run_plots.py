"""Draw the plots of a run into its directory."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from simbench.runs.log import FOLDER, open_plotted_run
from simbench.runs.log_schema import fixture_coordinates, has_person
from simbench.runs.plots.balance import draw_balance
from simbench.runs.plots.contacts import draw_contacts, has_contacts
from simbench.runs.plots.equipment import draw_equipment
from simbench.runs.plots.fidelity import compare_logged, draw_comparison
from simbench.runs.plots.torque import draw_torque
from simbench.runs.plots.tracking import draw_tracking
from simbench.runs.scenario.loading import load_finished
from simbench.runs.scenario.schema import Scenario

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plot:
    """One plot of a run."""

    name: str  # `fidelity`, `tracking`, `balance`, `contacts`, `torque` or `equipment`.
    path: Path  # PNG file.


def draw_plots(
    folder: Path,
    on_progress: OnProgress,
    only: Collection[str] | None = None,
    log: xr.Dataset | None = None,
) -> list[Plot]:
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
    log : xarray.Dataset, optional
        Its log from `open_plotted_run`, if it has been read already.

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
    log = open_plotted_run(folder) if log is None else log
    scenario = load_finished(folder)
    names = [name for name in _plot_names(log) if only is None or name in only]
    plots = [Plot(name, folder / FOLDER / f"{name}.png") for name in names]
    if plots:
        (folder / FOLDER).mkdir(exist_ok=True)
    for done, plot in enumerate(plots, start=1):
        _draw(plot, log, scenario)
        on_progress("plots", done, len(plots))
    return plots


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
