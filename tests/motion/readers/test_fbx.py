import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import fbx_process, read_motion
from simbench.motion.readers.fbx import read_fbx

pytest.importorskip("ufbx")
TICKS = 46_186_158_000  # Units of time in a second.
THIRTY = 6  # What the format calls 30 frames per second.


def prop(name, kind, values):
    return f'P: "{name}", "{kind}", "", "A",{",".join(repr(float(value)) for value in values)}'


def write(path, joints, takes, unit=1.0, axes=((1, 1), (2, 1), (0, 1))):
    """Write joints (name, parent, translation, rotation before, scale) and takes of angles, degrees.

    `takes`: by name, the rate, Hz, and angles (T, 3) by joint, about fixed x, y and z; `axes`: up, front and
    right, each a number and a sign.
    """
    objects, links = [], []
    ids = {name: k for k, (name, *_) in enumerate(joints, start=1)} | {None: 0}
    for name, parent, place, before, scale in joints:
        lines = [prop("Lcl Translation", "Lcl Translation", place), prop("PreRotation", "Vector3D", before)]
        lines += [prop("Lcl Scaling", "Lcl Scaling", scale), 'P: "RotationActive", "bool", "", "",1']
        properties = "\n".join(lines)
        objects.append(
            f'Model: {ids[name]}, "Model::{name}", "LimbNode" {{\nProperties70: {{\n{properties}\n}}\n}}'
        )
        objects.append(f'NodeAttribute: {ids[name] + 100}, "NodeAttribute::{name}", "LimbNode" {{\n}}')
        links += [f'C: "OO",{ids[name]},{ids[parent]}', f'C: "OO",{ids[name] + 100},{ids[name]}']
    number = 1000
    for take, (rate, tracks) in takes.items():
        stack, count = number, max(len(angles) for angles in tracks.values())
        stop = 'P: "LocalStart", "KTime", "Time", "",0\nP: "LocalStop", "KTime", "Time", "",'
        stop += str(round(TICKS * (count - 1) / rate))
        objects.append(
            f'AnimationStack: {stack}, "AnimStack::{take}", "" {{\nProperties70: {{\n{stop}\n}}\n}}'
        )
        objects.append(f'AnimationLayer: {stack + 1}, "AnimLayer::Base", "" {{\n}}')
        links.append(f'C: "OO",{stack + 1},{stack}')
        number += 2
        for name, angles in tracks.items():
            node = number
            objects.append(f'AnimationCurveNode: {node}, "AnimCurveNode::R", "" {{\n}}')
            links += [f'C: "OO",{node},{stack + 1}', f'C: "OP",{node},{ids[name]}, "Lcl Rotation"']
            for axis, values in zip("XYZ", np.transpose(angles), strict=True):
                number += 1
                times = ",".join(str(round(TICKS * k / rate)) for k in range(len(values)))
                numbers = ",".join(repr(float(value)) for value in values)
                n = len(values)
                objects.append(
                    f'AnimationCurve: {number}, "AnimCurve::", "" {{\nKeyVer: 4009\n'
                    f"KeyTime: *{n} {{\na: {times}\n}}\n"
                    f"KeyValueFloat: *{n} {{\na: {numbers}\n}}\nKeyAttrFlags: *1 {{\na: 4\n}}\n"
                    f"KeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: {n}\n}}\n}}"
                )
                links.append(f'C: "OP",{number},{node}, "d|{axis}"')
            number += 1
    world = [prop("UnitScaleFactor", "double", [unit]), f'P: "TimeMode", "enum", "", "",{THIRTY}']
    for name, (axis, sign) in zip(("Up", "Front", "Coord"), axes, strict=True):
        world += [f'P: "{name}Axis", "int", "", "",{axis}', f'P: "{name}AxisSign", "int", "", "",{sign}']
    head = "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}"
    text = f"{head}\nGlobalSettings: {{\nProperties70: {{\n{chr(10).join(world)}\n}}\n}}\n"
    text += f"Objects: {{\n{chr(10).join(objects)}\n}}\nConnections: {{\n{chr(10).join(links)}\n}}\n"
    path.write_text(text)
    return path


JOINTS = [
    ("Hips", None, (1.0, 90.0, -3.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    ("Spine", "Hips", (0.0, 20.0, 5.0), (30.0, -20.0, 70.0), (2.0, 2.0, 2.0)),
    ("Head", "Spine", (3.0, 30.0, 0.0), (0.0, 45.0, 0.0), (1.0, 1.0, 1.0)),
    ("Leg", "Hips", (10.0, -5.0, 0.0), (180.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
]


def angles(seed, count):
    steps = np.random.default_rng(seed).normal(scale=8.0, size=(len(JOINTS), count, 3))
    return dict(zip((name for name, *_ in JOINTS), steps.cumsum(axis=1), strict=True))


def places(turns):
    """Position of each joint and its axes without scales, from angles (3,) by joint: an own recursion."""
    known = {None: (np.zeros(3), np.eye(3), 1.0)}
    for name, parent, place, before, scale in JOINTS:
        origin, axes, size = known[parent]
        first, then = (
            Rotation.from_euler("xyz", each, degrees=True).as_matrix() for each in (before, turns[name])
        )
        known[name] = (origin + size * axes @ place, axes @ first @ then, size * scale[0])
    return known


def test_places_are_those_of_the_angles(tmp_path):
    takes = {"short": (60.0, angles(1, 5)), "long": (60.0, angles(2, 13))}
    recording = read_fbx(write(tmp_path / "walk.fbx", JOINTS, takes), ReadOptions())
    assert set(recording.names) == {name for name, *_ in JOINTS}
    assert (recording.unit, recording.up) == ("m", "y")
    assert recording.notes == (
        "sampled at 60 Hz, as its keys are spaced; its frame rate is 30",
        "2 takes: 'long' is read, the longest",
    )
    np.testing.assert_allclose(recording.time, np.arange(13) / 60.0)
    rest = places({name: np.zeros(3) for name, *_ in JOINTS})
    for k in range(13):
        known = places({name: track[k] for name, track in takes["long"][1].items()})
        for joint, name in enumerate(recording.names):
            np.testing.assert_allclose(recording.positions[k, joint], 0.01 * known[name][0], atol=1e-6)
            turned = known[name][1] @ rest[name][1].T
            np.testing.assert_allclose(recording.rotations[k, joint], turned, atol=1e-6)


def test_rate_unit_and_axes(tmp_path):
    takes = {"": (30.0, angles(3, 7))}
    path = write(tmp_path / "walk.fbx", JOINTS, takes, unit=2.54, axes=((2, 1), (1, -1), (0, 1)))
    plain = read_fbx(path, ReadOptions())
    assert plain.up == "z"
    assert plain.notes == ("sampled at 30 Hz, its frame rate",)
    inches = read_fbx(path, ReadOptions(unit="in", fps=15.0, up="y"))
    assert (inches.unit, inches.up) == ("in", "y")
    np.testing.assert_allclose(inches.positions * 0.0254, plain.positions[::2], atol=1e-12)
    # A take that does not say when it begins and ends does so with its keys.
    path.write_text(path.read_text().replace("LocalStop", "Local"))
    np.testing.assert_array_equal(read_fbx(path, ReadOptions()).positions, plain.positions)
    path = write(tmp_path / "walk.fbx", JOINTS, takes, axes=((1, 1), (2, -1), (0, 1)))
    with pytest.raises(MotionError, match="left-handed"):
        read_fbx(path, ReadOptions())


def test_what_cannot_be_read_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "walk.fbx"
    path.write_bytes(b"no FBX file" * 10)
    with pytest.raises(MotionError, match=r"walk\.fbx: damaged, or no FBX \("):
        read_motion(path)
    with pytest.raises(MotionError, match="no joint moves in this file"):
        read_motion(write(path, JOINTS, {}))
    takes = {"": (60.0, angles(1, 9))}
    with pytest.raises(MotionError, match="poses of nodes; allowed: 6000000"):
        read_motion(write(path, JOINTS, {"": (1e-6, angles(1, 3))}))
    # A file that ends the process, as damaged ones may.
    crash = tmp_path / "crash.py"
    crash.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(fbx_process, "__file__", str(crash))
    with pytest.raises(MotionError, match="damaged: ufbx ended with status -11"):
        read_motion(write(path, JOINTS, takes))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MotionError, match="pip install ufbx"):
        read_motion(path)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_whatever_is_damaged_is_one_line(tmp_path_factory, data):
    path = write(tmp_path_factory.getbasetemp() / "damaged.fbx", JOINTS, {"": (60.0, angles(1, 3))})
    whole = path.read_bytes()
    start, length = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, 60))
    path.write_bytes(whole[:start] + data.draw(st.binary(max_size=20)) + whole[start + length :])
    with contextlib.suppress(MotionError):
        assert np.isfinite(read_fbx(path, ReadOptions()).positions).all()
