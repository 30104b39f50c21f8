"""COG and ZMP over time: what is where on the picture, read back from its pixels."""

import numpy as np
import pytest
import stepping_by_hand as by_hand
from PIL import Image

from simbench.errors import RunError
from simbench.runs.plots.balance_plot import (
    BETWEEN,
    COG_COLOUR,
    HEIGHT,
    LEFT,
    MARGIN,
    RIGHT,
    SPACE,
    SUPPORT_COLOUR,
    TOP,
    WIDTH,
    ZMP_COLOUR,
    draw_balance,
    until_fall,
)

# Drawn of 8 s and of 4.98 s: the robot has fallen at 5 s.
WIDE = (WIDTH - LEFT - RIGHT - BETWEEN) * 8.0 / 12.98


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "a.png"
    runs = {"stays": by_hand.stepping_log(), "falls": by_hand.stepping_log(fall=5.0)}
    draw_balance(runs, r"no $\frac{formula", path)
    assert 5_000 < path.stat().st_size < 150_000
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def distance(image, colour):
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return np.abs(image - wanted).max(axis=2)


def green_at(shown):
    rows = np.flatnonzero(distance(shown, SUPPORT_COLOUR) <= 12)
    return [rows.max(), rows.min()]


def line_at(shown, colour):
    """Row of a line, whose pixels are mixed with those beside it."""
    return int(distance(shown, colour).argmin())


def column_at(image, run, time, row):
    """Pixels of one moment: `row` 0 is what is to the left, 1 what is forward."""
    left = LEFT if run == 0 else LEFT + WIDE + BETWEEN
    scale = WIDE / 8.0
    top = TOP + row * (HEIGHT + SPACE)
    return image[top : top + HEIGHT, round(left + scale * time)][:, None]


def place(pixels, low, high):
    """Coordinate of a row of pixels where the support's extremes are low and high."""
    span = high - low
    return high + MARGIN * span - np.asarray(pixels) / HEIGHT * (1.0 + 2.0 * MARGIN) * span


@pytest.mark.parametrize(
    ("time", "zmp", "support"), [(1.0, 0.0, (-160, 160)), (2.3, -140.0, (-160, -20)), (3.3, 140.0, (20, 160))]
)
@pytest.mark.parametrize("run", [0, 1])
def test_zmp_and_support_are_where_the_log_has_them(drawn, run, time, zmp, support):
    shown = column_at(drawn, run, time, 0)
    assert place(line_at(shown, ZMP_COLOUR), -160, 160) == pytest.approx(zmp, abs=4.0)
    assert place(green_at(shown), -160, 160) == pytest.approx(support, abs=7.0)


def test_forward_is_below_with_a_scale_of_its_own(drawn):
    shown = column_at(drawn, 0, 2.3, 1)
    assert place(line_at(shown, COG_COLOUR), -100, 140) == pytest.approx(50.0, abs=4.0)
    assert place(green_at(shown), -100, 140) == pytest.approx((-100, 140), abs=6.0)


def test_nothing_is_cut_off(drawn):
    for border in (drawn[:4], drawn[-4:], drawn[:, :4], drawn[:, -4:]):
        assert (border == 255).all()


def test_a_log_is_cut_before_the_first_sample_of_a_fallen_robot():
    log = by_hand.stepping_log(fall=5.0)
    assert float(until_fall(log).time[-1]) == pytest.approx(4.98)
    assert until_fall(by_hand.stepping_log()).sizes["time"] == log.sizes["time"]


def test_a_robot_without_feet_is_refused(tmp_path):
    log = by_hand.stepping_log().drop_vars("zmp")
    with pytest.raises(RunError):
        draw_balance({"arm": log}, "", tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
