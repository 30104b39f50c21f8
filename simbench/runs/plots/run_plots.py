"""Plots of a run in its directory: tracking, torque, equipment, contacts, balance and fidelity."""

from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from simbench.files.storage import make_folder
from simbench.kinematics.foot_contact import contact_intervals
from simbench.plotting import (
    ALARM_COLOUR,
    COLOURS,
    CONTACT_COLOUR,
    LEFT,
    LIMIT_STYLE,
    MEASURED_COLOUR,
    REFERENCE_COLOUR,
    RIGHT,
    TOP,
    WIDTH,
    add_axes,
    joint_sheet,
    new_sheet,
    save_png,
    set_time_axis,
)
from simbench.runs.log import FOLDER, open_plotted_run
from simbench.runs.log_schema import fixture_coordinates, has_person
from simbench.runs.plots.balance_plot import draw_balance
from simbench.runs.plots.fidelity_plot import compare_logged, draw_comparison
from simbench.runs.scenario.loading import load_finished

OnProgress = Callable[[str, int, int], None]

STROKE_COLOUR = "#eeeeee"
# Heights of a panel of equipment and of contacts, and the space above each, pixels.
_EQUIPMENT_HEIGHT, _CONTACT_HEIGHT, _SPACE = 170, 190, 44


def draw_plots(
    folder: Path, on_progress: OnProgress, only: Collection[str] | None = None, log: xr.Dataset | None = None
) -> list[Path]:
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
    list of Path
        PNG files that were drawn: `fidelity`, `equipment`, `balance`, `contacts`, `tracking`, `torque`.

    Raises
    ------
    RunError, ScenarioError
        If there is no log, or it is too short to draw.
    OSError
        If a file cannot be written.
    """
    log = open_plotted_run(folder) if log is None else log
    scenario = load_finished(folder)
    title = f"{scenario.name} on {log.attrs['robot']}: "
    strength = scenario.grip.max_force_n, scenario.grip.max_torque_nm
    equipment = bool(fixture_coordinates(log))
    drawings: dict[str, tuple[bool, Callable[[Path], None]]] = {
        "fidelity": (
            has_person(log),
            lambda path: draw_comparison(compare_logged(log, f"{title}what is left of the person"), path),
        ),
        "equipment": (equipment, lambda path: draw_equipment(log, f"{title}equipment", path)),
        "balance": (
            "zmp" in log,
            lambda path: draw_balance({scenario.name: log}, f"{title}ZMP and COG over the support", path),
        ),
        "contacts": (
            bool(log.sizes["foot"]) or equipment,
            lambda path: draw_contacts(log, strength, f"{title}contact and grip forces", path),
        ),
        "tracking": (True, lambda path: draw_tracking(log, f"{title}tracking by joint", path)),
        "torque": (True, lambda path: draw_torque(log, f"{title}motor torque against its limit", path)),
    }
    plots = [
        folder / FOLDER / f"{name}.png"
        for name, (has_data, _) in drawings.items()
        if has_data and (only is None or name in only)
    ]
    if plots:
        make_folder(folder / FOLDER)
    for done, path in enumerate(plots, start=1):
        _, draw = drawings[path.stem]
        draw(path)
        on_progress("plots", done, len(plots))
    return plots


def draw_tracking(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw reference and measured position of every joint as PNG, and the error of each joint above.

    Errors count from the end of the settling time, as in the metrics. `log`: log from `open_run`; `title`:
    title of the sheet; `path`: file to write. Raises OSError if the file cannot be written.
    """
    names = [str(name) for name in log["joint"].values]
    error = 1000.0 * (log["joint_position"] - log["joint_reference"])
    counted = error.sel(time=slice(log.attrs["settle_s"], None)).values
    if not len(counted):
        counted = error.values
    rms, largest = np.sqrt(np.mean(counted**2, axis=0)), np.abs(counted).max(axis=0)
    bars, curves = joint_sheet(
        names,
        title,
        [
            Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="reference (°)"),
            Line2D([], [], color=MEASURED_COLOUR, label="measured (°)"),
            Patch(facecolor=MEASURED_COLOUR, label="RMS error"),
            Line2D(
                [],
                [],
                color="black",
                marker="_",
                linestyle="none",
                label="largest error, also beside each name",
            ),
        ],
    )
    bars.bar(range(len(names)), rms, color=MEASURED_COLOUR, width=0.7)
    bars.plot(range(len(names)), largest, color="black", marker="_", linestyle="none", markersize=9)
    bars.set_yscale("symlog", linthresh=0.1)
    bars.set_ylim(0.0, max(0.1, 1.3 * float(np.nanmax(largest))))
    bars.set_ylabel("error (mrad)", size=9)
    time = log.time.values
    reference = np.degrees(log["joint_reference"].values)
    measured = np.degrees(log["joint_position"].values)
    for joint, axes in enumerate(curves):
        axes.plot(time, reference[:, joint], color=REFERENCE_COLOUR, linewidth=3.0)
        axes.plot(time, measured[:, joint], color=MEASURED_COLOUR, linewidth=0.9)
        worst = f"{largest[joint]:.2g}" if largest[joint] < 100.0 else f"{largest[joint]:.0f}"
        axes.set_title(f"{worst} mrad", loc="right", size=7, color="#555555")
        # The axis spans at least 1°: a joint that stands still is drawn as a line, not as noise.
        low, high = axes.get_ylim()
        if high - low < 1.0:
            middle = 0.5 * (low + high)
            axes.set_ylim(middle - 0.5, middle + 0.5)
        axes.ticklabel_format(axis="y", useOffset=False)
        set_time_axis(axes, time, ticks=4)
    figure = bars.get_figure(root=True)
    assert figure is not None
    save_png(figure, path)


def draw_torque(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw the motor torque of every joint in % of its limit as PNG, red where it was limited.

    `log`: log from `open_run`; `title`: title of the sheet; `path`: file to write. Raises OSError if the file
    cannot be written.
    """
    names = [str(name) for name in log["joint"].values]
    limit = log["torque_limit"].values
    percent = 100.0 * log["torque_motor"].values / limit
    saturated = np.abs(log["torque_requested"].values) > limit
    peak, rms = np.abs(percent).max(axis=0), np.sqrt(np.mean(percent**2, axis=0))
    key: list[Line2D | Patch] = [
        Patch(facecolor=MEASURED_COLOUR, label="largest torque"),
        Line2D([], [], color="black", marker="_", linestyle="none", label="RMS torque"),
        Line2D([], [], **LIMIT_STYLE, label="limit"),
    ]
    if saturated.any():
        key.append(Patch(facecolor=ALARM_COLOUR, label="saturated: more was asked for, part of the time"))
    bars, curves = joint_sheet(names, title, key)
    colours = [ALARM_COLOUR if ever else MEASURED_COLOUR for ever in saturated.any(axis=0)]
    bars.bar(range(len(names)), peak, color=colours, width=0.7)
    bars.plot(range(len(names)), rms, color="black", marker="_", linestyle="none", markersize=9)
    bars.axhline(100.0, **LIMIT_STYLE)
    bars.set_ylim(0.0, 110.0)
    bars.set_ylabel("% of the limit", size=9)
    time = log.time.values
    for joint, axes in enumerate(curves):
        axes.axhline(100.0, **LIMIT_STYLE)
        axes.axhline(-100.0, **LIMIT_STYLE)
        axes.plot(time, percent[:, joint], color=MEASURED_COLOUR, linewidth=0.9)
        limited = np.where(saturated[:, joint], percent[:, joint], np.nan)
        axes.plot(time, limited, color=ALARM_COLOUR, linewidth=2.0, marker=".", markersize=2.5)
        axes.set_title(f"±{limit[joint]:.3g} N·m", loc="right", size=7, color="#555555")
        if saturated[:, joint].any():
            note = f"limited {100.0 * saturated[:, joint].mean():.2g} % of the time"
            axes.text(
                1.0, 0.12, note, size=7, color=ALARM_COLOUR, ha="right", va="bottom", transform=axes.transAxes
            )
        axes.set_ylim(-115.0, 115.0)
        axes.set_yticks([-100, 0, 100])
        set_time_axis(axes, time, ticks=4)
    figure = bars.get_figure(root=True)
    assert figure is not None
    save_png(figure, path)


def draw_equipment(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw the joints of the equipment over time as PNG, with the actor's repetitions grey.

    `log`: log from `open_run` of a run with equipment; `title`: title of the sheet; `path`: file to write.
    Raises OSError if the file cannot be written.
    """
    coordinates = fixture_coordinates(log)
    key: list[Line2D | Patch] = [
        Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="actor"),
        Line2D([], [], color=MEASURED_COLOUR, label="robot"),
        Patch(facecolor=STROKE_COLOUR, label="a repetition of the actor's"),
    ]
    sheet = new_sheet(len(coordinates) * (_EQUIPMENT_HEIGHT + _SPACE) - _SPACE, title, key)
    time = log.time.values
    for row, (name, si_unit, robot, actor) in enumerate(coordinates):
        axes = add_axes(
            sheet, LEFT, TOP + row * (_EQUIPMENT_HEIGHT + _SPACE), WIDTH - LEFT - RIGHT, _EQUIPMENT_HEIGHT
        )
        scale, unit = (1000.0, "mm") if si_unit == "m" else (180.0 / np.pi, "°")
        robot, actor = scale * robot, scale * actor
        for start, end in log["strokes"].values:
            axes.axvspan(start, end, color=STROKE_COLOUR, linewidth=0, zorder=0)
            axes.axvline(end, color="white", linewidth=2.0, zorder=0)
        axes.plot(time, actor, color=REFERENCE_COLOUR, linewidth=3.0)
        axes.plot(time, robot, color=MEASURED_COLOUR, linewidth=1.1)
        axes.set_title(f"{name} ({unit})", loc="left", size=10, parse_math=False)
        travel = f"way {np.ptp(robot):.4g} {unit}, the actor's {np.ptp(actor):.4g} {unit}"
        axes.set_title(travel, loc="right", size=8, color="#555555")
        set_time_axis(axes, time)
        if row == len(coordinates) - 1:
            axes.set_xlabel("time (s)", size=9)
    save_png(sheet.figure, path)


def draw_contacts(log: xr.Dataset, strength: tuple[float, float], title: str, path: Path) -> None:
    """Draw the forces on feet and grips over time as PNG, with the times of planned hand contact in green.

    `log`: log from `open_run` of a robot with feet, or of a run with equipment; `strength`: force, N, and
    torque, N·m, at which a grip lets go; `title`: title of the sheet; `path`: file to write. Raises OSError
    if the file cannot be written.
    """
    feet = bool(log.sizes["foot"])
    hands = bool(fixture_coordinates(log)) and bool(log.sizes["hand"])
    rows = feet + 2 * hands
    sides = dict.fromkeys([*map(str, log["foot"].values), *map(str, log["hand"].values)])
    key: list[Line2D | Patch] = [Line2D([], [], color=COLOURS[side], label=side) for side in sides]
    lines = ["weight of the robot"] * feet + ["strength of a grip"] * hands
    key.append(Line2D([], [], **LIMIT_STYLE, label=", ".join(lines)))
    if hands:
        key.append(Patch(facecolor=CONTACT_COLOUR, label="a hand is to hold"))
    sheet = new_sheet(rows * (_CONTACT_HEIGHT + _SPACE) - _SPACE, title, key)
    panels = [
        add_axes(sheet, LEFT, TOP + row * (_CONTACT_HEIGHT + _SPACE), WIDTH - LEFT - RIGHT, _CONTACT_HEIGHT)
        for row in range(rows)
    ]
    time = log.time.values
    if feet:
        weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
        force = log["foot_wrench"].values[..., 2]
        _draw_sides(panels[0], time, log["foot"].values, force, weight)
        panels[0].set_title("force of the floor on each foot, upwards (N)", loc="left", size=10)
    if hands:
        wrench, names = log["grip_wrench"].values, log["hand"].values
        contact = np.any(log["hand_contact"].values, axis=1)
        for axes, part, limit, heading in (
            (panels[-2], wrench[..., :3], strength[0], "force of the grip on each hand (N)"),
            (panels[-1], wrench[..., 3:], strength[1], "torque of the grip on each hand (N·m)"),
        ):
            for start, end in contact_intervals(contact):
                axes.axvspan(time[start], time[end], color=CONTACT_COLOUR, linewidth=0, zorder=0)
            _draw_sides(axes, time, names, np.linalg.norm(part, axis=2), limit)
            axes.set_title(f"{heading}; it lets go at {limit:g}", loc="left", size=10)
    panels[-1].set_xlabel("time (s)", size=9)
    save_png(sheet.figure, path)


def _draw_sides(
    axes: Axes, time: NDArray[np.float64], sides: NDArray[np.str_], values: NDArray[np.float64], line: float
) -> None:
    """Draw a curve for each side and a horizontal line."""
    # Both curves may coincide: the first is wider and shows behind the second.
    for side, column, width in zip(sides, values.T, (2.6, 1.0), strict=False):
        axes.plot(time, column, color=COLOURS[str(side)], linewidth=width)
    axes.axhline(line, **LIMIT_STYLE)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    set_time_axis(axes, time)
