"""Plots of a run: what is drawn, read back from the figure instead of its pixels."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from simbench.plotting import ALARM_COLOUR, COLOURS, MEASURED_COLOUR, REFERENCE_COLOUR
from simbench.runs.log_builder import build_dataset
from simbench.runs.log_schema import fixture_coordinates
from simbench.runs.plots import run_plots

TIME = 0.01 * np.arange(401)
SETTLED = TIME >= 1.0
MASS = 30.0
XYZ6 = ("fx", "fy", "fz", "mx", "my", "mz")


def make_log(*, feet=True, fixtures=True):
    """Two joints, of which one is 2 mrad behind and the other 3 mrad sin 2πt off, after a bad start."""
    count = len(TIME)
    wanted = np.stack([np.sin(TIME), np.full(count, 0.5)], axis=1)
    off = np.stack([np.full(count, -0.002), 0.003 * np.sin(2.0 * np.pi * TIME)], axis=1)
    off[~SETTLED] = 1.0
    asked = np.stack([20.0 * np.sin(np.pi * TIME), np.full(count, 3.0)], axis=1)
    sides = ("left", "right")
    foot = np.zeros((count, 2, 6))
    foot[:, 0, 2], foot[:, 1, 2] = 100.0, MASS * 9.81 - 100.0
    grip = np.zeros((count, 2, 6))
    grip[:, 0, :3] = (3.0, 0.0, 4.0)
    grip[:, 1, 3:] = (0.6, 0.8, 0.0)
    held = np.zeros((count, 2), dtype=bool)
    held[100:200, 1] = True
    joint = ("time", "joint")
    variables = {
        "joint_position": (joint, wanted + off, "rad"),
        "joint_reference": (joint, wanted, "rad"),
        "torque_requested": (joint, asked, "N m"),
        "torque_motor": (joint, np.clip(asked, -10.0, 10.0), "N m"),
        "torque_limit": (("joint",), np.array([10.0, 12.0]), "N m"),
        "foot_wrench": (("time", "foot", "axis6"), foot if feet else foot[:, :0], "N"),
        "grip_wrench": (("time", "hand", "axis6"), grip, "N"),
        "hand_contact": (("time", "hand"), held, ""),
        "palm_actor": (("time", "hand", "xyz"), np.zeros((count, 2, 3)), "m"),
        "strokes": (("stroke", "bound"), np.array([[1.0, 2.0], [2.0, 3.5]]), "s"),
    }
    if fixtures:
        variables |= {
            "drawer_travel": (("time",), 0.2 * TIME / 4.0, "m"),
            "drawer_travel_velocity": (("time",), np.full(count, 0.05), "m/s"),
            "drawer_travel_actor": (("time",), 0.25 * TIME / 4.0, "m"),
            "wheel_turn": (("time",), np.pi * TIME / 4.0, "rad"),
            "wheel_turn_actor": (("time",), 0.5 * np.pi * TIME / 4.0, "rad"),
        }
    labels = {
        "time": TIME,
        "joint": ("LElbow", "LWrist"),
        "foot": sides if feet else np.array([], dtype=str),
        "hand": sides,
        "axis6": XYZ6,
        "xyz": ("x", "y", "z"),
    }
    attributes = {"settle_s": 1.0, "mass_kg": MASS, "gravity_m_s2": 9.81}
    return build_dataset(variables, labels, attributes)


@pytest.fixture
def figures(monkeypatch):
    """Figures that would have been written."""
    kept = []
    monkeypatch.setattr(run_plots, "save_png", lambda figure, path: kept.append(figure))
    return kept


def lines(axes, colour):
    return [line for line in axes.lines if to_hex(line.get_color()) == colour]


def test_tracking_shows_errors_after_settling_and_both_curves(figures):
    run_plots.draw_tracking(make_log(), "a", None)
    bars, elbow, wrist = figures[0].axes
    after = np.sin(2.0 * np.pi * TIME[SETTLED])
    expected = [2.0, 3.0 * np.sqrt(np.mean(after**2))]
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], expected)
    (largest,) = bars.lines
    np.testing.assert_allclose(largest.get_ydata(), [2.0, 3.0], rtol=1e-6)
    (wanted,), (own,) = lines(elbow, REFERENCE_COLOUR), lines(elbow, MEASURED_COLOUR)
    np.testing.assert_allclose(wanted.get_ydata(), np.degrees(np.sin(TIME)))
    np.testing.assert_allclose((own.get_ydata() - wanted.get_ydata())[SETTLED], np.degrees(-0.002))
    assert [axes.get_title(loc="left") for axes in (elbow, wrist)] == ["LElbow", "LWrist"]
    assert wrist.get_title(loc="right") == "3 mrad"


def test_torque_is_a_share_of_the_limit_and_red_where_more_was_asked_for(figures):
    run_plots.draw_torque(make_log(), "a", None)
    bars, elbow, wrist = figures[0].axes
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], [100.0, 25.0])
    assert [to_hex(bar.get_facecolor()) for bar in bars.patches] == [ALARM_COLOUR, MEASURED_COLOUR]
    (red,) = lines(elbow, ALARM_COLOUR)
    # 20 sin x is beyond 10 from 30° to 150° of every half turn.
    limited = np.isfinite(red.get_ydata())
    np.testing.assert_array_equal(limited, np.abs(np.sin(np.pi * TIME)) > 0.5)
    np.testing.assert_allclose(np.abs(red.get_ydata()[limited]), 100.0)
    assert elbow.texts[0].get_text() == f"limited {100.0 * limited.mean():.2g} % of the time"
    assert not wrist.texts
    assert wrist.get_title(loc="right") == "±12 N·m"
    assert np.isnan(lines(wrist, ALARM_COLOUR)[0].get_ydata()).all()


def test_contacts_are_forces_by_side_against_weight_and_strength(figures):
    run_plots.draw_contacts(make_log(), (60.0, 3.0), "a", None)
    floor, force, moment = figures[0].axes
    for axes, left, right, line in (
        (floor, 100.0, MASS * 9.81 - 100.0, MASS * 9.81),
        (force, 5.0, 0.0, 60.0),
        (moment, 0.0, 1.0, 3.0),
    ):
        for side, value in (("left", left), ("right", right)):
            (curve,) = lines(axes, COLOURS[side])
            np.testing.assert_allclose(curve.get_ydata(), value)
        assert axes.lines[-1].get_ydata()[0] == pytest.approx(line)
        assert axes.get_ylim()[1] > line
    (green,) = force.patches
    assert (green.get_x(), green.get_x() + green.get_width()) == pytest.approx((1.0, 1.99))


@pytest.mark.parametrize(("feet", "fixtures", "panels"), [(True, False, 1), (False, True, 2)])
def test_contacts_show_what_there_is(figures, feet, fixtures, panels):
    log = make_log(feet=feet, fixtures=fixtures)
    run_plots.draw_contacts(log, (60.0, 3.0), "a", None)
    assert len(figures[0].axes) == panels


def test_equipment_is_every_joint_beside_the_actors(figures):
    log = make_log()
    found = fixture_coordinates(log)
    assert [each[:2] for each in found] == [("drawer_travel", "m"), ("wheel_turn", "rad")]
    assert fixture_coordinates(make_log(fixtures=False)) == []
    run_plots.draw_equipment(log, "a", None)
    drawer, wheel = figures[0].axes
    for axes, own, actor, unit in ((drawer, 200.0, 250.0, "mm"), (wheel, 180.0, 90.0, "°")):
        np.testing.assert_allclose(lines(axes, MEASURED_COLOUR)[0].get_ydata(), own * TIME / 4.0)
        np.testing.assert_allclose(lines(axes, REFERENCE_COLOUR)[0].get_ydata(), actor * TIME / 4.0)
        assert axes.get_title(loc="right") == f"way {own:g} {unit}, the actor's {actor:g} {unit}"
        ends = [(span.get_x(), span.get_x() + span.get_width()) for span in axes.patches]
        assert ends == [(1.0, 2.0), (2.0, 3.5)]


def test_a_plot_is_a_small_png(tmp_path):
    run_plots.draw_equipment(make_log(), "no $\\frac{formula", tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.width == 1200
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert 3_000 < (tmp_path / "a.png").stat().st_size < 60_000
