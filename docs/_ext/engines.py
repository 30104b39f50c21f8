"""The tables of the page on physics engines: every scenario in both, and closed forms."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_text import code, table, write_if_changed

from simbench.runs.baseline import baseline_path, check_metrics, read_baseline
from simbench.runs.metric_catalogue import Metric
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios
from simbench.sim.engine import BULLET, MUJOCO

RESULTS = Path(__file__).parents[1] / "concepts" / "results"
WRITTEN = ("closed_forms", "energy")
"""Tables in `RESULTS` that a script in scripts/studies has written."""
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
    """Lay out the main metrics of each scenario's baselines, Bullet's before MuJoCo's."""
    rows = []
    for name in list_scenarios():
        bullet, mujoco = (
            {key: each.value for key, each in (read_baseline(path) or {}).items()}
            for path in (baseline_path(find_scenario(name), name, engine) for engine in (BULLET, MUJOCO))
        )
        checks = check_metrics(load_scenario(name).checks, mujoco)
        held = f"{sum(check.passed for check in checks)} of {len(checks)}" if mujoco else "no baseline"
        achieved = next((key for key in bullet if key == PUSH or key.endswith(WAYS)), None)
        cells = [pair(bullet, mujoco, metric) for metric in COLUMNS]
        cells.append("—" if achieved is None else f"{pair(bullet, mujoco, achieved)} ({code(achieved)})")
        rows.append([code(name), held, *cells])
    return table(["scenario", "checks in MuJoCo", *COLUMNS.values(), "achieved"], rows)


def pair(bullet: Mapping[str, Metric], mujoco: Mapping[str, Metric], metric: str) -> str:
    """Write a metric of both engines; a dash where there is none."""
    if not isinstance(bullet.get(metric), float):
        return "—"
    return f"{value(bullet, metric)} / {value(mujoco, metric)}"


def value(metrics: Mapping[str, Metric], metric: str) -> str:
    """Write the value of a metric, in mm and mrad where its unit is m or rad."""
    number = metrics.get(metric)
    if not isinstance(number, float):
        return "—"
    return f"{1e3 * number:.3g}" if metric.endswith(("_rad", "_m")) else f"{number:.3g}"


def setup(application: Any) -> dict[str, bool]:
    """Write the tables before Sphinx reads its sources."""

    def write(application: Any) -> None:
        folder = Path(application.srcdir) / "generated"
        write_if_changed(folder / "engines.md", engine_table())
        for name in WRITTEN:
            content = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
            write_if_changed(folder / f"{name}.md", table(content["heads"], content["rows"]))

    application.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
