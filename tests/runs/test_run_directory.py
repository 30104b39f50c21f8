"""x"""

import errno
import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
import run_by_hand as by_hand

from simbench.cli.main import main
from simbench.errors import RunError, SimbenchError, StudyError
from simbench.plugins.declarations import call_plugin
from simbench.runs.provenance import collect_provenance
from simbench.runs.run_directory import (
    MARKER,
    incomplete_path,
    json_text,
    read_metrics,
    read_provenance,
    replaced_run,
    run_directory,
    runs_directory,
    shielded_from_interrupt,
    write_metrics,
)
from simbench.runs.study import StudyRow, read_row, study_directory, write_row
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

    with pytest.raises(RunError) as caught:
        run()
    assert "\n" not in str(caught.value)
    assert "kept" not in str(caught.value)


def test_several_runs_appear_together(tmp_path):
    with runs_directory(tmp_path / "runs") as folder:
        with run_directory(folder / "a", INPUTS):
            pass
        assert not (tmp_path / "runs").exists()
    assert os.listdir(tmp_path / "runs") == ["a"]
    with pytest.raises(RunError), runs_directory(tmp_path / "runs"):
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
    with pytest.raises(RunError), runs_directory(tmp_path / "runs"):
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
    with pytest.raises(RunError) as caught:
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


DEEP = "[" * 100_000
DAMAGED = [
    (b"", ":1:1: not valid JSON"),
    (b"{", ":1:2: not valid JSON"),
    (b"[]", ":1:1: must hold a JSON object"),
    (b'"a"', ":1:1: must hold a JSON object"),
    (DEEP.encode(), ":1:51: not valid JSON: nested more than"),
    (b'{"a":' * 100_000, "nested more than"),
    (b'{"a": NaN}', ":1:7: not valid JSON: NaN is not a finite number"),
    (b'{"a": 1e999}', "1e999 is not a finite number"),
    (b'{"a": 1, "a": 2}', ":1:10: not valid JSON: name 'a' is given twice"),
    (b'{"a": "\xff"}', ":1:8: not a text file in UTF-8"),
    ("{}".encode("utf-16"), ":1:1: not a text file in UTF-8, but in UTF-16"),
    (b'{"a": "\\ud800"}', "is half of a character"),
    (b"\x89HDF\r\n\x1a\n" * 1000, "not a text file in UTF-8"),
]


@pytest.mark.parametrize(("content", "said"), DAMAGED)
@pytest.mark.parametrize(
    ("name", "read"), [("metrics.json", read_metrics), ("provenance.json", read_provenance)]
)
def test_damaged_files_are_refused_in_one_line(tmp_path, name, read, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RunError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}:")
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("value", ["[1]", '{"b": 1}', "[]", "{}"])
def test_metrics_are_numbers_text_or_null(tmp_path, value):
    (tmp_path / "metrics.json").write_text(f'{{"a_m": 1, "b_m": {value}}}')
    with pytest.raises(RunError, match=r"metrics\.json: b_m: must be a number, true, false, text or null"):
        read_metrics(tmp_path)


def test_what_was_written_is_read_back(tmp_path):
    metrics = {"a_m": 1.5, "b": True, "c": "none", "d_s": None, "e_count": 3}
    write_metrics(tmp_path, metrics | {"f_m": float("nan")})
    assert read_metrics(tmp_path) == metrics | {"f_m": None}
    provenance = collect_provenance(7, ["simbench", "run"])
    (tmp_path / "provenance.json").write_text(json_text(provenance))
    assert read_provenance(tmp_path) == provenance


@pytest.mark.parametrize("key", ["simbench", "date", "seed", "cores", "command", "packages", "processor"])
@pytest.mark.parametrize("value", [None, 1.5, True, [1], {"a": 1}, [["a"]]])
def test_provenance_has_the_entries_that_are_read(tmp_path, key, value):
    whole = collect_provenance(7, ["simbench", "run"])
    path = tmp_path / "provenance.json"
    path.write_text(json_text({name: each for name, each in whole.items() if name != key}))
    with pytest.raises(RunError, match=rf"provenance\.json: {key} is missing"):
        read_provenance(tmp_path)
    path.write_text(json_text(whole | {key: value}))
    if value is None and key not in ("command", "packages"):
        assert read_provenance(tmp_path)[key] is None
        return
    with pytest.raises(RunError, match=rf"provenance\.json: {key}: must be "):
        read_provenance(tmp_path)


@pytest.mark.parametrize("name", ["metrics.json", "provenance.json", "scenario.yaml"])
@pytest.mark.parametrize("content", [DEEP, "\x00", '{"a": 1, "a": 1}'])
def test_a_report_of_a_damaged_run_is_one_line_and_leaves_nothing(tmp_path, capsys, name, content):
    run = by_hand.write_puma_run(tmp_path / "run")
    (run / name).write_text(content)
    before = sorted(tmp_path.rglob("*"))
    assert main(["report", str(run)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {run / name}:")
    assert said.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


MANIFEST = {"function": "f", "runs": 2, "varied": ["a"], "items": "0", "sources": "1"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *DAMAGED[:2],
        *DAMAGED[4:],
        (b"[]", "study.json: the file: "),
        (json.dumps(MANIFEST | {"runs": "2"}).encode(), "study.json: runs: "),
        (json.dumps(MANIFEST | {"varied": [1]}).encode(), "study.json: varied.0: "),
        (json.dumps({"function": "f"}).encode(), "study.json: runs: Field required"),
        (json.dumps(MANIFEST | {"items": "1"}).encode(), "holds another study, 2 runs over a;"),
        (json.dumps(MANIFEST | {"sources": "2"}).encode(), "begun with other sources"),
    ],
)
def test_a_study_with_another_description_is_refused(tmp_path, content, said):
    (tmp_path / "study.json").write_bytes(content)
    with pytest.raises(StudyError) as caught, study_directory(tmp_path, MANIFEST, {}):
        pass
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]


@pytest.mark.parametrize(
    "content",
    [
        *(content for content, _ in DAMAGED),
        b'{"values": {"a": [1]}, "seconds": 1, "error": ""}',
        b'{"values": {"a": NaN}, "seconds": 1, "error": ""}',
        b'{"values": {}, "seconds": "1", "error": ""}',
        b'{"values": {}, "seconds": -1, "error": ""}',
        b'{"values": {}, "seconds": null, "error": null}',
        b'{"values": {}, "seconds": null, "error": "", "more": 1}',
        b'{"values": null, "seconds": null, "error": ""}',
    ],
)
def test_a_damaged_row_is_run_again(tmp_path, content):
    (tmp_path / "rows").mkdir()
    row = StudyRow({"a": 1}, {"b": 1, "c": 1.5, "d": "x", "e": None, "f": True}, 2.5, "")
    write_row(tmp_path, "k", row)
    found = read_row(tmp_path, "k", {"a": 1})
    assert found == row
    assert list(map(type, found.values.values())) == list(map(type, row.values.values()))
    (tmp_path / "rows" / "k.json").write_bytes(content)
    assert read_row(tmp_path, "k", {"a": 1}) is None


def test_a_run_may_have_doubts_as_text(tmp_path):
    provenance = collect_provenance(7, ["simbench", "run"])
    path = tmp_path / "provenance.json"
    path.write_text(json_text(provenance | {"doubts": ["feet sink"]}))
    assert read_provenance(tmp_path)["doubts"] == ["feet sink"]
    path.write_text(json_text(provenance | {"doubts": [1]}))
    with pytest.raises(RunError):
        read_provenance(tmp_path)


@pytest.fixture(autouse=True)
def interruptible():
    """A suite started in the background of a script inherits a SIGINT that is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_block_and_then_happens():
    done = []

    def work():
        with shielded_from_interrupt() as interrupted:
            done.append(interrupted())
            os.kill(os.getpid(), signal.SIGINT)
            done.append(interrupted())

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [False, True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_does_not_wait_for_a_plug_in():
    """Which may never return: this one says what is wrong instead of being interrupted."""

    def plugged():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in iter(int, 1):
                pass
        except KeyboardInterrupt:
            raise ValueError from None

    def work():
        with shielded_from_interrupt():
            call_plugin("plugged", plugged)

    with pytest.raises(KeyboardInterrupt):
        work()


def test_nothing_happens_without_an_interrupt():
    with shielded_from_interrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_an_interrupt_is_ignored_it_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with shielded_from_interrupt() as interrupted:
        os.kill(os.getpid(), signal.SIGINT)
        assert not interrupted()
