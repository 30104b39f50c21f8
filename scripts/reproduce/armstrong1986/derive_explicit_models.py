"""Derive the explicit models of PUMA 560, full and abbreviated, and write them as plain NumPy code.

python scripts/reproduce/armstrong1986/derive_explicit_models.py [--check] [--robot puma560] [--out FOLDER]

The module that ships is in simbench/dynamics. --check writes nothing; exit status 1 if the file there differs
from the derived one.
"""

import argparse
import sys
from pathlib import Path

from armstrong_code import model_source
from armstrong_derivation import abbreviate_model, derive_explicit_model

from simbench.dynamics.arm import read_arm
from simbench.errors import SimbenchError

FOLDER = Path(__file__).parents[3] / "simbench" / "dynamics"


def derived_source(robot: str) -> str:
    """Derive the source code of an arm's module."""
    full = derive_explicit_model(read_arm(robot))
    title = Path(robot).stem.title()
    return model_source(robot, {f"{title}Full": full, f"{title}Abbreviated": abbreviate_model(full)})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--robot", default="puma560")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args()
    path = given.out / f"{Path(given.robot).stem}_explicit.py"
    try:
        text = derived_source(given.robot)
    except SimbenchError as error:
        print(error, file=sys.stderr)
        return 2
    same = path.is_file() and path.read_text(encoding="utf-8") == text
    if not given.check and not same:
        given.out.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{path}: {'as derived' if same else 'differs' if given.check else 'written'}")
    return int(given.check and not same)


if __name__ == "__main__":
    sys.exit(main())
