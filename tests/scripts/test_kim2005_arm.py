"""The script that adapts arm motion within bounds, on a short recording."""

from types import SimpleNamespace

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.kinematics.path_solver import PathBounds
from simbench.robot.robot import load_robot


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/kim2005_arm/kim2005_arm.py") as module:
        yield module


def test_violations_are_counted_by_backward_differences_from_rest(script):
    ones = np.ones(1)
    bounds = PathBounds(lower=-ones, upper=ones, speed=30.0 * ones, acceleration=3000.0 * ones)
    # At 60 Hz: 0.6 rad in a frame are 36 rad/s, and from rest 2160 rad/s²; the way back is 3 times that.
    assert script.violations(np.array([[0.0], [0.6], [-0.6]]), bounds) == (0, 2, 1)
    assert script.violations(np.array([[0.9], [1.1], [1.1]]), bounds) == (2, 0, 0)


def test_no_bound_is_violated_and_the_tables_are_kept(script, monkeypatch, capsys):
    short = script.faster(script.perform_in_session(2018, 1, "waving").motion, 12)
    monkeypatch.setattr(script, "perform_in_session", lambda *which: SimpleNamespace(motion=short))
    results = script.begin_results(script.__file__, [])
    assert script.report(load_robot("mahru"), 2018, results) == 0
    errors, findings, stress = results.tables
    assert [row[0] for row in errors.rows[::4]] == ["waving (54)", "signing (54)", "signing ×4 (14)"]
    bounded = [row for row in errors.rows if row[1] == "bounded"]
    assert [row[7:10] for row in bounded] == [("0", "0", "0")] * 3
    assert len(findings.rows) == 6
    assert [row[3:] for row in stress.rows] == [("0", "0", "0")] * 2
    assert [(check.what, check.holds) for check in results.checks] == [
        ("violations of bounds that were set: 0", True)
    ]
    assert "It gives no numbers" in capsys.readouterr().out
