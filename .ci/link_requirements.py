"""Give a package in an environment of its own what it requires, linked from the environment that runs this.

The argument is the folder of the package. What only its extras require is not there.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement


def required(found: Distribution, extras: set[str]) -> Iterator[Requirement]:
    """Yield what a distribution requires on this machine, with the given extras."""
    for text in found.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or any(
            requirement.marker.evaluate({"extra": extra}) for extra in extras | {""}
        ):
            yield requirement


site = Path(sys.argv[1])
(package,) = distributions(path=[str(site)])
waiting, known = list(required(package, set())), set()
while waiting:
    requirement = waiting.pop()
    if (key := (requirement.name, frozenset(requirement.extras))) in known:
        continue
    known.add(key)
    found = distribution(requirement.name)
    if not requirement.specifier.contains(found.version, prereleases=True):
        sys.exit(f"{requirement} is required; {found.version} is installed")
    waiting += required(found, set(requirement.extras))
    for name in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(str(found.locate_file(name))))
