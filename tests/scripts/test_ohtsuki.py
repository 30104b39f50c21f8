"""The tables of the calibration paper on a small grid: short motions, few generations, few draws."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from simbench.calibration.arm_recording import Feedback
from simbench.calibration.dynamic_calibration import BaseParameters, make_calibrated_arm, with_motors
from simbench.dynamics.arm import read_arm

SCRIPTS = Path(__file__).parents[2] / "scripts" / "reproduce" / "ohtsuki"


@pytest.fixture(scope="module")
def scripts():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        import accelerometers  # noqa: F401
        import animation  # noqa: F401
        import dynamics
        import forward_dynamics  # noqa: F401
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
    monkeypatch.setattr(table, "MEANS", 4)
    assert table.table_1(motions, 2, (1,), (1,)) == []
    out = capsys.readouterr().out
    assert "greater than the paper's in column(s) 1, 2, 3, 4" in out
    assert "least squares, RMS of 2" in out
    assert "Cramer-Rao" in out
    assert [check.holds for check in scripts["report"].CHECKS[-4:]] == [True, False] * 2


def test_convergence_from_near_and_far(scripts, motions, tmp_path):
    scripts["kinematics"].figure_6(motions, tmp_path)
    assert (tmp_path / "ohtsuki_figure6.png").stat().st_size > 10_000
    rows = {row[1]: row[2:] for row in scripts["report"].finished_tables()[-1].rows}
    assert rows["Nelder-Mead, near"][-1] == rows["Newton-Raphson, near"][-1] == "20 of 20"
    assert int(rows["Newton-Raphson, far"][-1].split()[0]) < 10
    errors = [float(each) for each in rows["genetic, no start"][:-1]]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < 0.2 * errors[0]


def test_arm_recorded_by_accelerometers(scripts, monkeypatch):
    monkeypatch.setattr(scripts["motions"], "RATE", 5000.0)
    motions = scripts["motions"].record(Feedback(), 3, 10_000)
    scripts["kinematics"].table_2(motions)
    ours = np.array(scripts["report"].finished_tables()[-1].rows[0][2:], dtype=float)
    assert (ours < [4.2, 0.1, 3.1, 0.1]).all()


@pytest.mark.parametrize("law", [(9.5, -9.5), (9.5, -9.5, -3.5)])
@pytest.mark.parametrize("drive", [None, 0.3])
def test_compiled_arm_is_the_articulated_body_algorithms(scripts, law, drive):
    forward, planar, true = (scripts[name] for name in ("forward_dynamics", "planar_arm", "tables"))
    known = read_arm("direct_drive_arm")
    arm = known if drive is None else with_motors(known)
    values = true.TRUE if drive is None else np.insert(true.TRUE, planar.DRIVE, drive)
    made = make_calibrated_arm(arm, BaseParameters(arm), values)
    start, target = np.random.default_rng(0).uniform(-2, 2, (2, 3, 2))
    case = Feedback(*law), start, target, 0.001, 200
    for euler, scheme in ((False, forward.runge_kutta), (True, forward.runge_kutta_then_euler)):
        expected = forward.simulate_law(made, *case, scheme)
        for ours, theirs in zip(planar.animate(values, *case, euler), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_real_arm_becomes_the_model(scripts):
    """Without what the model lacks it is the model; elastic joints differ by the square of 1/frequency."""
    planar, true = scripts["planar_arm"], scripts["tables"].TRUE
    start, target = np.random.default_rng(0).uniform(-2, 2, (2, 2, 2))

    def record(**real):
        arm = planar.RealArm(**real)
        return planar.record_real(true, arm, Feedback(), start, target, 25_000.0, 25, 500)

    smooth = true * [1, 1, 0, 1, 1, 1, 1, 0]
    q, velocity = planar.animate(smooth, Feedback(), start, target, 0.001, 499)
    for i, each in enumerate(record()):
        np.testing.assert_allclose(each.q, q[:, i], atol=1e-9)
        np.testing.assert_allclose(each.velocity, velocity[:, i], atol=1e-8)
        slope = np.gradient(each.velocity, 0.001, axis=0)
        np.testing.assert_allclose(slope[1:-1], each.acceleration[1:-1], rtol=1e-3, atol=1e-3)
    off = [np.abs(record(resonance=f)[0].q - q[:, 0]).max() for f in (100.0, 200.0)]
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.2)
    # Friction takes from the work of the law what the arm lacks in energy.
    slow, free = (record(coulomb=(c, c), breakaway=1.5)[0] for c in (0.2, 0.0))
    assert np.abs(slow.q[-1] - start[0]).max() < np.abs(free.q[-1] - start[0]).max()


def test_genetic_search_of_many_problems(scripts):
    search = scripts["paper_searches"].genetic_search
    aims = np.random.default_rng(1).uniform(-1, 1, (3, 4))
    best, history = search(
        lambda x: np.sum((x - aims[:, None]) ** 2, axis=-1), np.full(4, -1), np.ones(4), 150, 0, (3,)
    )
    np.testing.assert_allclose(best, aims, atol=0.02)
    assert history.shape == (150, 3)
    assert (np.diff(history, axis=0) <= 0.0).all()


@pytest.mark.slow
def test_dynamics_beside_the_paper(scripts, arm, motions, capsys):
    table = scripts["dynamics"]
    missed, found = table.table_3(arm, motions, 1, (0, 10))
    # Bullet's half a step between angles and velocities passes for damping at this rate.
    assert not [each for each in missed if each.startswith("table 3, 0 deg")]
    np.testing.assert_allclose(table.cells(found["0 deg, least squares"]), 0.0, atol=1e-5)
    assert {"10 deg, genetic", "10 % of range, least squares"} < found.keys()
    assert table.table_6(arm, motions, (1000,)) == []
    gains, law = (5.5, -5.5), (9.5, -9.5, -3.5)
    scripts["motions"].RATE = 25_000.0
    missed, taken = table.tables_4_and_5(arm, motions, 10_000, (gains,), (law,))
    scripts["motions"].RATE = 500.0
    assert "the paper's" not in "".join(missed)
    # The true values in proportion to the gains; k_a is the drives' inertia.
    np.testing.assert_allclose(taken[gains][3], 0.471209 * 5.5 / 9.5, rtol=1e-4)
    np.testing.assert_allclose(taken[law][table.DRIVE], -3.5, atol=1e-4)
    assert capsys.readouterr().out.count("Newton-Raphson, RMS of 1") == 3 + 1 + 2


@pytest.mark.slow
def test_animation_beside_the_paper(scripts, arm, tmp_path, capsys, monkeypatch):
    animation, table = scripts["animation"], scripts["dynamics"]
    law = (11.5, -11.5)
    motions = scripts["motions"].record(Feedback(), 22, 1000)
    right = table.least_squares(arm, motions[:5], Feedback())
    assert animation.right_law(motions, {"least squares": right}) == []
    monkeypatch.setattr(scripts["motions"], "RATE", 25_000.0)
    animation.other_arms(arm, tmp_path, 25_000)
    assert (tmp_path / "ohtsuki_figures_7_8.png").stat().st_size > 10_000
    assert animation.driven_by_others(arm, (law,), 25_000) == []
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
