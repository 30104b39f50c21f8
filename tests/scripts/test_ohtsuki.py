"""The tables of the calibration paper on a small grid: short motions, few generations, few draws."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from simbench.calibration.arm_recording import Feedback
from simbench.dynamics.arm import read_arm

SCRIPTS = Path(__file__).parents[2] / "scripts" / "reproduce" / "ohtsuki"


@pytest.fixture(scope="module")
def scripts():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        import accelerometers  # noqa: F401
        import animation  # noqa: F401
        import dynamics
        import kinematics
        import motions

        patch.setattr(motions, "RATE", 500.0)
        patch.setattr(kinematics, "KINEMATIC_GENERATIONS", 30)
        patch.setattr(dynamics, "DYNAMIC_GENERATIONS", 30)
        yield sys.modules


@pytest.fixture(scope="module")
def motions(scripts):
    return scripts["motions"].record(Feedback(), 5, 1000)


@pytest.fixture(scope="module")
def arm():
    known = read_arm("direct_drive_arm")
    return dataclasses.replace(known, mass=np.ones(2), centre=np.zeros((2, 3)), inertia=np.zeros((2, 3, 3)))


def test_kinematics_beside_the_paper_and_the_bound(scripts, motions, capsys, monkeypatch):
    table = scripts["kinematics"]
    assert table.table_1(motions, 2, (0,), (0,)) == []
    assert "genetic, RMS of 1" in capsys.readouterr().out
    monkeypatch.setitem(table.KINEMATIC, (1, 1), (0.25, 0.0, 0.30, 0.0))
    missed = table.table_1(motions, 2, (1,), (1,))
    assert missed[0] == (
        "1 mm, 1 deg: least squares, first draw: greater than the paper's in column(s) 1, 2, 3, 4"
    )
    out = capsys.readouterr().out
    assert "least squares, RMS of 2" in out
    assert "Cramer-Rao" in out
    table.figure_6(motions)
    assert "near: Newton-Raphson 20, Nelder-Mead 20" in capsys.readouterr().out


@pytest.mark.slow
def test_dynamics_beside_the_paper(scripts, arm, motions, capsys):
    table = scripts["dynamics"]
    missed, found = table.table_3(arm, motions, 1, (0, 10))
    # Bullet's half a step between angles and velocities passes for damping at this rate.
    assert not [each for each in missed if each.startswith("table 3, 0 deg")]
    assert "table 3, 10 deg: least squares, first draw: greater than the paper's" in "".join(missed)
    np.testing.assert_allclose(table.cells(found["0 deg, least squares"]), 0.0, atol=1e-5)
    assert {"10 deg, genetic", "10 % of range, least squares"} < found.keys()
    assert table.table_6(arm, motions, (1000,)) == []
    gains, law = (5.5, -5.5), (9.5, -9.5, -3.5)
    missed, taken = table.tables_4_and_5(arm, motions, 1000, (gains,), (law,))
    assert "the paper's" not in "".join(missed)
    # The true values in proportion to the gains; k_a is the drives' inertia.
    np.testing.assert_allclose(taken[gains][3], 0.471209 * 5.5 / 9.5, rtol=1e-4)
    np.testing.assert_allclose(taken[law][table.DRIVE], -3.5, atol=1e-4)
    assert capsys.readouterr().out.count("Newton-Raphson, RMS of 1") == 3 + 1 + 2


@pytest.mark.slow
def test_animation_beside_the_paper(scripts, arm, tmp_path, capsys):
    animation, table = scripts["animation"], scripts["dynamics"]
    law = (11.5, -11.5)
    motions = scripts["motions"].record(Feedback(), 22, 1000)
    right = table.least_squares(arm, motions[:5], Feedback())
    assert animation.right_law(arm, motions, {"least squares": right}, tmp_path) == []
    assert (tmp_path / "animation.png").stat().st_size > 10_000
    assert animation.driven_by_others(arm, (law,), 300) == []
    wrong = table.least_squares(arm, motions[:5], Feedback(*law))
    assert animation.taken_for_others(arm, motions, {law: wrong}, (law,)) == []
    assert "without drives" in capsys.readouterr().out


def test_accelerometers_tell_the_arm_as_long_as_they_do_not_drift(scripts, arm, capsys, monkeypatch):
    monkeypatch.setattr(scripts["motions"], "RATE", 5000.0)
    motions = scripts["motions"].record(Feedback(), 3, 10_000)
    scripts["accelerometers"].accelerometers(arm, motions, ((0.0, 0.0), (0.0, 0.01)))
    lines = [line.split()[2:] for line in capsys.readouterr().out.splitlines() if "least squares" in line]
    clean, biased = np.array(lines, dtype=float)
    assert clean[0] < 0.05
    # D1: what a bias adds to the speed passes for friction.
    assert biased[4] > 3 * clean[4]


def test_rows_are_kept_as_they_are_printed(scripts, capsys):
    report = scripts["report"]
    before = len(report.finished_tables())
    report.begin_table("Table 9: noise", ("a", "b"), "table 9")
    report.begin_case("3 deg")
    paper = np.array([0.1, 0.05])
    assert report.compare("least squares", np.array([-0.2, 0.05]), paper, 2) == [
        "least squares: greater than the paper's in column(s) 1"
    ]
    report.begin_case("5 deg")
    report.show("genetic", np.array([np.nan, 1.0]), 1)
    report.add_note("ten times as accurate")
    table = report.finished_tables()[before]
    assert (table.title, table.source, table.note) == ("Table 9: noise", "table 9", "ten times as accurate")
    assert table.columns == ("case", "errors of", "a", "b")
    assert table.rows == (
        ("3 deg", "least squares", "0.20", "0.05"),
        ("", "paper", "0.10", "0.05"),
        ("5 deg", "genetic", "-", "1.0"),
    )
    out = capsys.readouterr().out
    assert all(cell in out for row in table.rows for cell in row)
