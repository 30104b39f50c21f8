"""Run scenarios in MuJoCo and keep what the page on physics engines compares with Bullet's baselines.

python scripts/studies/engines.py [SCENARIO ...] [--jobs N] [--out FILE.json]

Prints the checks that hold and those that do not, and writes the main metrics of each scenario. A scenario
that is run again replaces its entry in the file.
"""

import argparse
import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from simbench.runs.execution import run_isolated
from simbench.runs.isolated_runs import run_once
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

RESULTS = Path(__file__).parents[2] / "docs" / "concepts" / "results" / "engines.json"


def main() -> int:
    """Run the scenarios; return 1 if one ended with an error."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="all that ship by default")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="simultaneous runs")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE.json")
    given = parser.parse_args()
    names = given.scenarios or list_scenarios()
    kept = json.loads(given.out.read_text()) if given.out.exists() else {}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = [
            (load_scenario(name, ["simulation.engine=mujoco"]), Path(folder) / name, True) for name in names
        ]
        with closing(run_isolated(run_once, work, given.jobs)) as finished:
            for index, result in finished:
                if result.error:
                    print(f"{names[index]}: {result.error}")
                    failed = True
                    continue
                metrics, checks = result.value
                broken = [check.name for check in checks if not check.passed]
                held = f"{len(checks) - len(broken)} of {len(checks)} checks hold"
                print(f"{names[index]}: {'; '.join([held, *broken])}", flush=True)
                numbers = {
                    key: value if isinstance(value, bool | str) or value is None else float(f"{value:.6g}")
                    for key, value in sorted(metrics.items())
                    if not key.startswith(("timing.", "retarget.", "fidelity.", "imitation."))
                }
                kept[names[index]] = {"checks": len(checks), "broken": broken, "metrics": numbers}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
