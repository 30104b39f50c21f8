"""What C++ prints at any time is hidden; Python's own text comes through, in a pipe as in a terminal."""

import subprocess
import sys

CODE = """
import os
from simbench.robot.native_output import hidden_native_stdout
print("before")
with hidden_native_stdout():
    os.write(1, b"of a driver\\n")
    print("during: \\u00e9")
os.write(1, b"native after\\n")
print("after")
"""


def test_only_python_is_heard_meanwhile():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["before", "during: é", "native after", "after"]


def test_a_closed_standard_output_stays_closed():
    code = "import os; os.close(1)\n" + CODE.split("print", 1)[0] + "with hidden_native_stdout(): pass\n"
    code += "try:\n    os.fstat(1)\nexcept OSError:\n    raise SystemExit(3)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 3
