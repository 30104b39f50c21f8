"""Scripts as modules, for tests of what they compute."""

import importlib.util
import os
import sys
from contextlib import contextmanager
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"


@contextmanager
def loaded_script(path):
    """Import a script by its path below `scripts/`, as `python` would, and forget it afterwards."""
    script = SCRIPTS / path
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    path_before, modules_before = sys.path.copy(), set(sys.modules)
    sys.path.insert(0, str(script.parent))
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = path_before
        # Scripts import what lies beside them: another folder may have a module of the same name.
        for name in set(sys.modules) - modules_before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{SCRIPTS}{os.sep}"):
                del sys.modules[name]
