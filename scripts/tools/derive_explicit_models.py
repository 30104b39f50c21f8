"""Derive the explicit models of PUMA 560, full and abbreviated, and write them as plain NumPy code.

python scripts/tools/derive_explicit_models.py [--check] [--robot puma560] [--out FOLDER]

The modules that ship are in simbench/dynamics/generated. --check writes nothing; exit status 1 if the files
there differ from the derived ones.
"""

import argparse
import sys
from pathlib import Path

from simbench.dynamics.abbreviation import abbreviate_model
from simbench.dynamics.arm import read_arm
from simbench.dynamics.explicit_model import derive_explicit_model
from simbench.dynamics.model_module import model_module
from simbench.errors import SimbenchError

FOLDER = Path(__file__).parents[2] / "simbench" / "dynamics" / "generated"


def modules(robot: str) -> dict[str, str]:
    """Derive the source code of an arm's modules, by file name."""
    full = derive_explicit_model(read_arm(robot))
    return {
        f"{robot}_full.py": model_module(full, f"Explicit dynamic model of {robot}, in full."),
        f"{robot}_abbreviated.py": model_module(
            abbreviate_model(full),
            f"Explicit dynamic model of {robot}, abbreviated: terms of less than 1 % left out.",
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--robot", default="puma560")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args()
    try:
        found = modules(given.robot)
    except SimbenchError as error:
        print(error, file=sys.stderr)
        return 2
    changed = 0
    for name, text in found.items():
        path = given.out / name
        same = path.is_file() and path.read_text(encoding="utf-8") == text
        changed += not same
        if not given.check and not same:
            given.out.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{path}: {'as derived' if same else 'differs' if given.check else 'written'}")
    return 1 if given.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
