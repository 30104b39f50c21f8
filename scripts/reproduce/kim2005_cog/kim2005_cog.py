"""Kim, Choi, Oh & You (ICCAS 2005): Mahru steps on the spot while its arms move, with and without embedding.

python scripts/reproduce/kim2005_cog/kim2005_cog.py [--out DIR] [--runs DIR] [--first] [--results FILE.json]

The paper's two examples, both arms stretched forward (Fig. 4) and the right arm waving fast (Fig. 5), are run
with the motion-embedded COG Jacobian and without the arms' term in it; `ablation.py` leaves out other parts.
Views from the front and the side, and plots of COG and ZMP in the
support polygon over time, are written to DIR of --out. --runs takes finished run directories, named like
their scenarios. Exit status 1 if a bound is not met.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import Results, add_results_option, begin_results, write_results

from simbench.errors import ScenarioError, SimbenchError
from simbench.runs.log import open_run
from simbench.runs.metrics import find_steps, run_metrics
from simbench.runs.pipeline import run_scenario
from simbench.runs.plots.balance_plot import draw_balance, until_fall
from simbench.runs.scenario.loading import load_scenario, resolved_yaml
from simbench.runs.scenario.schema import Scenario
from simbench.runs.video import render_strip

WITH, WITHOUT = "with embedding", "without"
SUFFIX = {WITH: "", WITHOUT: "_without_embedding"}
ALLOWED_DIFFERENCES = ("name", "summary", "checks")
"""Keys in which the scenarios of an example may differ, besides `balance.embedding.jacobian`."""


# Views: yaw of the camera in degrees, and the point in the middle of the picture, m. Mahru faces +x.
VIEWS = {"front": (90.0, (0.0, 0.0, 0.72)), "side": (0.0, (0.45, 0.0, 0.72))}
# A distant camera, so that a robot that falls towards it stays in the picture.
LENS: dict[str, Any] = {"distance_m": 7.0, "pitch_deg": -7.0, "fov_deg": 16.0}
TILE, HEADING, MARGIN = (240, 264), 22, 26
"""Pixels: width and height of one view, height of the times above, width of the labels beside."""


@dataclass(frozen=True)
class Example:
    """Example of the paper: figure, scenario, times to show, and a test of whether the gesture has begun."""

    title: str
    figure: str
    scenario: str
    moments: tuple[float, ...]
    gesture: str
    shown: Callable[[xr.Dataset], NDArray[np.bool_]]


def _ahead(log: xr.Dataset) -> NDArray[np.bool_]:
    """Test in which samples both palms are 0.4 m ahead of the pelvis."""
    palms = log["palm_position"].sel(xyz="x").values.min(axis=1)
    return np.asarray(palms - log["base_pose"].sel(pose="x").values > 0.4)


def _above_head(log: xr.Dataset) -> NDArray[np.bool_]:
    """Test in which samples the right palm is 0.55 m above the pelvis."""
    palm = log["palm_position"].sel(hand="right", xyz="z").values
    return np.asarray(palm - log["base_pose"].sel(pose="z").values > 0.55)


EXAMPLES = (
    Example(
        "Example 1 (Fig. 4): both arms stretch forward",
        "figure 4",
        "mahru_arms_forward",
        (1.0, 2.5, 3.9, 4.4, 8.3),
        "both hands are 0.4 m ahead of the pelvis",
        _ahead,
    ),
    Example(
        "Example 2 (Fig. 5): the right arm rises and waves",
        "figure 5",
        "mahru_wave",
        (2.5, 3.2, 4.2, 6.5, 7.4),
        "the right hand is 0.55 m above the pelvis",
        _above_head,
    ),
)


@dataclass(frozen=True)
class Line:
    """A quantity with and without embedding, its bound, and whether the bound is met."""

    what: str
    values: tuple[str, ...]
    bar: str = ""
    holds: bool = True


def check_alike(embedded: Scenario, other: Scenario) -> None:
    """Raise an error unless two scenarios differ in `balance.embedding.jacobian` only."""
    flat, flat_other = (dict(_leaves(scenario.model_dump(mode="json"))) for scenario in (embedded, other))
    different = sorted(
        key
        for key in flat.keys() | flat_other.keys()
        if flat.get(key) != flat_other.get(key) and key.split(".")[0] not in ALLOWED_DIFFERENCES
    )
    if different != ["balance.embedding.jacobian"] or not embedded.balance.embedding.jacobian:
        found = ", ".join(different) or "nothing"
        raise ScenarioError(
            f"{embedded.name}, {other.name}: must differ in balance.embedding.jacobian (true, false) alone, "
            f"differ in {found}"
        )


def _leaves(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the keys, joined by dots, and values of nested dictionaries."""
    if isinstance(data, dict) and data:
        for name, value in data.items():
            yield from _leaves(value, f"{key}.{name}" if key else name)
    else:
        yield key, data


def compare(logs: Mapping[str, xr.Dataset], example: Example) -> list[Line]:
    """Measure both runs of an example until the robot falls; bounds apply to the run with embedding."""
    standing = {label: until_fall(log) for label, log in logs.items()}
    metrics = {label: run_metrics(log) for label, log in standing.items()}
    fell = tuple(standing[label].sizes["time"] < log.sizes["time"] for label, log in logs.items())
    taken = [find_steps(log) for log in standing.values()]
    until = last_movement(logs[WITH])

    def of(name: str, scale: float) -> list[float]:
        return [scale * float(values[name]) for values in metrics.values()]

    return [
        _line("steps", [len(each) for each in taken], low=20),
        _line("steps while the arms move", [float(np.sum(each <= until)) for each in taken]),
        Line("falls", tuple("yes" if each else "no" for each in fell), "no", not fell[0]),
        _line("stands until, s", [float(log.time[-1]) for log in standing.values()], 1),
        _line(f"{example.gesture} from, s", [_first(log, example) for log in standing.values()], 1),
        _line("ZMP inside the support, %", of("zmp.inside_fraction", 100.0), 1, low=99),
        _line("ZMP, least margin, mm", of("zmp.min_margin_m", 1e3), 1),
        _line("COG off its profile, RMS, mm", of("cog.rms_m", 1e3), 1, high=15),
        _line("arms off their reference, RMS, rad", of("tracking.arms_rms_rad", 1.0), 4, high=0.03),
    ]


def _line(
    what: str, values: Sequence[float], digits: int = 0, low: float = -np.inf, high: float = np.inf
) -> Line:
    """Format a quantity, and compare its value with embedding with a bound."""
    texts = tuple(
        "never" if np.isnan(value) else "in the air" if np.isinf(value) else f"{value:.{digits}f}"
        for value in values
    )
    bar = f"≤ {high:g}" if high < np.inf else f"≥ {low:g}" if low > -np.inf else ""
    return Line(what, texts, bar, bool(low <= values[0] <= high) or not bar)


def said(line: Line) -> str:
    """Write a quantity with and without embedding, and its bound, on one line."""
    return f"{' / '.join(line.values)} ({' / '.join(SUFFIX)}); bound: {line.bar}"


def last_movement(log: xr.Dataset) -> float:
    """Find the last time, s, at which the reference of an arm joint moves faster than 0.1 rad/s."""
    arms = log["joint_reference"].values[:, log["is_arm"].values]
    speed = np.abs(np.gradient(arms, log.time.values, axis=0)).max(axis=1)
    return float(log.time.values[speed > 0.1].max())


def _first(log: xr.Dataset, example: Example) -> float:
    """Find the first time, s, at which the gesture of an example is seen; NaN if never."""
    shown = example.shown(log)
    return float(log.time.values[shown.argmax()]) if shown.any() else np.nan


def table_of(title: str, lines: Sequence[Line]) -> Table:
    """Lay out quantities with and without embedding, with bounds."""
    table = Table("", *SUFFIX, "bar", "", title=title, title_justify="left", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for line in lines:
        table.add_row(line.what, *line.values, line.bar, line.bar and ("✓" if line.holds else "MISSED"))
    return table


def draw_strips(folders: Mapping[str, Path], example: Example, view: str, path: Path) -> None:
    """Draw selected times of an example as PNG, with embedding above and without below."""
    width, height = TILE
    moments = example.moments
    size = (MARGIN + width * len(moments), HEADING + height * len(folders))
    strip = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(strip), ImageFont.load_default(14)
    for column, moment in enumerate(moments):
        middle = (MARGIN + width * (column + 0.5), HEADING / 2)
        pen.text(middle, f"{moment:.1f} s", "black", font, anchor="mm")
    for row, (label, folder) in enumerate(folders.items()):
        top, end = HEADING + row * height, float(until_fall(open_run(folder)).time[-1])
        shown = [moment for moment in moments if moment <= end]
        with tempfile.TemporaryDirectory() as scratch:
            views = _seen_from(folder, Path(scratch), view)
            drawn = render_strip(
                views, Path(scratch) / "views.png", shown, width=width, height=height, columns=len(shown)
            )
            with Image.open(drawn) as picture:
                strip.paste(picture, (MARGIN, top))
        for column in range(len(shown), len(moments)):
            middle = (MARGIN + width * (column + 0.5), top + height / 2)
            pen.text(middle, f"fallen at {end:.1f} s", "#555555", font, anchor="mm")
        name = Image.new("RGB", (height, MARGIN), "white")
        ImageDraw.Draw(name).text((height / 2, MARGIN / 2), label, "black", font, anchor="mm")
        strip.paste(name.rotate(90, expand=True), (0, top))
    # With a palette the file is half as large.
    strip.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def _seen_from(folder: Path, target_folder: Path, view: str) -> Path:
    """Make a run directory with the same log and another camera; return it."""
    yaw, target = VIEWS[view]
    scenario = load_scenario(folder / "scenario.yaml")
    camera = scenario.camera.model_copy(update={**LENS, "yaw_deg": yaw, "target_m": target})
    text = resolved_yaml(scenario.model_copy(update={"camera": camera}))
    (target_folder / "scenario.yaml").write_text(text, encoding="utf-8")
    (target_folder / "log.nc").symlink_to((folder / "log.nc").resolve())
    return target_folder


def _run(name: str, folder: Path) -> None:
    """Run a scenario; a function of this module, so that another process can call it."""
    run_scenario(load_scenario(name), folder)


def run_all(folder: Path, examples: Sequence[Example]) -> None:
    """Run all scenarios, two at a time, in directories named like them."""
    names = [example.scenario + suffix for example in examples for suffix in SUFFIX.values()]
    for example in examples:
        check_alike(*(load_scenario(example.scenario + suffix) for suffix in SUFFIX.values()))
    # OpenBLAS reads this when numpy is loaded: in a new process before any line of this script runs.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for running in [pool.submit(_run, name, folder / name) for name in names]:
            running.result()


def report(runs: Path, examples: Sequence[Example], out: Path, console: Console, results: Results) -> bool:
    """Print the tables and draw the pictures of finished runs; return whether all bounds are met."""
    out.mkdir(parents=True, exist_ok=True)
    held = True
    for example in examples:
        folders = {label: runs / (example.scenario + suffix) for label, suffix in SUFFIX.items()}
        logs = {label: open_run(folder) for label, folder in folders.items()}
        check_alike(*(load_scenario(folder / "scenario.yaml") for folder in folders.values()))
        lines = compare(logs, example)
        held &= all(line.holds for line in lines)
        note = ""
        if not example.shown(until_fall(logs[WITHOUT])).any():
            note = f"Without embedding it falls before {example.gesture}: on the way there."
        console.print(results.add(table_of(example.title, lines), source=example.figure, note=note))
        if note:
            console.print(note)
        for line in lines:
            if line.bar:
                results.check(f"{example.scenario}: {line.what}, {said(line)}", line.holds)
        console.print()
        draw_balance(logs, example.title, out / f"kim2005_{example.scenario}_zmp.png")
        for view in VIEWS:
            draw_strips(folders, example, view, out / f"kim2005_{example.scenario}_{view}.png")
    remark = (
        "Paper: pictures without numbers. With the motion-embedded COG Jacobian the robot keeps its balance "
        "in both examples, gains and COG-ZMP profiles unchanged, the COG and ZMP in the stable region; arms "
        "that stretch forward could make it fall, and fast waving makes that region hard to reach.\n"
        "Ours: numbers of a robot that falls are those until its fall."
    )
    console.print(f"{results.remark(remark)} Pictures in {out}.")
    return held


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and draw the pictures; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("kim2005_cog"), metavar="DIR")
    parser.add_argument("--runs", type=Path, metavar="DIR", help="finished runs, named like their scenarios")
    parser.add_argument("--first", action="store_true", help="only the first example")
    add_results_option(parser)
    given = parser.parse_args(arguments)
    examples = EXAMPLES[: 1 if given.first else None]
    scope = "two runs of Mahru" if given.first else "four runs of Mahru"
    results = begin_results(__file__, arguments, scope)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if given.runs is None:
                run_all(Path(folder), examples)
            held = report(given.runs or Path(folder), examples, given.out, Console(width=110), results)
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write_results(given.results, results)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
