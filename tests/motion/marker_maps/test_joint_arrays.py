"""Arrays and tables of joints of a person in closed form give back that person, whatever layout and axes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from written_tables import AXES, joint_array, table

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.joint_names import LAYOUTS

MAPS = {
    "smpl": "smpl_joints", "smplh": "smpl_joints", "smplx": "smpl_joints", "h36m": "h36m",
    "mpi_inf_3dhp": "h36m",
    "coco": "coco", "halpe": "openpose", "mediapipe": "mediapipe", "openpose25": "openpose",
    "openpose18": "openpose", "panoptic": "openpose", "kinect": "kinect", "azure_kinect": "kinect",
    "kit": "named_joints", "lafan1": "smpl_joints", "optitrack26": "kinect",
}  # fmt: skip
SIZES = [(layout, names) for layout, known in LAYOUTS.items() for names in known]
FINGERS = {("smpl", 45), ("smplh", 52), ("smplx", 55), ("coco", 133), ("mediapipe", 33)}


def angles(first, second):
    return Rotation.from_matrix(np.swapaxes(first, 1, 2) @ second).magnitude()


def check(person, motion, *, fingers=False):
    """Joints, the frames that follow from them, left and front; fingers tell how forearms are turned."""
    turn = person.rotations["pelvis"][0].T
    start = np.array([*person.joints["pelvis"][0, :2], 0.0])
    height = (motion.joints["left_wrist"] - (person.joints["left_wrist"] - start) @ turn.T).mean(axis=0)[2]
    # Heading and origin follow from hips whose middle lies behind and below the pelvis' axes.
    shift = motion.joints["left_hip"][0] - (person.joints["left_hip"][0] - start) @ turn.T
    assert np.abs(shift).max() < 0.1
    for name in motion.joints:
        if name.partition("_")[2] in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle"):
            expected = (person.joints[name] - start) @ turn.T + [0.0, 0.0, height]
            np.testing.assert_allclose(motion.joints[name], expected, atol=1e-6, err_msg=name)
    assert abs(height) < 0.09
    for side in ("left", "right"):
        known = {s: turn @ person.rotations[f"{side}_{s}"] for s in ("upper_arm", "forearm", "hand")}
        found = {s: motion.segments[f"{side}_{s}"][:, :3, :3] for s in known}
        assert angles(known["upper_arm"], found["upper_arm"]).max() < 1e-4
        np.testing.assert_allclose(found["forearm"][:, :, 0], known["forearm"][:, :, 0], atol=1e-6)
        if fingers:
            assert angles(known["forearm"], found["forearm"]).max() < 1e-4
            assert angles(known["hand"], found["hand"]).max() < 1e-4
        else:
            # Without fingers the forearm is not pronated; this person's turns by 0.7 rad at most.
            assert 0.5 < angles(known["forearm"], found["forearm"]).max() < 0.75
    trunk, pelvis = turn @ person.rotations["trunk"], turn @ person.rotations["pelvis"]
    np.testing.assert_allclose(motion.segments["trunk"][:, :3, 1], trunk[:, :, 1], atol=1e-6)
    assert angles(trunk, motion.segments["trunk"][:, :3, :3]).max() < 0.2
    assert angles(pelvis, motion.segments["pelvis"][:, :3, :3]).max() < 0.2
    assert (motion.joints["left_shoulder"] - motion.joints["right_shoulder"])[:, 1].min() > 0.3


@pytest.mark.parametrize(("layout", "names"), SIZES, ids=[f"{k}{len(v)}" for k, v in SIZES])
def test_every_layout_is_found_by_its_bones(tmp_path, person, layout, names):
    path = tmp_path / "keypoints.npy"
    np.save(path, joint_array(person, names, up="y", scale=1000.0))
    motion = read_motion(path, ReadOptions(fps=100))
    check(person, motion, fingers=(layout, len(names)) in FINGERS)
    assert any(note.startswith(f"skeleton {layout}:") for note in motion.notes)
    assert "unit mm: the one in which the arms are human" in motion.notes
    assert f"marker map: {MAPS[layout]}" in motion.notes
    # Without toes and nose, the straight knees of this person leave it open which side is left.
    unknown = f"nothing shows whether left and right are those of skeleton {layout} (--skeleton)"
    assert motion.doubts == ((unknown,) if layout == "mpi_inf_3dhp" else ())


@pytest.mark.parametrize("up", AXES)
@pytest.mark.parametrize("layout", ["smpl", "h36m", "mediapipe"])
def test_the_arrays_axes_do_not_matter(tmp_path, person, up, layout):
    path = tmp_path / "keypoints.npz"
    names = LAYOUTS[layout][0]
    np.savez(path, keypoints_3d=joint_array(person, names, up=up), fps=100, other=np.zeros((7, 3)))
    check(person, read_motion(path), fingers=layout == "mediapipe")


def shapes(joints):
    frames, count, _ = joints.shape
    seen = np.ones((frames, count, 1))
    ghost = np.full_like(joints, np.nan)
    return {
        "transposed": joints.transpose(0, 2, 1),
        "frames last": joints.transpose(1, 2, 0),
        "persons first, frames last": np.stack([ghost, joints]).transpose(0, 2, 3, 1),
        "flat": joints.reshape(frames, -1),
        "confidence": np.concatenate([joints, seen], axis=2),
        "one person": joints[None],
        "one person a frame": joints[:, None],
        "persons first": np.stack([ghost, joints]),
        "persons second": np.stack([ghost, joints], axis=1),
        "single": joints.astype(np.float32),
    }


@pytest.mark.parametrize("shape", shapes(np.zeros((2, 17, 3))))
def test_every_shape_of_an_array(tmp_path, person, shape):
    path = tmp_path / "keypoints.npy"
    joints = joint_array(person, LAYOUTS["h36m"][0])
    np.save(path, shapes(joints)[shape])
    motion = read_motion(path, ReadOptions(fps=100))
    check(person, motion)
    assert any("persons: number 2 is read" in note for note in motion.notes) == shape.startswith("persons")


def test_whole_millimetres(tmp_path, person):
    joints = joint_array(person, LAYOUTS["h36m"][0], scale=1000.0)
    np.save(tmp_path / "keypoints.npy", np.round(joints).astype(np.int16))
    motion = read_motion(tmp_path / "keypoints.npy", ReadOptions(fps=100))
    bone = np.linalg.norm(motion.joints["left_elbow"] - motion.joints["left_shoulder"], axis=1)
    np.testing.assert_allclose(bone, 0.30, atol=1e-3)


def test_joints_are_named_by_a_file_a_layout_or_the_archive(tmp_path, person):
    names = ("r_wrist", "Hips", "r_elbow", "unknown", "r_shoulder", *(
        f"{s}_{j}" for s in "lr" for j in ("hip", "knee", "ankle")),
        "l_shoulder", "l_elbow", "l_wrist")  # fmt: skip
    words = {"r": "right", "l": "left", "H": "pelvis", "u": "nose"}
    plain = [words[n[0]] if n[0] in "Hu" else f"{words[n[0]]}_{n[2:]}" for n in names]
    path = tmp_path / "own.npy"
    np.save(path, joint_array(person, plain))
    (tmp_path / "names.txt").write_text("# mine\n" + "\n".join(names).replace("unknown", "-") + "\n")
    (tmp_path / "names.json").write_text(str(list(names)).replace("'", '"'))
    (tmp_path / "names.yaml").write_text("joints:\n" + "".join(f"  - {name}\n" for name in names))
    for ending in ("txt", "json", "yaml"):
        options = ReadOptions(fps=100, skeleton=str(tmp_path / f"names.{ending}"))
        check(person, read_motion(path, options))
    np.savez(tmp_path / "own.npz", joints=joint_array(person, plain), joint_names=np.array(names), fps=100.0)
    motion = read_motion(tmp_path / "own.npz")
    check(person, motion)
    assert "joints named by the file" in motion.notes
    with pytest.raises(MotionError):
        read_motion(path, ReadOptions(fps=100))


def test_what_is_assumed_is_doubted_and_refused_strictly(tmp_path, person):
    path = tmp_path / "keypoints.npy"
    joints = joint_array(person, LAYOUTS["coco"][0])
    np.save(path, joints - joints[:, [11, 12]].mean(axis=1, keepdims=True))
    motion = read_motion(path)
    assert motion.rate == pytest.approx(30.0)
    assert any(doubt.startswith("rate 30 Hz assumed") for doubt in motion.doubts)
    assert any(doubt.startswith("the pelvis never moves") for doubt in motion.doubts)
    with pytest.raises(MotionError):
        read_motion(path, ReadOptions(strict=True))
    with pytest.raises(MotionError):
        read_motion(path, ReadOptions(strict=True, fps=100))
    read_motion(path, ReadOptions(strict=True, fps=100, skeleton="coco", up="z", unit="m"))


def test_h36m_and_coco_are_told_apart_in_noise(tmp_path, person):
    rng = np.random.default_rng(7)
    for layout in ("h36m", "coco"):
        for _ in range(5):
            joints = joint_array(person, LAYOUTS[layout][0])
            path = tmp_path / "noisy.npy"
            np.save(path, joints + rng.normal(0.0, 0.015, joints.shape))
            motion = read_motion(path, ReadOptions(fps=100))
            assert any(note.startswith(f"skeleton {layout}:") for note in motion.notes)
            bone = motion.joints["left_elbow"] - motion.joints["left_shoulder"]
            assert np.ptp(np.linalg.norm(bone, axis=1)) < 1e-9


def test_unseen_joints_are_gaps(tmp_path, person):
    path = tmp_path / "keypoints.npy"
    joints = joint_array(person, LAYOUTS["h36m"][0])
    values = np.concatenate([joints, np.ones_like(joints[..., :1])], axis=2)
    values[10:14, 13, 3] = 0.1
    values[20:23, [2, 3], :3] = 0.0
    values[30, 12, 0] = np.nan
    np.save(path, values)
    motion = read_motion(path, ReadOptions(fps=100))
    found = {(gap.marker, gap.first, gap.last) for gap in motion.filled}
    assert found == {
        ("left_wrist", 10, 13),
        ("right_knee", 20, 22),
        ("right_ankle", 20, 22),
        ("left_elbow", 30, 30),
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda joints: joints * [1.0, 0.0, 1.0], "lie in a plane"),
        (lambda joints: joints[:, ::-1], "bones are no person's in any known order"),
        (lambda joints: np.full_like(joints, np.nan), "no joint is seen"),
        (lambda joints: joints[:1], "1 frame|known: "),
        (lambda joints: np.pad(joints, ((0, 0), (0, 3), (0, 0))), "no known skeleton has so many"),
    ],
)
def test_what_is_no_person_in_space_is_one_line(tmp_path, person, change, words):
    path = tmp_path / "keypoints.npy"
    np.save(path, change(joint_array(person, LAYOUTS["coco"][0])))
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(path, ReadOptions(fps=100))
    assert "\n" not in str(caught.value)


def test_landmarks_in_fractions_of_an_image_are_refused(tmp_path, person):
    path = tmp_path / "landmarks.npy"
    joints = joint_array(person, LAYOUTS["mediapipe"][0], up="-y")
    names = LAYOUTS["mediapipe"][0]
    hips = joints[:, [names.index("left_hip"), names.index("right_hip")]].mean(axis=1, keepdims=True)
    image = (joints - hips) * 0.4 + [0.5, 0.6, 0.0]
    np.save(path, image)
    with pytest.raises(MotionError):
        read_motion(path, ReadOptions(fps=100))
    # The same in metres from the hips are world landmarks.
    np.save(path, joints - hips)
    motion = read_motion(path, ReadOptions(fps=100))
    assert any(doubt.startswith("the pelvis never moves") for doubt in motion.doubts)


@pytest.mark.parametrize(
    ("skeleton", "words"),
    [
        ("spider", "skeleton 'spider': unknown; known: smpl"),
        ("none.txt", "none.txt: cannot be read"),
        ("twice.txt", "'hip' is there twice"),
    ],
)
def test_a_skeleton_that_does_not_fit_is_one_line(tmp_path, monkeypatch, person, skeleton, words):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", joint_array(person, LAYOUTS["coco"][0]))
    (tmp_path / "long.txt").write_text("\n".join(f"joint{k}" for k in range(18)))
    (tmp_path / "twice.txt").write_text("hip\nhip\n")
    (tmp_path / "tree.yaml").write_text("a: {b: 1}\nc: 2\n")
    with pytest.raises(MotionError, match=words):
        read_motion("a.npy", ReadOptions(fps=100, skeleton=skeleton))


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def short(name):
    side, _, joint = name.partition("_")
    return f"{joint}_{side[0]}" if joint else name


TABLES = {
    "underscores": (lambda n: [f"{n}_{a}" for a in "xyz"], {}),
    "with unit": (lambda n: [f"{n}_{a}_mm" for a in "xyz"], {"scale": 1000.0, "time": "time_s"}),
    "dots": (lambda n: [f"{camel(n)}.{a}" for a in "XYZ"], {"up": "y", "scale": 100.0}),
    "capitals": (lambda n: [f"{camel(n)}{a}" for a in "XYZ"], {"up": "-y", "delimiter": "\t", "time": "t"}),
    "brackets": (
        lambda n: [f"{short(n)} {a} (mm)" for a in "xyz"],
        {"scale": 1000.0, "time": "Time (Seconds)"},
    ),
    "axis first": (lambda n: [f"{a}_{n}" for a in "xyz"], {"time": "timestamp"}),
    "positions": (lambda n: [f"{n.upper()}_POS_{a}" for a in "XYZ"], {"up": "x"}),
    "semicolons": (lambda n: [f"{n} {a}" for a in "xyz"], {"delimiter": ";"}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_named_joints_however_they_are_headed(tmp_path, person, kind):
    columns, how = TABLES[kind]
    path = tmp_path / "joints.csv"
    text = table(person, columns, **how)
    path.write_text(text)
    motion = read_motion(path)
    check(person, motion)
    assert motion.rate == pytest.approx(100.0)
    assert motion.doubts == ()
    if ";" in text:
        path.write_text(text.replace(".", ","))
        np.testing.assert_array_equal(read_motion(path).joints["left_wrist"], motion.joints["left_wrist"])


def two_rows(person, names_row, axes):
    """A table with a line of names above one of axes."""
    lines = table(person, lambda n: [n] * 3).split("\n")
    names = lines[0].split(",")[1::3]
    above = ",".join(["", *(cell for name in names for cell in names_row(name))])
    below = ",".join(["Frame", *(cell for k in range(len(names)) for cell in axes(k))])
    return "\n".join([above, below, *lines[1:]])


@pytest.mark.parametrize(
    ("names_row", "axes"),
    [
        (lambda n: [n, "", ""], lambda k: ["X", "Y", "Z"]),
        (lambda n: [n] * 3, lambda k: ["x", "y", "z"]),
        (lambda n: [f"Anna:{camel(n)}", "", ""], lambda k: [f"X{k}", f"Y{k}", f"Z{k}"]),
    ],
)
def test_names_above_axes(tmp_path, person, names_row, axes):
    path = tmp_path / "joints.csv"
    path.write_text(two_rows(person, names_row, axes))
    check(person, read_motion(path, ReadOptions(fps=100)))
    # Times stand in a column that is called one of frames.
    assert read_motion(path).rate == pytest.approx(30.0)


def test_a_table_of_numbered_points_is_an_array(tmp_path, person):
    names = LAYOUTS["coco"][0]
    values = joint_array(person, names).reshape(40, -1)
    header = ",".join(f"{axis}{k}" for k in range(17) for axis in "XYZ")
    path = tmp_path / "points.csv"
    path.write_text("\n".join([header, *(",".join(f"{v:.9f}" for v in row) for row in values)]))
    motion = read_motion(path, ReadOptions(fps=100))
    check(person, motion)
    assert any(note.startswith("skeleton coco") for note in motion.notes)


def test_times_in_other_units_and_counted_frames(tmp_path, person):
    path = tmp_path / "joints.csv"
    text = table(person, lambda n: [f"{n}_{a}" for a in "xyz"])
    header, *rows = text.strip().split("\n")
    tails = [row.partition(",")[2] for row in rows]
    for name, times in {
        "timestamp": [1.7e12 + 10 * k for k in range(40)],
        "time_us": [10_000 * k for k in range(40)],
        "timestamp_ns": [10_000_000 * k for k in range(40)],
    }.items():
        lines = [f"{t:.0f},{tail}" for t, tail in zip(times, tails, strict=True)]
        path.write_text("\n".join([header.replace("time,", f"{name},"), *lines]))
        assert read_motion(path).rate == pytest.approx(100.0), name
    lines = [f"{k + (k > 20)},{tail}" for k, tail in enumerate(tails)]
    path.write_text("\n".join([header.replace("time,", "frame,"), *lines]))
    # A frame was left out.
    assert read_motion(path, ReadOptions(fps=50)).time[[20, 21, -1]] == pytest.approx([0.40, 0.44, 0.80])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2,3,4\n5,6,7,8\n", "numbers without a header.*simbench run .* --robot NAME"),
        ("time_s,base_x_m,base_qw,hip_rad\n0,1,1,0\n1,1,1,0\n", "a robot's trajectory is run by"),
        ("time,a_x,a_y,b_x,b_y\n0,1,2,3,4\n", "does not name the columns of at least three points"),
        ("a_x,a_y,a_z,b_x,b_y,b_z,c_x,c_y,c_z\n1,2,3,4,5,6,7,8,nine\n", "line 2, column 9: 'nine' is not"),
        (
            "t,a_x,a_y,a_z,b_x,b_y,b_z,c_x,c_y,c_z\n0,1,2,9,4,5,6,7,8,9\n0,1,2,3,4,5,6,7,8,9\n",
            "does not increase",
        ),
    ],
)
def test_a_table_that_is_none_is_one_line(tmp_path, text, words):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(path)
    assert "\n" not in str(caught.value)


def test_a_marker_set_in_a_table_keeps_its_names(tmp_path, person, make_markers):
    markers = make_markers(person, "plug_in_gait")
    header = ",".join(["time", *(f"{name}:{axis}" for name in markers for axis in "XYZ")])
    values = np.concatenate([person.time[:, None], *(1000 * track for track in markers.values())], axis=1)
    path = tmp_path / "markers.csv"
    path.write_text("\n".join([header, *(",".join(f"{v:.6f}" for v in row) for row in values)]))
    motion = read_motion(path)
    assert "marker map: plug_in_gait" in motion.notes
    assert "unit mm: the one in which the points span a person" in motion.notes
    assert set(motion.markers) == set(markers)
