"""Names that modules declare which take long to import, as `schemas/names.json` holds them."""

import json

from simbench.motion.actors import TASKS
from simbench.motion.shipped import describe_actors
from simbench.runs.explain.variables import declared_entries, declared_joints


def names_text() -> str:
    """Write the entries of logs, the joints of fixtures, and what virtual actors perform.

    Returns JSON with a line break at its end.
    """
    names = {
        "log": [entry._asdict() for entry in declared_entries()],
        "joints": declared_joints(),
        "tasks": sorted(TASKS),
        "actors": describe_actors(),
    }
    return json.dumps(names, indent=1, ensure_ascii=False) + "\n"
