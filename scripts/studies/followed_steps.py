"""Which persons' steps can robots follow, and how well?

python scripts/studies/followed_steps.py [RECORDING ...] [--robots mahru,romeo] [--out FOLDER] [--video]
                                 [--set KEY=VALUE]... [--texts]

Runs every recording on every robot with `retarget.physics: steps`, and prints a line for each: the person's
steps and the robot's, the scale of the distances, how many steps were changed, the RMS errors of the landings
against the person's, scaled, in place, time and direction, the error of the heading, the ZMP's share inside
the soles, and whether the robot fell; or, where the steps are refused, the line that says why.
By default the recordings are all human clips of DeepMimic.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import SimbenchError
from simbench.motion.shipped import clip_names
from simbench.runs.pipeline import run_scenario
from simbench.runs.result import RunResult
from simbench.runs.scenario.loading import load_scenario

COLUMNS = (
    "recording",
    "robot",
    "steps",
    "landed",
    "scale",
    "changed",
    "place m",
    "time s",
    "direction rad",
    "heading rad",
    "ZMP inside",
    "saturated",
    "fell s",
)
SCENARIO = """\
name: followed
robot: {{name: {robot}}}
motion: {{source: "{source}"}}
retarget: {{physics: steps}}
simulation: {{lead_in_s: 1.0}}
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", nargs="*", help="Recordings, as simbench reads them.")
    parser.add_argument("--robots", default="mahru", help="Robots, separated by commas.")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="Keep the run directories there.")
    parser.add_argument("--video", action="store_true", help="Also record a preview of each run.")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides")
    parser.add_argument("--texts", action="store_true", help="Also print notes and doubts.")
    given = parser.parse_args()
    recordings = given.recordings or [
        f"deepmimic:{name}" for name in clip_names() if name.startswith("humanoid3d_")
    ]
    print("\t".join(COLUMNS), flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for source in recordings:
            for robot in given.robots.split(","):
                run_one(source, robot, folder, given)


def run_one(source: str, robot: str, folder: Path, given: argparse.Namespace) -> None:
    """Run one recording on one robot, and print its line."""
    name = Path(source.partition(":")[2] or source).stem
    path = folder / f"{robot}_{name}.yaml"
    path.write_text(SCENARIO.format(robot=robot, source=source))
    try:
        scenario = load_scenario(path, given.overrides)
        result = run_scenario(
            scenario, folder / f"{robot}_{name}_run", video=given.video, fast=True, on_progress=False
        )
    except SimbenchError as error:
        print(f"{name}\t{robot}\trefused: {error}", flush=True)
        return
    print("\t".join([name, robot, *_cells(result)]), flush=True)
    if given.texts:
        for text in (*result.notes, *(f"DOUBT {doubt}" for doubt in result.doubts)):
            print(f"    {text}")


def _cells(result: RunResult) -> list[str]:
    """Cells of a run."""
    metrics: dict[str, Any] = result.metrics

    def number(key: str, form: str = "{:.3f}") -> str:
        value = metrics.get(key)
        return "-" if value is None or np.isnan(value) else form.format(value)

    return [
        number("follow.person_step_count", "{:.0f}"),
        number("fidelity.steps_landed", "{:.0f}"),
        number("follow.scale"),
        number("follow.changed_step_count", "{:.0f}"),
        number("fidelity.step_position_rms_m"),
        number("fidelity.step_time_rms_s"),
        number("fidelity.step_heading_rms_rad"),
        number("fidelity.heading_mean_rad"),
        number("zmp.inside_fraction", "{:.4f}"),
        number("torque.saturated_fraction", "{:.4f}"),
        number("fell_s", "{:.2f}") if metrics.get("fell") else "no",
    ]


if __name__ == "__main__":
    main()
