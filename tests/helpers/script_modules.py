"""Scripts as modules, for tests of what they compute."""

import importlib.util
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
    sys.path.insert(0, str(script.parent))
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]
        sys.path.remove(str(script.parent))
