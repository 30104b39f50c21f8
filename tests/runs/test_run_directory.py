import errno
import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from simbench.errors import RunError, SimbenchError
from simbench.runs.provenance import collect_provenance
from simbench.runs.run_directory import (
    MARKER,
    incomplete_path,
    json_text,
    replaced_run,
    run_directory,
    runs_directory,
    write_metrics,
)
from simbench.system.termination import Terminated

INPUTS = {"scenario.yaml": "name: x\n", "provenance.json": "{}\n"}


def _run_that_stops(final, raised):
    with run_directory(final, INPUTS) as folder:
        (folder / "log.nc").write_text("log", encoding="utf-8")
        raise raised


def _run_on_a_full_disk(final):
    with run_directory(final, INPUTS):
        Path("/dev/full").write_text("full", encoding="utf-8")


def test_a_whole_run_has_its_final_name_and_nothing_else_remains(tmp_path):
    final = tmp_path / "runs" / "a"
    with run_directory(final, INPUTS) as folder:
        assert folder == incomplete_path(final)
        assert not final.exists()
        (folder / "log.nc").write_text("log", encoding="utf-8")
    assert sorted(path.name for path in final.iterdir()) == ["log.nc", "provenance.json", "scenario.yaml"]
    assert (final / "scenario.yaml").read_text(encoding="utf-8") == "name: x\n"
    assert [path.name for path in final.parent.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (Terminated(signal.SIGTERM), "ended by SIGTERM"),
        (ZeroDivisionError("bug"), "bug"),
        (RunError("full"), "full"),
    ],
)
def test_an_interrupted_run_keeps_what_was_logged_and_says_why(tmp_path, raised, reason):
    final = tmp_path / "a"
    with pytest.raises(type(raised)):
        _run_that_stops(final, raised)
    assert not final.exists()
    kept = incomplete_path(final)
    assert (kept / "log.nc").read_text(encoding="utf-8") == "log"
    assert reason in (kept / MARKER).read_text(encoding="utf-8")


def test_bad_input_before_anything_was_logged_leaves_nothing(tmp_path):
    with pytest.raises(SimbenchError), run_directory(tmp_path / "runs" / "a", INPUTS):
        raise SimbenchError("joint `LKnee` is unknown")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_is_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    (tmp_path / "file").touch()
    incomplete_path(tmp_path / "stopped").mkdir()
    (incomplete_path(tmp_path / "stopped") / "notes.md").touch()
    for name, reason in (("full", "not empty"), ("file", "is a file"), ("stopped", "holds more than")):
        with pytest.raises(RunError, match=reason), run_directory(tmp_path / name, INPUTS):
            pass
    assert (tmp_path / "full" / "thesis.tex").exists()
    assert (incomplete_path(tmp_path / "stopped") / "notes.md").exists()


def test_a_run_that_was_killed_is_replaced_by_the_next_of_its_name(tmp_path):
    working = incomplete_path(tmp_path / "a")
    assert replaced_run(tmp_path / "a") is None
    (working / "log.parts").mkdir(parents=True)
    for name in ("scenario.yaml", "log.parts/000000.npz", ".log.nc.0123abcd.part"):
        (working / name).touch()
    assert replaced_run(tmp_path / "a").startswith(f"{working}: left by a run that did not finish")
    with run_directory(tmp_path / "a", INPUTS) as folder:
        assert sorted(os.listdir(folder)) == ["provenance.json", "scenario.yaml"]
    assert os.listdir(tmp_path) == ["a"]


def test_a_run_that_a_living_process_writes_is_refused(tmp_path):
    with run_directory(tmp_path / "a", INPUTS) as folder:
        (folder / "log.nc").touch()
        assert replaced_run(tmp_path / "a") is None
        with pytest.raises(RunError, match="another process"), run_directory(tmp_path / "a", INPUTS):
            pass
        assert (folder / "log.nc").exists()


@pytest.mark.parametrize("gone", ["runs/a.incomplete", "runs"])
def test_a_directory_that_vanishes_is_one_line(tmp_path, gone):
    def run():
        with run_directory(tmp_path / "runs" / "a", INPUTS) as folder:
            shutil.rmtree(tmp_path / gone)
            write_metrics(folder, {"fell": False})

    with pytest.raises(RunError, match="No such file or directory") as caught:
        run()
    assert "\n" not in str(caught.value)
    assert "kept" not in str(caught.value)


def test_several_runs_appear_together(tmp_path):
    with runs_directory(tmp_path / "runs") as folder:
        with run_directory(folder / "a", INPUTS):
            pass
        assert not (tmp_path / "runs").exists()
    assert os.listdir(tmp_path / "runs") == ["a"]
    with pytest.raises(RunError, match="not an empty directory"), runs_directory(tmp_path / "runs"):
        pass


@pytest.mark.parametrize("left", ["a/scenario.yaml", "a.incomplete/log.nc"])
def test_several_runs_that_were_killed_are_replaced(tmp_path, left):
    path = incomplete_path(tmp_path / "runs") / left
    path.parent.mkdir(parents=True)
    path.touch()
    with runs_directory(tmp_path / "runs") as folder:
        assert not os.listdir(folder)


def test_a_directory_of_runs_with_other_files_stays(tmp_path):
    path = incomplete_path(tmp_path / "runs") / "a" / "thesis.tex"
    path.parent.mkdir(parents=True)
    path.touch()
    with pytest.raises(RunError, match="holds other files"), runs_directory(tmp_path / "runs"):
        pass
    assert path.exists()


def test_an_empty_directory_is_used(tmp_path):
    (tmp_path / "a").mkdir()
    with run_directory(tmp_path / "a", INPUTS):
        pass
    assert (tmp_path / "a" / "scenario.yaml").exists()


@pytest.mark.parametrize("place", ["file/a", "file/b/a", "x" * 300])
def test_a_place_that_cannot_be_written_is_refused_in_one_line(tmp_path, place):
    (tmp_path / "file").touch()
    with pytest.raises(RunError) as caught, run_directory(tmp_path / place, INPUTS):
        pass
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_one_line_and_keeps_the_run(tmp_path):
    final = tmp_path / "a"
    with pytest.raises(RunError, match="No space left on device") as caught:
        _run_on_a_full_disk(final)
    assert "\n" not in str(caught.value)
    assert str(incomplete_path(final)) in str(caught.value)
    assert (incomplete_path(final) / MARKER).exists()


def test_a_full_disk_is_recognised_in_the_words_of_hdf5(tmp_path):
    error = RuntimeError("flush failed (file write failed: errno = 28, 'No space left on device')")
    with pytest.raises(RunError, match="cannot write: No space left on device; partial run kept"):
        _run_that_stops(tmp_path / "a", error)


def test_other_system_errors_are_not_blamed_on_the_disk(tmp_path):
    with pytest.raises(FileNotFoundError), run_directory(tmp_path / "a", INPUTS):
        raise FileNotFoundError(errno.ENOENT, "missing", "mesh.stl")


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EACCES, errno.ELOOP, errno.EMFILE])
def test_a_system_error_before_anything_was_logged_leaves_nothing(tmp_path, number):
    with pytest.raises(OSError, match="mesh"), run_directory(tmp_path / "runs" / "a", INPUTS):
        raise OSError(number, "mesh")
    assert list(tmp_path.iterdir()) == []


def test_arguments_that_are_not_text_are_written_as_text():
    command = ["simbench", os.fsdecode(b"\xff/\xc3\xbc")]
    text = json_text(collect_provenance(0, command))
    assert json.loads(text.encode())["command"] == ["simbench", "\ufffd/ü"]


def test_metrics_are_sorted_json_without_nan(tmp_path):
    metrics = {"b_m": np.float64(0.5), "a": np.bool_(True), "c": float("nan"), "d": np.inf, "n": np.int64(3)}
    write_metrics(tmp_path, metrics)
    text = (tmp_path / "metrics.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"a": True, "b_m": 0.5, "c": None, "d": None, "n": 3}
    assert list(json.loads(text)) == ["a", "b_m", "c", "d", "n"]


def test_provenance_tells_what_a_repetition_needs():
    record = json.loads(json_text(collect_provenance(7, ["simbench", "run", "drawer"])))
    assert record["seed"] == 7
    assert record["command"] == ["simbench", "run", "drawer"]
    assert record["packages"]["numpy"] == np.__version__
    assert {"simbench", "git_commit", "python", "platform", "processor", "cores", "date"} <= set(record)


def test_ctrl_c_before_anything_was_logged_leaves_nothing(tmp_path):
    def interrupted():
        with run_directory(tmp_path / "runs" / "one", {"scenario.yaml": "name: one\n"}):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
