"""Run robots with `gains: auto`: standing still, dancing, waving and pushed; print a table.

    python scripts/studies/automatic_gains.py mahru romeo path/to/robot.yaml --out runs/gains

A robot's own gains are replaced; nothing else of its description changes. Puma-like arms on fixed bases take
`--scenarios puma560_sweep`.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from simbench.robot.robot import load_robot
from simbench.robot.robot_sources import find_robot

STILL = {
    "name": "still",
    "robot": {"name": "romeo"},
    "motion": {"source": "joints:still"},
    "simulation": {"settle_s": 1.0, "hold_s": 2.0},
}
COLUMNS = (
    "fell",
    "zmp.inside_fraction",
    "zmp.min_margin_m",
    "torque.saturated_fraction",
    "tracking.rms_rad",
    "limits.speed_ratio",
    "feet.slip_m",
    "contact.self_count",
)


def write_automatic(robot: str, folder: Path) -> Path:
    """Write a robot's description with `gains: auto`.

    Parameters
    ----------
    robot : str
        Name of the robot, or path of its robot.yaml.
    folder : Path
        Folder to write to.

    Returns
    -------
    Path
        The new robot.yaml.
    """
    loaded = load_robot(robot)
    described = yaml.safe_load(find_robot(robot).path.read_text(encoding="utf-8"))
    described |= {"gains": "auto", "urdf": str(loaded.urdf.resolve())}
    described.pop("bandwidth", None)
    path = folder / f"{loaded.name}.yaml"
    path.write_text(yaml.safe_dump(described, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments of the command line; those of the process by default.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("robots", nargs="+", metavar="ROBOT", help="name, or path of a robot.yaml")
    parser.add_argument("--scenarios", nargs="+", default=["still", "push", "romeo_wave", "dance"])
    parser.add_argument("--out", type=Path, default=Path("runs/automatic_gains"))
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    still = given.out / "still.yaml"
    still.write_text(yaml.safe_dump(STILL), encoding="utf-8")
    print("\t".join(("robot", "scenario", *COLUMNS)), flush=True)
    for robot in given.robots:
        path = write_automatic(robot, given.out)
        for scenario in given.scenarios:
            folder = given.out / f"{path.stem}-{Path(scenario).stem}"
            source = str(still) if scenario == "still" else scenario
            command = [sys.executable, "-m", "simbench", "run", source, "--out", str(folder)]
            done = subprocess.run(
                [*command, "--set", f"robot.name={path.resolve()}"],
                capture_output=True,
                text=True,
                check=False,
            )
            written = folder / "metrics.json"
            if not written.is_file():
                print(path.stem, scenario, done.stderr.strip().splitlines()[-1], sep="\t", flush=True)
                continue
            metrics = json.loads(written.read_text(encoding="utf-8"))
            values = (metrics.get(name) for name in COLUMNS)
            cells = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in values)
            print("\t".join((path.stem, scenario, *cells)), flush=True)


if __name__ == "__main__":
    main()
