"""Run directories that were damaged or changed: one line, status 2, nothing written."""

import h5py
import numpy as np
import pytest
import run_by_hand as by_hand
from hdf5_damage import STRUCTURES

from simbench.cli.main import main
from simbench.runs.log import write_log

READERS = (["report"], ["video"])


@pytest.fixture
def run(tmp_path):
    return by_hand.write_puma_run(tmp_path / "run")


def refused(capsys, run, command, words):
    before = sorted(run.parent.rglob("*"))
    assert main([*command, str(run)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err
    assert sorted(run.parent.rglob("*")) == before


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize("name", ["joint_position", "joint"])
def test_a_log_without_what_is_shown(run, capsys, command, name):
    write_log(by_hand.puma_log().drop_vars(name), run / "log.nc")
    refused(capsys, run, command, f"its log has no {name}")


@pytest.mark.parametrize("name", ["torque_motor", "torque_limit", "foot"])
def test_a_report_needs_more_than_a_video(run, capsys, name):
    write_log(by_hand.puma_log().drop_vars(name), run / "log.nc")
    refused(capsys, run, ["report"], f"its log has no {name}")


@pytest.mark.parametrize("name", ["robot", "settle_s"])
def test_a_log_without_an_attribute(run, capsys, name):
    log = by_hand.puma_log()
    del log.attrs[name]
    write_log(log, run / "log.nc")
    refused(capsys, run, ["report"], f"its log has no {name}")


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize("number", [np.nan, -np.inf])
@pytest.mark.parametrize("name", ["joint_position"])
def test_numbers_that_cannot_be_drawn(run, capsys, command, name, number):
    log = by_hand.puma_log()
    log[name].values[50, 2] = number
    write_log(log, run / "log.nc")
    refused(capsys, run, command, f"{name} is NaN, infinite or beyond 1e+12 at 0.5 s")


def test_the_log_of_another_robot(run, capsys):
    joints = [f"other{k}" for k in range(6)]
    write_log(by_hand.puma_log().assign_coords(joint=joints), run / "log.nc")
    refused(capsys, run, ["video"], "the joints of its log are not those of puma560")


@pytest.mark.parametrize("kind", STRUCTURES)
def test_no_structure_is_read_from_outside_or_ends_in_a_traceback(run, capsys, monkeypatch, kind):
    """HDF5 removes the checksum as it changes the file; the trial, which would refuse most, is left out."""
    monkeypatch.setattr("simbench.runs.log.probe_file", lambda path: "")
    secret = run.parent / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["secret"] = np.array([12345.0, 67890.0])
    with h5py.File(run / "log.nc", "a") as file:
        STRUCTURES[kind](file, "torque_motor", secret)
    refused(capsys, run, ["report"], "error: ")


def test_plots_are_not_written_through_a_link(run, capsys, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (run / "plots").symlink_to(outside)
    refused(capsys, run, ["report", "--plots"], "plots: is a link")
    assert list(outside.iterdir()) == []
