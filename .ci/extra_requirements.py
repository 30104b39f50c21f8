"""Print what an extra of an installed package requires beyond the package itself, a requirement a line.

`pip install -e ".[docs]"` would install simbench anew, while it is running beside.
"""

import sys
from importlib.metadata import requires

from packaging.requirements import Requirement

package, extra = sys.argv[1:]
for text in requires(package) or ():
    requirement = Requirement(text)
    marker = requirement.marker
    if marker is not None and not marker.evaluate({"extra": ""}) and marker.evaluate({"extra": extra}):
        requirement.marker = None
        print(requirement)
