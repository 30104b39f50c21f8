"""Rows and lines of what a run leaves of the person, of numbers made by hand, and the report with them."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from simbench.runs.fidelity_rows import fidelity_lines, fidelity_rows
from simbench.runs.report.report_page import report_page
from simbench.runs.report.run_report import read_reports

ERRORS = {
    "fidelity.hand_mean_fraction": 0.05,
    "fidelity.hand_p95_fraction": 0.12,
    "fidelity.hand_max_fraction": 0.2,
    "fidelity.hand_max_at_s": 1.25,
    "fidelity.hand_max_at_robot_s": 4.5,
    "fidelity.trunk_mean_rad": np.radians(3.0),
    "fidelity.trunk_p95_rad": np.radians(6.0),
    "fidelity.trunk_max_rad": np.radians(9.0),
    "fidelity.trunk_max_at_s": 0.0,
    "fidelity.trunk_max_at_robot_s": 2.0,
    "fidelity.root_mean_m": 0.1,
    "fidelity.root_p95_m": 0.2,
    "fidelity.root_max_m": 0.3004,
    "fidelity.root_max_at_s": 2.0,
    "fidelity.root_max_at_robot_s": 5.0,
}
TEMPO = {
    "fidelity.duration_ratio": 1.5,
    "fidelity.stretch_max_ratio": 2.25,
    "fidelity.stretch_max_at_s": 0.4,
    "fidelity.position_limit_fraction": 0.25,
    "fidelity.speed_limit_fraction": 0.0,
    "fidelity.executed_fraction": 1.0,
}


def test_errors_are_in_percent_of_the_arm_degrees_and_millimetres():
    assert [row.cells for row in fidelity_rows(ERRORS)] == [
        ("hand", "5.0", "12.0", "20.0", "% of arm", "1.25", "4.50"),
        ("trunk", "3.0", "6.0", "9.0", "°", "0.00", "2.00"),
        ("root", "100.0", "200.0", "300.4", "mm", "2.00", "5.00"),
    ]
    # What is not a number, as in a file that was changed, is not shown.
    broken = {**ERRORS, "fidelity.trunk_mean_rad": "x", "fidelity.root_p95_m": None}
    assert [row.quantity for row in fidelity_rows(broken)] == ["hand"]


def test_there_is_no_row_and_no_line_of_a_run_without_a_person():
    assert fidelity_rows({"fell": False, "tracking.rms_rad": 0.01}) == []
    assert list(fidelity_lines({"fell": False})) == []


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "tempo      1.5 times as long as the person, at most 2.25 at 0.40 s"),
        ({"fidelity.stretch_max_ratio": 1.5}, "tempo      1.5 times as long as the person"),
        (
            {"fidelity.stretch_max_ratio": 1.5, "fidelity.lag_s": 0.0123},
            "tempo      1.5 times as long as the person; hands 12.3 ms late",
        ),
        (
            {"fidelity.duration_ratio": 1.0, "fidelity.stretch_max_ratio": 1.0},
            "tempo      the person's",
        ),
        (
            {"fidelity.stretch_max_ratio": 1.5, "fidelity.lag_s": -0.001},
            "tempo      1.5 times as long as the person; hands 1.0 ms early",
        ),
    ],
)
def test_tempo_says_where_it_is_slowest_and_how_late_the_hands_are(more, expected):
    lines = list(fidelity_lines({**TEMPO, **more}))
    assert lines[0] == expected
    assert (
        lines[1] == "limits     a joint is at a limit of its position 25% of the time, at its speed limit 0%"
    )
    assert len(lines) == 2


def test_an_early_end_and_the_steps_have_lines():
    steps = {
        "fidelity.executed_fraction": 0.5,
        "fidelity.steps_wanted": 8.0,
        "fidelity.steps_missed_count": 1.0,
        "fidelity.step_position_rms_m": 0.021,
        "fidelity.step_time_rms_s": 0.05,
        "fidelity.step_heading_rms_rad": np.radians(2.5),
    }
    lines = list(fidelity_lines({**TEMPO, **steps}))
    assert lines[2] == "ended      after 50% of the recording; the rest is not compared"
    assert lines[3] == "steps      7 of the person's 8; RMS 21 mm, 0.050 s and 2.5° off"
    lost = dict.fromkeys([name for name in steps if "_rms_" in name])
    assert list(fidelity_lines({**TEMPO, **steps, **lost}))[3] == "steps      7 of the person's 8"


def test_the_report_has_a_section_of_a_run_that_follows_a_person_and_of_no_other(drawer_run, tmp_path):
    shutil.copytree(drawer_run(), tmp_path / "a")
    # What is shown of a report beside its metrics and its scene is that of the drawer.
    (report,) = read_reports([tmp_path / "a"], lambda *_: None)
    empty = replace(report, metrics={"fell": False}, checks=(), plots=[])
    assert "What is left of the person" not in report_page([empty], tmp_path)
    followed = replace(empty, folder=tmp_path / "b", metrics={**ERRORS, **TEMPO})
    page = report_page([followed], tmp_path)
    section = page[page.index("<h2>What is left of the person</h2>") :]
    assert "<td>3.0</td><td>6.0</td><td>9.0</td><td>°</td>" in section
    assert "tempo 1.5 times as long as the person, at most 2.25 at 0.40 s<br>limits" in section
    both = report_page([empty, followed], tmp_path)
    assert both.count("<h2>What is left of the person in b</h2>") == 1
