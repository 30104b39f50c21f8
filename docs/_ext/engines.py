"""The tables of the page on physics engines: every scenario in both, and closed forms."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_text import code, table, write_if_changed

from simbench.runs.baseline import baseline_path, read_baseline
from simbench.runs.metric_catalogue import Metric
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios
from simbench.sim.engine import BULLET

RESULTS = Path(__file__).parents[1] / "concepts" / "results" / "engines.json"
"""Metrics in MuJoCo, written by `scripts/studies/engines.py`."""

CLOSED_FORMS = RESULTS.parent / "closed_forms.json"
"""Errors in both engines, written by `scripts/studies/closed_forms.py`."""

ENERGY = RESULTS.parent / "energy.json"
"""Energy balances of scenarios, written by `scripts/studies/energy_balance.py`."""
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
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = []
    for name in list_scenarios():
        path = baseline_path(find_scenario(name), name, BULLET)
        bullet = {key: each.value for key, each in (read_baseline(path) or {}).items()}
        found = results.get(name, {"checks": 0, "broken": [], "metrics": {}})
        mujoco = found["metrics"]
        held = f"{found['checks'] - len(found['broken'])} of {found['checks']}"
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


def written_table(results: Path) -> str:
    """Lay out a table that a script has written."""
    content = json.loads(results.read_text(encoding="utf-8"))
    return table(content["heads"], content["rows"])


def setup(application: Any) -> dict[str, bool]:
    """Write the tables before Sphinx reads its sources."""

    def write(application: Any) -> None:
        folder = Path(application.srcdir) / "generated"
        write_if_changed(folder / "engines.md", engine_table())
        write_if_changed(folder / "closed_forms.md", written_table(CLOSED_FORMS))
        write_if_changed(folder / "energy.md", written_table(ENERGY))

    application.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
