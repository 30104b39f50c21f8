"""What `import simbench` offers, and that it costs nothing until it is used."""

import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simbench

README = Path(__file__).parents[1] / "README.md"


def test_completion_lists_every_public_name():
    assert set(simbench.__all__) <= set(dir(simbench))
    assert len(set(simbench.__all__)) == len(simbench.__all__)


@pytest.mark.parametrize("name", simbench.__all__)
def test_every_public_name_has_a_description(name):
    described = getattr(simbench, name)
    assert described.__name__ == name
    assert described.__doc__


def test_help_describes_functions_objects_and_errors():
    text = pydoc.plain(pydoc.render_doc(simbench))
    for name in ("run_scenario(", "class Robot(", "class RobotError(", "follow_frames("):
        assert name in text


def test_every_error_of_the_command_line_is_public():
    from simbench import errors

    raised = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert raised
    assert raised <= set(simbench.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError):
        _ = simbench.load_robots


def test_the_readme_imports_only_public_names():
    text = README.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        for line in re.findall(r"^(?:from|import) simbench.*$", block, flags=re.MULTILINE):
            names = line.removeprefix("from simbench import ").split(", ")
            assert set(names) <= set(simbench.__all__), line


def test_importing_simbench_imports_no_dependency():
    code = "import sys, simbench; print([m for m in ('numpy', 'pinocchio', 'xarray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
