"""PUMA in simulation: inertia measured with the paper's two methods, and tracking with explicit models."""

import tempfile
from pathlib import Path

import yaml
from inertia_measurements import measure_motor_inertia, measure_on_two_wires
from rich.table import Table

from simbench.resources import resource_dir
from simbench.robot.robot import load_robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario

MODELS = {
    "the robot's own": [],
    "explicit, full": ["control.model=explicit"],
    "explicit, abbreviated": ["control.model=abbreviated"],
    "full, 50 / 200 Hz": ["control.model=explicit", "control.elements_hz=50", "control.torques_hz=200"],
    "abbreviated, 50 / 200 Hz": [
        "control.model=abbreviated",
        "control.elements_hz=50",
        "control.torques_hz=200",
    ],
}


def smooth_robot(folder: Path) -> Path:
    """Write PUMA without friction, which otherwise causes most of the error."""
    source = resource_dir("robots") / "puma560" / "robot.yaml"
    robot = yaml.safe_load(source.read_text(encoding="utf-8"))
    del robot["friction"]
    robot["urdf"] = str(source.parent / robot["urdf"])
    path = folder / "smooth.yaml"
    path.write_text(yaml.safe_dump(robot), encoding="utf-8")
    return path


def measurement_table() -> tuple[Table, float]:
    """Tabulate inertia, true and measured, and the largest relative error."""
    robot = load_robot("puma560")
    table = Table("", "put in", "measured", "off", title="Measured in simulation, kg·m²")
    rows = []
    for link in (2, 3):
        body = robot.model.inertias[link]
        for axis, value in enumerate(measure_on_two_wires(body)):
            name = f"link {link}, I{'xyz'[axis] * 2}, two wires"
            rows.append((name, body.inertia[axis, axis], value))
    for joint, motor in enumerate(robot.motors.reflected_inertia):
        found = measure_motor_inertia(robot, "ready", joint)
        rows.append((f"motor {joint + 1}, torsional spring", motor, found))
    for name, given, found in rows:
        table.add_row(name, f"{given:.4g}", f"{found:.4g}", f"{100 * (found / given - 1):+.2f} %")
    return table, max(abs(found / given - 1) for _, given, found in rows)


def tracking_table() -> Table:
    """Tabulate RMS and largest tracking error of all joints by computed torque with different models."""
    table = Table(title="Computed torque, puma560_sweep: joint error, mrad")
    for heading in ("model", "with friction, RMS", "maximum", "without, RMS", "maximum"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    with tempfile.TemporaryDirectory() as name:
        for row, (model, overrides) in enumerate(MODELS.items()):
            cells = []
            for case, robot in (("with", "puma560"), ("without", str(smooth_robot(Path(name))))):
                scenario = load_scenario("puma560_sweep", [f"robot.name={robot}", *overrides])
                metrics = run_scenario(scenario, Path(name) / f"{row}-{case}").metrics
                cells += [f"{1e3 * metrics[f'tracking.{kind}_rad']:.4f}" for kind in ("rms", "max")]
            table.add_row(model, *cells)
    return table
