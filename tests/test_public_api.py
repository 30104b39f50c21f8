"""What `import simbench` offers, and that it costs nothing until it is used."""

import subprocess
import sys

import pytest

import simbench


def test_completion_lists_every_public_name():
    assert set(simbench.__all__) <= set(dir(simbench))
    assert len(set(simbench.__all__)) == len(simbench.__all__)


def test_every_error_of_the_command_line_is_public():
    from simbench import errors

    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert classes <= set(simbench.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'load_robots'"):
        _ = simbench.load_robots


def test_importing_simbench_imports_no_dependency():
    code = "import sys, simbench; print([m for m in ('numpy', 'pinocchio', 'xarray') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
