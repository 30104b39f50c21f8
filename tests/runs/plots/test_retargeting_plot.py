"""The picture of a retargeting: what is where on it, read back from its pixels."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import retargeted_by_hand as by_hand
from pictures import coloured, pixels

from simbench.motion.skeleton_plot import COLOURS
from simbench.retargeting.imitation.imitation import imitation_errors
from simbench.runs.plots.retargeting_plot import (
    BEYOND,
    CONTACT_COLOUR,
    HEADING,
    JOINT_HEIGHT,
    LEFT,
    LIMIT_COLOUR,
    PATHS_HEIGHT,
    TOP,
    draw_retargeting,
)


@pytest.fixture(scope="module")
def made(romeo, drawer_actor, drawer_motion):
    return by_hand.retargeting(romeo, drawer_actor, drawer_motion)


@pytest.fixture(scope="module")
def drawn(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "a.png"
    draw_retargeting(made, imitation_errors(made.plan.imitation, made.motion), path)
    return path


# The first row of joints: the trunk's yaw, then the left arm.
ROW = slice(TOP + PATHS_HEIGHT + HEADING, TOP + PATHS_HEIGHT + HEADING + JOINT_HEIGHT)
WIDTH, STEP = 173, 234.8


def joint(image, number):
    left = round(LEFT + number * STEP)
    return image[ROW, left : left + WIDTH]


def test_it_is_small_and_nothing_is_cut_off(drawn):
    assert 20_000 < drawn.stat().st_size < 200_000
    image = pixels(drawn)
    assert image.shape[1] == 1200
    assert 700 < image.shape[0] < 1000
    for border in (image[:4], image[-4:], image[:, :4], image[:, -4:]):
        assert (border == 255).all()


def test_a_joint_is_drawn_between_its_limits(drawn, made):
    """The elbow swings from the middle of its range to 0.9 of it in half the time."""
    shown = joint(pixels(drawn), 3)
    assert made.robot.joint_names[made.plan.upper[3]] == "LElbowRoll"
    beyond = coloured(shown, LIMIT_COLOUR)[:, 2:-2].mean(axis=1) > 0.9
    edges = np.flatnonzero(np.diff(beyond.astype(int)))
    low_share = BEYOND / (1.0 + 2.0 * BEYOND) * JOINT_HEIGHT
    assert edges[0] == pytest.approx(low_share, abs=2)
    # The third is the axis.
    assert edges[1] == pytest.approx(JOINT_HEIGHT - low_share, abs=2)
    rows, columns = np.nonzero(coloured(shown, COLOURS["left"]))
    high = (edges[1] - rows.min()) / (edges[1] - edges[0])
    assert high == pytest.approx(0.9, abs=0.03)
    assert columns[rows == rows.min()].mean() / WIDTH == pytest.approx(0.5, abs=0.03)


def test_contact_is_shaded_where_that_hand_is_in_contact(drawn, made):
    image = pixels(drawn)
    # Trunk and left arm: from a quarter to three eighths of the time.
    for number in (0, 3):
        columns = np.flatnonzero(coloured(joint(image, number), CONTACT_COLOUR).mean(axis=0) > 0.3)
        assert columns.min() / WIDTH == pytest.approx(0.25, abs=0.02)
        assert columns.max() / WIDTH == pytest.approx(0.375, abs=0.02)
    names = [made.robot.joint_names[column] for column in made.plan.upper]
    assert names[8] == "RShoulderPitch"
    below = image[ROW.start + JOINT_HEIGHT + 20 :]
    left = below[:, round(LEFT + 2 * STEP) : round(LEFT + 2 * STEP) + WIDTH]
    right = below[:, round(LEFT + 3 * STEP) : round(LEFT + 3 * STEP) + WIDTH]
    # The second row: the left wrist's last joint, then the right shoulder; the third row is the right arm's.
    assert coloured(left, CONTACT_COLOUR).any()
    assert not coloured(right, CONTACT_COLOUR).any()


def test_errors_are_drawn_to_scale(drawn):
    """The left hand's error is a straight line from 0 to 5 mm, the right elbow's 20 mm throughout."""
    upper = pixels(drawn)[TOP : TOP + PATHS_HEIGHT, 770:1174]
    # Below the legend; the axis goes to 1.45 × 20 mm × 1.05 of matplotlib's margin.
    bottom = PATHS_HEIGHT - 1
    top_mm = 1.45 * 21.0
    rows, columns = np.nonzero(coloured(upper[80:], COLOURS["left"])[:, 350:])
    # At the right end the line is near 5 mm.
    last = rows[columns == columns.max() - 3].min() + 80
    assert (bottom - last) / PATHS_HEIGHT * top_mm == pytest.approx(5.0, abs=0.4)


def test_one_joint_without_contact_and_a_name_that_is_no_formula(made, tmp_path):
    """The name is text whatever it holds, nothing is green, and few joints make a picture too."""
    nowhere = {side: np.zeros(by_hand.COUNT, dtype=bool) for side in ("left", "right")}
    hands = SimpleNamespace(contact=nowhere)
    plan = SimpleNamespace(**{**vars(made.plan), "hands": hands, "upper": made.plan.upper[:1]})
    motion = replace(made.motion, source=r"$\frac{$ _^" + 80 * "n")
    odd = SimpleNamespace(**{**vars(made), "motion": motion, "plan": plan})
    draw_retargeting(odd, imitation_errors(plan.imitation, motion), tmp_path / "a.png")
    image = pixels(tmp_path / "a.png")
    assert (image[:40, -4:] == 255).all()
    assert not coloured(image, CONTACT_COLOUR).any()
