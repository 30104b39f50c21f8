"""Landmarks in JSON and CSV files give back the person in closed form, however they are nested."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_tables import joint_array

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion, read_recording
from simbench.motion.readers.joint_names import LAYOUTS

NAMES = LAYOUTS["mediapipe"][0]


def make_points(person):
    """Landmarks (T, 33, 3) as MediaPipe's world landmarks: y down, from the middle of the hips."""
    points = joint_array(person, NAMES, up="-y")
    return points - points[:, [NAMES.index("left_hip"), NAMES.index("right_hip")]].mean(axis=1, keepdims=True)


def write_points(points, visibility=0.9):
    return [
        [{**dict(zip("xyz", map(float, place), strict=True)), "visibility": visibility} for place in frame]
        for frame in points
    ]


def nest(points):
    """The same landmarks in the ways in which programs write them."""
    frames = write_points(points)
    lists = points.tolist()
    image = write_points(points * 0.3 + 0.5)
    times = [k / 100.0 for k in range(len(points))]
    return {
        "lists of points": frames,
        "lists of numbers": lists,
        "five numbers": [[[*place, 0.9, 1.0] for place in frame] for frame in lists],
        "frames": {
            "fps": 100,
            "frames": [{"frame": k, "pose_world_landmarks": f} for k, f in enumerate(frames)],
        },
        "world before image": {
            "frames": [
                {"timestamp_ms": 1000 * t, "pose_landmarks": i, "pose_world_landmarks": f}
                for t, i, f in zip(times, image, frames, strict=True)
            ]
        },
        "persons": [{"time": t, "poseWorldLandmarks": [f]} for t, f in zip(times, frames, strict=True)],
        "protocol buffer": [{"pose_world_landmarks": {"landmark": f}} for f in frames],
        "by number": {"landmarks": {str(k): f for k, f in enumerate(frames)}},
        "BlazePose": [
            {"keypoints3D": [{**point, "name": name} for point, name in zip(f, NAMES, strict=True)]}
            for f in frames
        ],
        "by name": [{"landmarks": {n.upper(): p for n, p in zip(NAMES, f, strict=True)}} for f in frames],
    }


@pytest.mark.parametrize("way", nest(np.zeros((2, 33, 3))))
def test_every_nesting_gives_the_person(tmp_path, person, way):
    points = make_points(person)
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(nest(points)[way]))
    timed = way in ("frames", "world before image", "persons")
    recording = read_recording(str(path), ReadOptions(fps=None if timed else 100))
    assert set(recording.names) == {*NAMES}
    for k, name in enumerate(NAMES):
        found = recording.positions[:, recording.names.index(name)]
        np.testing.assert_allclose(found, points[:, k], atol=1e-12, err_msg=name)
    np.testing.assert_allclose(recording.time, person.time, atol=1e-9)
    motion = read_motion(path, ReadOptions(fps=100))
    assert "marker map: mediapipe" in motion.notes
    assert [doubt.partition(":")[0] for doubt in motion.doubts] == ["the pelvis never moves"]
    length = np.linalg.norm(person.joints["left_wrist"] - person.joints["left_elbow"], axis=1).mean()
    forearm = motion.joints["left_wrist"] - motion.joints["left_elbow"]
    np.testing.assert_allclose(np.linalg.norm(forearm, axis=1), length, atol=1e-6)


def test_frames_without_a_person_are_gaps(tmp_path, person):
    frames = [{"pose_world_landmarks": frame} for frame in write_points(make_points(person))]
    frames[3]["pose_world_landmarks"] = []
    frames[4] = None
    frames[5]["pose_world_landmarks"][0]["visibility"] = 0.1
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(frames))
    recording = read_recording(str(path), ReadOptions(fps=100))
    seen = np.isfinite(recording.positions).all(axis=2)
    assert not seen[3:5].any()
    assert list(np.flatnonzero(~seen[5])) == [0]
    assert seen[[2, 6]].all()


@pytest.mark.parametrize("capital", [False, True])
@pytest.mark.parametrize("column", ["{axis}{number}", "{name}_{axis}", "{name}.{axis}"])
def test_tables_of_landmarks(tmp_path, person, column, capital):
    points, path = make_points(person), tmp_path / "pose.csv"
    header = ["timestamp"]
    for k, name in enumerate(NAMES):
        header += [column.format(axis=axis, number=k, name=name) for axis in (*"xyz", "visibility")]
    seen = np.full((len(points), 33, 1), 0.9)
    table = np.concatenate([points, seen], axis=2).reshape(len(points), -1)
    rows = [",".join(f"{v:.9f}" for v in (t, *row)) for t, row in zip(person.time, table, strict=True)]
    head = ",".join(header)
    path.write_text("\n".join([head.upper() if capital else head, *rows]))
    motion = read_motion(path)
    assert "marker map: mediapipe" in motion.notes
    length = np.linalg.norm(person.joints["left_wrist"] - person.joints["left_elbow"], axis=1).mean()
    forearm = motion.joints["left_wrist"] - motion.joints["left_elbow"]
    np.testing.assert_allclose(np.linalg.norm(forearm, axis=1), length, atol=1e-6)


def test_positions_of_noitom_beside_other_quantities(tmp_path, person):
    """Velocities and accelerations have the same axes as the positions, and are none."""
    bones = {"Hips": "pelvis", "Head": "head", "Neck": "neck"}
    for side in ("Left", "Right"):
        bones |= {f"{side}{bone}": f"{side.lower()}_{joint}" for bone, joint in (
            ("UpLeg", "hip"), ("Leg", "knee"), ("Foot", "ankle"),
            ("Arm", "shoulder"), ("ForeArm", "elbow"), ("Hand", "wrist"))}  # fmt: skip
    columns = {}
    for bone, joint in bones.items():
        track = joint_array(person, [joint])[:, 0]
        for k, axis in enumerate("xyz"):
            columns[f"{bone}-Joint-Posi-{axis}"] = track[:, k]
            columns[f"{bone}-Joint-Velo-{axis}"] = columns[f"{bone}-Sensor-Acce-{axis}"] = 9.0 + track[:, k]
    path = tmp_path / "walk.csv"
    rows = [",".join(f"{value:.9f}" for value in row) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]))
    recording = read_recording(str(path), ReadOptions(fps=100))
    assert len(recording.names) == len(bones)
    found = recording.positions[:, recording.names.index("right_knee")]
    np.testing.assert_allclose(found, person.joints["right_knee"], atol=1e-8)


@pytest.mark.parametrize(("scale", "words"), [(1.0, "fractions of an image"), (640.0, "pixels of an image")])
def test_landmarks_of_an_image_are_refused(tmp_path, person, scale, words):
    """One of them is far out of the image."""
    points = make_points(person) * [0.3, 0.5, 0.3] + [0.5, 0.6, 0.0]
    points[5, 31, 1] += 1.2
    path = tmp_path / "pose.json"
    path.write_text(json.dumps([{"pose_landmarks": frame} for frame in write_points(scale * points)]))
    with pytest.raises(MotionError, match=f"{words} .*pose_world_landmarks"):
        read_recording(str(path), ReadOptions(fps=30))


REFUSED = {
    "another": (
        {"version": 1.2, "people": []},
        "an object of 'version', 'people'; known: frames of landmarks",
    ),
    "a list": ([1, 2, 3], "holds a list; known"),
    "nothing": ([], "holds nothing; known"),
    "one frame": ([[{"x": 0, "y": 1, "z": k} for k in range(33)]], "holds a list; known"),
    "other points": ([[[0, 1, k] for k in range(n)] for n in (33, 33, 17)], "frame 3 has other points"),
    "no depth": ([[{"x": 0.0, "y": 1.0}] * 33] * 3, "holds a list; known"),
    "booleans": ([[[True, 1, 2]] * 33] * 3, "holds a list; known"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_content_is_one_line(tmp_path, name):
    content, words = REFUSED[name]
    path = tmp_path / "pose.json"
    path.write_text(json.dumps(content))
    with pytest.raises(MotionError, match=words) as caught:
        read_recording(str(path), ReadOptions(fps=30))
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("json")


@settings(max_examples=150, deadline=None)
@given(
    way=st.sampled_from([*nest(np.zeros((2, 33, 3)))]),
    changes=st.lists(
        st.tuples(
            st.floats(0.0, 1.0),
            st.integers(0, 6),
            st.binary(max_size=3)
            | st.sampled_from([b"[", b"]", b"{", b",", b"null", b"1e309", b"NaN", b'"x"', b"-"]),
        ),
        max_size=4,
    ),
)
def test_any_damage_is_read_or_refused(folder, person, way, changes):
    content = json.dumps(nest(make_points(person)[:5])[way]).encode()
    for at, removed, inserted in changes:
        place = int(at * len(content))
        content = content[:place] + inserted + content[place + removed :]
    path = folder / "pose.json"
    path.write_bytes(content)
    try:
        recording = read_recording(str(path), ReadOptions())
    except MotionError:
        return
    assert recording.positions.shape == (len(recording.time), len(recording.names), 3)
    assert not np.isinf(recording.positions).any()
