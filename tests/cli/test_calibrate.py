"""`simbench calibrate`: parameters of a recording, and recordings that are refused."""

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.calibration.arm_recording import CHANNELS, Feedback
from simbench.cli.main import main
from simbench.dynamics.arm import read_arm

with loaded_script("reproduce/ohtsuki/forward_dynamics.py") as script:
    simulate_motions = script.simulate_motions

JOINTS = ("joint1", "joint2")
HEADER = ["time", *(f"{joint}.{channel}" for channel in CHANNELS for joint in JOINTS)]
LAW = ["--model", "direct_drive_arm", "--kp", "9.5", "--kv", "-9.5"]


@pytest.fixture(scope="module")
def table():
    start, target = [[-1.0, 0.5]], [[1.2, -1.3]]
    arm = read_arm("direct_drive_arm")
    (motion,) = simulate_motions(arm, Feedback(), start, target, 0.002, 2000)
    clock = np.arange(len(motion.q))[:, None] / motion.rate
    return np.hstack([clock, motion.q, motion.velocity, motion.acceleration, motion.target])


@pytest.fixture
def written(tmp_path):
    def write(numbers, header=HEADER):
        path = tmp_path / "motion.csv"
        np.savetxt(path, numbers, delimiter=",", header=",".join(header), comments="", fmt="%.12g")
        return str(path)

    return write


def test_parameters_are_printed(written, table, capsys):
    assert main(["calibrate", written(table), *LAW]) == 0
    out = capsys.readouterr().out
    for value in ("1.98608", "0.471209", "1.71863", "0.181763"):
        assert value in out
    assert "joint1: static friction  not identified" in out


def test_inertia_of_drives_is_found_with_the_links(written, table, capsys):
    """A law's k_a that the arm did not have is an inertia of its drives."""
    assert main(["calibrate", written(table), *LAW, "--ka", "-1.5"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "joint2.motor" in line]
    assert float(row.split()[3]) == pytest.approx(-1.5, abs=1e-4)


def test_what_a_still_joint_hides_is_unknown(written, table, capsys):
    still = table.copy()
    still[:, [2, 4, 6]] = 0.0
    assert main(["calibrate", written(still), *LAW]) == 1
    out = capsys.readouterr().out
    assert "joint2.viscous" in out.split("unknown: ")[1]
    assert "joint2.izz" in out.split("unknown: ")[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: (t[:, :-1], HEADER[:-1]), "no column joint2.target; allowed: time, joint1.position"),
        (lambda t: (np.where(np.arange(9) == 2, np.degrees(t), t), HEADER), "(degrees and radians?)"),
        (lambda t: (np.where(np.arange(9) == 3, -t, t), HEADER), "joint1.velocity: -1 times"),
        (lambda t: (np.delete(t, 100, axis=0), HEADER), "time: allowed: even steps"),
        (lambda t: (np.where(np.arange(9) == 4, np.nan, t), HEADER), "velocity: has gaps"),
        (lambda t: (t[:5], HEADER), "5 samples; allowed: at least 20"),
    ],
)
def test_bad_recordings_are_refused_in_one_line(written, table, capsys, change, message):
    assert main(["calibrate", written(*change(table)), *LAW]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


TIPS = ["time", "joint1.position", "joint2.position", "tip.x", "tip.y", "tip.z"]


def with_tips(clock, q):
    """An arm 2 mm longer and 0.01 rad off, its tip at (0.31, 0.02, 0.05) in the frame of its last row."""
    first, second = q[:, 0], q[:, 0] + q[:, 1] + 0.01
    x = 0.252 * np.cos(first) + 0.31 * np.cos(second) - 0.02 * np.sin(second)
    y = 0.252 * np.sin(first) + 0.31 * np.sin(second) + 0.02 * np.cos(second)
    return np.hstack([clock[:, None], q, np.stack([x, y, np.full_like(x, 0.85)], axis=1)])


@pytest.fixture(scope="module")
def tips():
    clock = np.arange(0, 8, 0.01)
    return with_tips(clock, np.stack([1.2 * np.sin(0.9 * clock), 1.4 * np.sin(1.3 * clock + 0.4)], axis=1))


def test_table_is_found_from_tips(written, tips, capsys):
    assert main(["calibrate", written(tips, TIPS), "--model", "direct_drive_arm"]) == 0
    out = capsys.readouterr().out
    found = {line.split()[1]: float(line.split()[5]) for line in out.splitlines() if line.startswith("│")}
    assert found["joint2.a"] == pytest.approx(0.252, abs=1e-6)
    assert found["tip.a"] == pytest.approx(np.hypot(0.31, 0.02), abs=1e-6)
    assert found["joint2.theta"] == pytest.approx(0.01 + np.arctan2(0.02, 0.31), abs=1e-6)
    assert "as in the model, for they move the tip as others do: joint1.d, joint2.d" in out
    assert found["tip.d"] == pytest.approx(0.05, abs=1e-6)


def test_lengths_that_a_still_joint_hides_are_unknown(written, tips, capsys):
    still = with_tips(tips[:, 0], tips[:, 1:3] * [0.0, 1.0])
    assert main(["calibrate", written(still, TIPS), "--model", "direct_drive_arm"]) == 1
    unknown = capsys.readouterr().out.split("unknown: ")[1]
    assert "joint1.a" in unknown
    assert "joint2.a" in unknown
    assert "tip.a" not in unknown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: (t[:, :-1], TIPS[:-1]), "no column tip.z; allowed: time, joint1.position"),
        (lambda t: (np.hstack([t[:, :3], 1e3 * t[:, 3:]]), TIPS), "(millimetres?)"),
        (
            lambda t: (np.hstack([t[:, :1], np.degrees(t[:, 1:3]), t[:, 3:]]), TIPS),
            "of this arm, in its order",
        ),
        (lambda t: (t[:5], TIPS), "5 samples; allowed: at least 20"),
    ],
)
def test_bad_tips_are_refused_in_one_line(written, tips, capsys, change, message):
    path = written(*change(tips))
    assert main(["calibrate", path, "--model", "direct_drive_arm"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith(f"error: {path}")
    assert said.count("\n") == 1


def test_table_and_dynamics_of_one_recording(written, table, capsys):
    first, second = table[:, 1], table[:, 1] + table[:, 2]
    x, y = (0.25 * of(first) + 0.3 * of(second) for of in (np.cos, np.sin))
    both = np.hstack([table, np.stack([x, y, np.full_like(x, 0.8)], axis=1)])
    assert main(["calibrate", written(both, [*HEADER, *TIPS[3:]]), *LAW]) == 0
    out = capsys.readouterr().out
    assert "tip.a" in out
    assert "joint2.izz" in out
    degrees = np.where(np.arange(9) == 2, np.degrees(table), table)
    assert main(["calibrate", written(np.hstack([degrees, both[:, 9:]]), [*HEADER, *TIPS[3:]]), *LAW]) == 2
    said = capsys.readouterr()
    assert "(degrees and radians?)" in said.err
    assert said.out == ""
