"""The documented thresholds are those of the code, and belong to checks that exist."""

from pathlib import Path

from standing_motions import standing_motion

from simbench.runs.verdict.physical_checks import check_trajectory

PAGE = Path(__file__).parents[3] / "docs" / "how_to" / "robot_motion.md"


def documented():
    """Rows of the table of thresholds."""
    text = PAGE.read_text(encoding="utf-8").split("### Thresholds")[1]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[1:]]


def test_every_threshold_belongs_to_a_check():
    robot, trajectory = standing_motion("romeo", 30.0)
    checks = {check.name: check for check in check_trajectory(robot, trajectory).checks}
    names = checks.keys()
    bounded = {row[0] for row in documented() if not row[0].startswith("run: ")}
    assert bounded <= names
    # The others are reported, not judged.
    assert names - bounded == {"joint acceleration", "joint jerk"}
    for name, _, value, _ in documented():
        # A joint's limit has its own unit; a jump is bounded by several thresholds.
        if name in ("foot skate", "sole angle", "self-collision", "COG", "pull", "friction"):
            assert value == f"{checks[name].limit:g} {checks[name].unit}".strip()
