"""Give an environment what simbench requires, linked from the environment that runs this.

The arguments are the folder of its packages, and the extras of simbench that are wanted. What `--without`
names, with a comma between two, is left out. What only other extras require is not there.
"""

import argparse
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

PACKAGE = "simbench-robotics"


def required(found: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """Yield what a distribution requires on this machine, with the given extras."""
    for text in found.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in extras | {""}
        ):
            yield requirement


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("site", type=Path)
parser.add_argument("extras", nargs="*")
parser.add_argument("--without", default="")
given = parser.parse_args()
waiting = list(required(distribution(PACKAGE), set(given.extras)))
known = {(name, frozenset()) for name in given.without.split(",")}
while waiting:
    requirement = waiting.pop()
    if (key := (requirement.name, frozenset(requirement.extras))) in known:
        continue
    known.add(key)
    found = distribution(requirement.name)
    if not requirement.specifier.contains(found.version, prereleases=True):
        parser.exit(1, f"{requirement} is required; {found.version} is installed\n")
    waiting += required(found, set(requirement.extras))
    if requirement.name == PACKAGE:
        continue
    for name in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
        if not (given.site / name).exists():
            (given.site / name).symlink_to(Path(str(found.locate_file(name))))
