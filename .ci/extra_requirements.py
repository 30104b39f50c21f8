"""Print what extras of the package in this directory require beyond the package itself, a requirement a line.

`pip install -e ".[docs]"` would install simbench anew, while it is installed beside.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# An environment that is still empty has pip.
from pip._vendor.packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]


def required(extras: Iterable[str]) -> Iterator[Requirement]:
    """Yield what extras require; an extra may name others of the same package."""
    for extra in extras:
        for text in PROJECT["optional-dependencies"][extra]:
            requirement = Requirement(text)
            if requirement.name == PROJECT["name"]:
                yield from required(requirement.extras)
            elif requirement.marker is None or requirement.marker.evaluate():
                requirement.marker = None
                yield requirement


print(*dict.fromkeys(map(str, required(sys.argv[1:]))), sep="\n")
