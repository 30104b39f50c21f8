"""The table of the page on physics engines: every scenario in both, by its baselines."""

from pathlib import Path
from typing import Any

from markdown_text import code, table, write_if_changed

from simbench.runs.baseline import Baseline, baseline_path, read_baseline
from simbench.runs.metric_format import format_value
from simbench.runs.scenario.loading import find_scenario, list_scenarios
from simbench.sim.engines import BULLET, MUJOCO

COLUMNS = {
    "tracking.rms_rad": "tracking, mrad",
    "hands.rms_m": "hands, mm",
    "zmp.min_margin_m": "ZMP margin, mm",
    "torque.rms_nm": "torque, N·m",
    "contact.peak_force_n": "peak contact force, N",
}
"""Metrics of the table, with their heads; in mrad and mm by the metric's unit."""
WAYS = ("travel_ratio", "turn_ratio", "angle_ratio", "stroke_ratio", "cut_ratio")
PUSH = "push.survived_ns"


def engine_table() -> str:
    """Lay out each scenario's main metrics, Bullet's before MuJoCo's."""
    rows = []
    for name in list_scenarios():
        bullet, mujoco = (
            read_baseline(baseline_path(find_scenario(name), name, engine)) or {}
            for engine in (BULLET, MUJOCO)
        )
        cells = [pair(bullet, mujoco, metric) for metric in COLUMNS]
        achieved = next((key for key in bullet if key == PUSH or key.endswith(WAYS)), None)
        cells.append("—" if achieved is None else f"{pair(bullet, mujoco, achieved)} ({code(achieved)})")
        rows.append([code(name), *cells])
    return table(["scenario", *COLUMNS.values(), "achieved"], rows)


def pair(bullet: Baseline, mujoco: Baseline, metric: str) -> str:
    """Write a metric of both engines."""
    return f"{value(bullet, metric)} / {value(mujoco, metric)}" if metric in bullet else "—"


def value(baseline: Baseline, metric: str) -> str:
    """Write the expected value of a metric; a dash where there is none."""
    if metric not in baseline:
        return "—"
    number = baseline[metric].value
    if isinstance(number, float) and metric.endswith(("_rad", "_m")):
        return f"{1e3 * number:.3g}"
    return f"{number:.3g}" if isinstance(number, float) else format_value(number)


def setup(application: Any) -> dict[str, bool]:
    """Write the table before Sphinx reads its sources."""

    def write(application: Any) -> None:
        write_if_changed(Path(application.srcdir) / "generated" / "engines.md", engine_table())

    application.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
