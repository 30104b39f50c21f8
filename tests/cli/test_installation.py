"""`simbench samples DIR`, and the files it writes: what they hold, and that the shown commands work."""

import re

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.motion.readers import read_motion
from simbench.resources import resource_dir

SAMPLES = resource_dir("samples")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    assert main(["samples", str(tmp_path / "new" / "samples")]) == 0
    monkeypatch.chdir(tmp_path / "new" / "samples")
    return tmp_path / "new" / "samples"


def files_below(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_files_are_written_and_listed(folder, capsys):
    assert files_below(folder) == files_below(SAMPLES)
    capsys.readouterr()
    assert main(["samples", "."]) == 0
    listed = {line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert listed == {str(path) for path in files_below(folder)}
    assert sum(map(len, files_below(folder).values())) < 3_000_000


def test_files_that_differ_are_kept_unless_forced(folder, capsys):
    (folder / "tips.csv").write_text("mine")
    (folder / "walk.trc").unlink()
    assert main(["samples", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "tips.csv: exists and differs" in said
    # Nothing is written where one file must not be.
    assert (folder / "tips.csv").read_text() == "mine"
    assert not (folder / "walk.trc").exists()
    assert main(["samples", str(folder), "--force"]) == 0
    assert files_below(folder) == files_below(SAMPLES)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_refused_in_one_line(tmp_path, capsys, place):
    (tmp_path / "file").touch()
    assert main(["samples", str(tmp_path / place)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "file" in said


def test_the_three_recordings_of_the_walk_are_one_motion(folder):
    markers, text, skeleton = (read_motion(f"walk.{suffix}") for suffix in ("c3d", "trc", "bvh"))
    for name, track in markers.joints.items():
        # TRC has four decimals of a millimetre, C3D 24 bits.
        np.testing.assert_allclose(text.joints[name], track, atol=2e-6, err_msg=name)
        np.testing.assert_allclose(skeleton.joints[name], track, atol=2e-6, err_msg=name)
    for name, frames in markers.segments.items():
        np.testing.assert_allclose(text.segments[name][:, :3, :3], frames[:, :3, :3], atol=1e-4)
        np.testing.assert_allclose(skeleton.segments[name][:, :3, :3], frames[:, :3, :3], atol=1e-4)


def estimates(out):
    """Value and standard deviation by the first words of each row of the printed tables."""
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    return {cells[0].split(" +")[0]: tuple(map(float, cells[-2:])) for cells in rows if cells[-1]}


def true_values(heading):
    """Numbers by name from the table of README.md whose first column has this heading."""
    text = (SAMPLES / "README.md").read_text(encoding="utf-8").replace("−", "-")
    table = text.partition(f"| {heading} |")[2].partition("\n\n")[0]
    found = {}
    for names, numbers in re.findall(r"^\| (`.*) \| ([^|]*) \|$", table, re.MULTILINE):
        keys = [name.split(" +")[0] for name in re.findall(r"`([^`]*)`", names)]
        values = [float(number) for number in re.findall(r"[-+]?\d+(?:\.\d+)?", numbers.partition("·")[0])]
        found |= dict(zip(keys, values * (len(keys) // len(values)), strict=True))
    return found


def test_calibration_finds_the_stated_values_of_the_direct_drive_arm(folder, capsys):
    law = ["--model", "direct_drive_arm", "--kp", "9.5", "--kv", "-9.5"]
    assert main(["calibrate", "motion1.csv", "motion2.csv", *law]) == 0
    found, true = estimates(capsys.readouterr().out), true_values("parameter")
    assert found.keys() == true.keys()
    for name, value in true.items():
        estimate, deviation = found[name]
        assert abs(estimate - value) < 3.5 * deviation, name
        assert deviation < 0.005


def test_calibration_finds_the_stated_differences_of_the_puma(folder, capsys):
    assert main(["calibrate", "tips.csv", "--model", "puma560"]) == 0
    out = capsys.readouterr().out
    found = estimates(out)
    model = {
        cells[0].strip(): cells[1].strip()
        for cells in (line.split("│")[1:-1] for line in out.splitlines() if "│" in line)
    }
    true = true_values("number of the Denavit-Hartenberg table")
    assert len(true) == 8
    for name, (estimate, deviation) in found.items():
        expected = {"tip.a": 0.03, "tip.d": 0.12}.get(name) or float(model[name]) + true.get(name, 0.0)
        # The model's numbers are printed with six digits.
        assert abs(estimate - expected) < 4.0 * deviation + 5e-6, name


def test_the_example_arm_raises_no_doubts_and_runs_its_scenario(folder, capsys):
    for name in ("my_arm/model.urdf", "my_arm/robot.yaml"):
        assert main(["robot", "inspect", name]) == 0
        assert "doubts: none" in capsys.readouterr().out
    # A third of the way out, for the time it takes.
    assert main(["run", "my_scenario.yaml", "--set", "motion.task.amplitude_rad=0.25", "--out", "run"]) == 0
