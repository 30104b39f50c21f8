"""The documented thresholds are those of the code, and belong to checks that exist."""

from pathlib import Path

import pytest
from standing_motions import standing_motion

from simbench.runs.verdict.physical_checks import check_trajectory
from simbench.runs.verdict.verdict_outcome import THRESHOLDS

PAGE = Path(__file__).parents[3] / "docs" / "how_to" / "robot_motion.md"


def documented():
    """Rows of the table of thresholds."""
    text = PAGE.read_text(encoding="utf-8").split("### Thresholds")[1]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[1:]]


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda each: f"{each.check}-{each.what}")
def test_the_page_has_the_value_and_the_reason(threshold):
    value = f"{threshold.value:g} {threshold.unit}".strip()
    assert (threshold.check, threshold.what, value, threshold.reason) in documented()


def test_the_page_has_no_other_thresholds():
    assert len(documented()) == len(THRESHOLDS)


def test_every_threshold_belongs_to_a_check():
    robot, trajectory = standing_motion("romeo", 30.0)
    names = {check.name for check in check_trajectory(robot, trajectory).checks}
    bounded = {each.check for each in THRESHOLDS if not each.check.startswith("run: ")}
    assert bounded <= names
    # The others are reported, not judged.
    assert names - bounded == {"joint acceleration", "joint jerk"}
