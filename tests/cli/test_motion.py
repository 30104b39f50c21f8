"""`simbench motion`: what is printed and written, and with which exit status."""

import errno
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.errors import MotionError
from simbench.motion import readers, writers
from simbench.motion.human_motion import Actor, Gap
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion

WALK = "deepmimic:humanoid3d_walk"


@pytest.fixture(scope="module")
def walk():
    return read_motion(WALK)


@pytest.fixture
def reading(monkeypatch, tmp_path, walk):
    """Reading gives what the test wants and keeps what was asked for."""
    fake = SimpleNamespace(motion=walk, asked=[], raises=None)

    def read(source, options):
        fake.asked.append((source, options))
        if fake.raises is not None:
            raise fake.raises
        return fake.motion

    monkeypatch.setattr(readers, "read_motion", read)
    monkeypatch.chdir(tmp_path)
    return fake


@pytest.fixture
def recorded(monkeypatch):
    """A session that records nothing."""
    calls = []

    def record_session(*arguments):
        calls.append(arguments[:-1])
        arguments[-1](1, 2)

    fake = SimpleNamespace(record_session=record_session)
    monkeypatch.setitem(sys.modules, "simbench.motion.actors.session", fake)
    return calls


@pytest.fixture
def written(monkeypatch):
    """Writing keeps what was to be written."""
    calls = []
    monkeypatch.setattr(writers, "write_motion", lambda motion, path: calls.append((motion, path)))
    return calls


def rows(capsys):
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("note")) <= 100
    return [line.split() for line in lines]


def test_inspect_prints_what_a_recording_holds(reading, capsys):
    assert main(["motion", "inspect", WALK]) == 0
    printed = rows(capsys)
    assert ["recording", WALK] in printed
    assert ["actor", "deepmimic,", "1.62", "m,", "45", "kg"] in printed
    assert ["duration", "1.267", "s,", "39", "frames"] in printed
    # Lengths of the humanoid's URDF, a quarter of 1.099152, 1.035788, and of twice 0.73244.
    assert ["left", "upper", "arm", "0.2748", "0.000", "0.22", "to", "0.36"] in printed
    assert ["right", "forearm", "0.2589", "0.000", "0.20", "to", "0.30"] in printed
    assert ["shoulder", "width", "0.3662", "0.000"] in printed
    assert ["doubts:", "none"] in printed
    # The clip's knee angle, column 20 of the right leg: 0.059223 to 1.35773 rad.
    assert ["right", "knee", "flexion", "3.4", "77.8", "74.4"] in printed


def test_reading_options_reach_the_reader(reading, written):
    assert main(["motion", "inspect", "a.c3d"]) == 0
    options = ["--unit", "mm", "--up", "y", "--map", "cmu", "--longest-gap", "0.5"]
    assert main(["motion", "inspect", "a.c3d", *options]) == 0
    assert main(["motion", "export", "a.c3d", "b.c3d", *options]) == 0
    declared = ("a.c3d", ReadOptions("mm", "y", "cmu", 0.5))
    assert reading.asked == [("a.c3d", ReadOptions()), declared, declared]


def test_gaps_what_is_missing_and_doubts_are_shown(reading, capsys, walk):
    wrist = walk.joints["left_wrist"].copy()
    wrist[20] += [0.0, 0.0, 0.9]
    reading.motion = replace(
        walk,
        actor=Actor("Ana", 1.68, None, "female", 31),
        markers={"LWRA": wrist, "[red]C7": walk.joints["neck"]},
        filled=(*(Gap("LWRA", k, k) for k in (2, 5, 8, 11)), Gap("[red]C7", 4, 6)),
        missing=("left_hand",),
        notes=("marker map plug_in_gait",),
    )
    assert main(["motion", "inspect", "a.c3d"]) == 0
    printed = rows(capsys)
    assert ["actor", "Ana,", "1.68", "m,", "female,", "31", "years"] in printed
    assert ["markers", "2"] in printed
    assert ["gaps", "5", "filled", "in", "2", "markers"] in printed
    assert ["missing", "left_hand"] in printed
    assert ["note", "marker", "map", "plug_in_gait"] in printed
    assert ["LWRA", "4", "0.033", "2,", "5,", "8,", "…"] in printed
    assert ["[red]C7", "1", "0.100", "4–6"] in printed
    (doubt,) = printed[printed.index(["doubts:", "1"]) + 1 :]
    assert doubt[:8] == ["marker", "LWRA:", "jump", "between", "frames", "19", "and", "21,"]


def test_phases_and_primitives_are_listed(reading, capsys, monkeypatch, walk):
    from simbench.motion import motion_inspection
    from simbench.motion.phases import Phases

    found = Phases((0.0, 0.2), (0.2, 0.5), (0.5, 1.1), None, np.array([0.5, 0.8, 1.1]))
    monkeypatch.setattr(motion_inspection, "find_phases", lambda motion: found)
    assert main(["motion", "inspect", WALK]) == 0
    printed = rows(capsys)
    first = printed.index(["ICP", "0.000", "0.200", "0.200"])
    assert printed[first + 1 : first + 5] == [
        ["TGP", "0.200", "0.500", "0.300"],
        ["PMP", "0.500", "1.100", "0.600"],
        ["primitive", "1", "0.500", "0.800", "0.300"],
        ["primitive", "2", "0.800", "1.100", "0.300"],
    ]


def test_the_picture_is_written_and_named(reading, capsys, tmp_path):
    assert main(["motion", "inspect", WALK, "--picture", "walk.png"]) == 0
    assert capsys.readouterr().out.endswith("\npicture  walk.png\n")
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


def test_export_says_what_it_wrote(reading, written, capsys, walk):
    reading.motion = replace(walk, markers={"C7": walk.joints["neck"]})
    assert main(["motion", "export", WALK, "walk.c3d"]) == 0
    assert main(["motion", "export", WALK, "walk.BVH"]) == 0
    joints, segments = len(walk.joints), len(walk.segments)
    assert capsys.readouterr().out == (
        f"recording  walk.c3d  (39 frames, {joints} joints, {segments} segments, 1 markers)\n"
        f"recording  walk.BVH  (39 frames, {joints} joints, {segments} segments)\n"
    )
    assert written == [(reading.motion, Path("walk.c3d")), (reading.motion, Path("walk.BVH"))]


@pytest.mark.parametrize("suffix", [".c3d", ".bvh", ".nc", ".csv"])
def test_what_is_exported_is_inspected_again(monkeypatch, capsys, tmp_path, suffix):
    monkeypatch.chdir(tmp_path)
    assert main(["motion", "export", WALK, f"walk{suffix}"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"walk{suffix}"]
    capsys.readouterr()
    assert main(["motion", "inspect", f"walk{suffix}"]) == 0
    printed = rows(capsys)
    # The clip's frames last 33.332 ms; C3D has one rate for all.
    assert ["duration", "1.267", "s,", "39", "frames"] in printed
    assert ["left", "upper", "arm", "0.2748", "0.000", "0.22", "to", "0.36"] in printed
    assert ["right", "knee", "flexion", "3.4", "77.8", "74.4"] in printed
    assert ["doubts:", "none"] in printed


def test_a_session_is_recorded_as_asked(recorded, capsys, tmp_path):
    out = tmp_path / "session"
    assert main(["motion", "session", "--out", str(out), "--jobs", "2"]) == 0
    chosen = ["--seed", "7", "--jobs", "1", "--actors", "1, 2", "--tasks", "valves,drawer"]
    assert main(["motion", "session", "--out", str(out), *chosen]) == 0
    assert recorded == [(out, 2018, 2, None, None), (out, 7, 1, [1, 2], ["valves", "drawer"])]
    printed = capsys.readouterr()
    assert printed.out == f"session  {out}\n" * 2
    assert printed.err == ""


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["inspect"], "Missing argument"),
        (["inspect", "a.c3d", "--unit", "ell"], "unit 'ell': unknown; allowed: m, cm, mm"),
        (["inspect", "a.c3d", "--up", "w"], "up axis 'w': unknown"),
        (["inspect", "a.c3d", "--longest-gap", "-1"], "longest gap -1.0 s"),
        (["inspect", "a.c3d", "--longest-gap", "long"], "'--longest-gap'"),
        (
            ["inspect", "a.c3d", "--picture", "no/a.png"],
            "no/a.png: must be a file in a directory that exists",
        ),
        (["inspect", "a.c3d", "--picture", "a.pdf"], "a.pdf: the file's name must end in .png"),
        (["export", "a.c3d", "."], ".: must be a file in a directory that exists"),
        (["export", "a.c3d", "b.mp4"], "b.mp4: a recording is written to a name ending in ."),
        (["export", "a.c3d", "b"], "b: a recording is written to a name ending in ."),
        (["session"], "--out"),
        (["session", "--out", "s", "--actors", "1,two"], "--actors 1,two: must be whole numbers"),
        (["session", "--out", "s", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_one_line_and_reads_and_writes_nothing(
    reading, recorded, capsys, tmp_path, arguments, part
):
    assert main(["motion", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert part in printed.err
    assert (reading.asked, recorded, list(tmp_path.iterdir())) == ([], [], [])


@pytest.mark.parametrize(
    ("raised", "status", "line"),
    [
        (MotionError("a.c3d: marker C7 is\nnot seen"), 2, "error: a.c3d: marker C7 is not seen\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_what_goes_wrong_in_reading_is_one_line(reading, capsys, tmp_path, raised, status, line):
    reading.raises = raised
    for command in (["inspect", "a.c3d", "--picture", "a.png"], ["export", "a.c3d", "b.c3d"]):
        assert main(["motion", *command]) == status
        assert capsys.readouterr().err.lstrip("\n") == line
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(reading, capsys, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert main(["motion", "inspect", WALK, "--picture", "a.png"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "error: a.png: cannot be written: No space left on device\n")
    assert list(tmp_path.iterdir()) == []
