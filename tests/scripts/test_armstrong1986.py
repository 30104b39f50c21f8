"""The script that puts the paper's tables beside ours, run as a whole."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "reproduce" / "armstrong1986" / "armstrong1986.py"


@pytest.mark.slow
def test_every_table_and_nothing_larger_than_the_papers():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for title in (
        "Table 1",
        "Table 2",
        "Table 3",
        "Sizes",
        "Lumped constants",
        "Abbreviated - full",
        "Measured",
        "Computed torque",
    ):
        assert title in done.stdout
