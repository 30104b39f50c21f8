"""Print what extras of an installed package require beyond the package itself, a requirement a line.

`pip install -e ".[docs]"` would install simbench anew, while it is running beside.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import requires

from packaging.requirements import Requirement


def required(package: str, extras: Iterable[str]) -> Iterator[Requirement]:
    """Yield what extras require; an extra may name others of the same package."""
    for extra in extras:
        for text in requires(package) or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
                continue
            if requirement.name == package:
                yield from required(package, requirement.extras)
            else:
                requirement.marker = None
                yield requirement


print(*dict.fromkeys(map(str, required(sys.argv[1], sys.argv[2:]))), sep="\n")
