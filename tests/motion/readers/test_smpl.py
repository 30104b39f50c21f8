import io
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.transform import Rotation
from smpl_files import PARENTS, Python2Pickler, amass_archive, body_model, forward_kinematics, random_poses

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion, smpl
from simbench.motion.readers.joint_array import read_archive

LAYOUTS = ("SMPL", "SMPL-H", "SMPL-X")
# Body axes of the models (x left, y up, z forward) in those of the trunk (x forward, y left, z up).
BODY_AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def write(path, content, protocol=4):
    if path.suffix == ".npz":
        np.savez(path, **content)
    else:
        path.write_bytes(pickle.dumps(content, protocol))
    return path


def read(path, **options):
    return read_archive(path, ReadOptions(**options))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("suffix", [".npz", ".pkl"])
def test_joints_with_a_body_model_are_those_of_an_independent_computation(tmp_path, layout, suffix):
    archive = amass_archive(layout)
    model = body_model(layout, np.random.default_rng(1), dimensions=20 if layout == "SMPL-X" else 10)
    shaped = model["v_template"] + np.einsum("vdk,k->vd", model["shapedirs"][..., :10], archive["betas"][:10])
    places = np.array([row @ shaped for row in model["J_regressor"]])
    if suffix == ".pkl":
        model["J_regressor"] = scipy.sparse.csc_matrix(model["J_regressor"])
    found = read(
        write(tmp_path / f"walk{suffix}", archive),
        body_model=str(write(tmp_path / f"model{suffix}", model, 2)),
    )
    expected = forward_kinematics(
        archive["poses"].reshape(30, -1, 3), archive["trans"], places, PARENTS[layout]
    )
    np.testing.assert_allclose(found.positions, expected, atol=1e-9)
    np.testing.assert_array_equal(found.parents, PARENTS[layout])
    np.testing.assert_allclose(np.diff(found.time), 1 / 120, atol=1e-12)
    assert found.actor.sex == "female"
    assert found.actor.height == pytest.approx(np.ptp(shaped[:, 1]), abs=1e-9)
    assert (found.unit, found.up, found.doubts) == ("m", "z", ())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("stature", [None, 1.50, 1.85])
def test_without_a_body_model_limbs_have_the_lengths_of_the_declared_height(tmp_path, layout, stature):
    found = read(write(tmp_path / "walk.npz", amass_archive(layout)), stature=stature)
    height = stature or 1.629  # the mean of the women whom average_person.py cites
    place = dict(zip(found.names, found.positions.swapaxes(0, 1), strict=True))
    # Fractions of stature: Drillis & Contini (1966).
    for first, second, fraction in (
        ("shoulder", "elbow", 0.186),
        ("elbow", "wrist", 0.146),
        ("hip", "knee", 0.245),
        ("knee", "ankle", 0.246),
    ):
        for side in ("left", "right"):
            length = np.linalg.norm(place[f"{side}_{first}"] - place[f"{side}_{second}"], axis=1)
            np.testing.assert_allclose(length, fraction * height, rtol=0.05)
    width = np.linalg.norm(place["left_shoulder"] - place["right_shoulder"], axis=1)
    assert np.all(width < 0.259 * height * 1.05)
    assert found.actor.height == height
    assert any(
        f"bone lengths are those of an average person {height:.2f} m tall" in doubt for doubt in found.doubts
    )
    np.testing.assert_allclose(found.positions[:, 0], amass_archive(layout)["trans"], atol=1e-12)


def limb_rest(side, sign):
    """Axes of a limb in the T-pose with palms down, in the body axes of the models: x distal, z dorsal."""
    x = np.array([sign, 0.0, 0.0])
    y = np.array([0.0, 0.0, -sign])
    return np.stack([x, y, np.cross(x, y)], axis=1)


def parameters_of(motion):
    """Global rotations of the joints that turn as the segments of a motion do, as local axis-angle."""
    count = len(PARENTS["SMPL"])
    turned = np.tile(np.eye(3), (len(motion.time), count, 1, 1))
    trunk = motion.segments["trunk"][:, :3, :3] @ BODY_AXES
    for joint in range(count):
        turned[:, joint] = trunk
    if "pelvis" in motion.segments:
        turned[:, [0, 1, 2, 4, 5, 7, 8, 10, 11]] = (motion.segments["pelvis"][:, :3, :3] @ BODY_AXES)[:, None]
    for side, sign, joints in (("left", 1.0, (16, 18, 20)), ("right", -1.0, (17, 19, 21))):
        for segment, joint in zip(("upper_arm", "forearm", "hand"), joints, strict=True):
            frames = motion.segments[f"{side}_{segment}"][:, :3, :3]
            turned[:, joint] = frames @ limb_rest(side, sign).T
        turned[:, joints[-1] + 2] = turned[:, joints[-1]]
    local = turned.copy()
    for joint, parent in enumerate(PARENTS["SMPL"]):
        if parent >= 0:
            local[:, joint] = turned[:, parent].swapaxes(-1, -2) @ turned[:, joint]
    return Rotation.from_matrix(local.reshape(-1, 3, 3)).as_rotvec().reshape(len(motion.time), -1)


@pytest.mark.parametrize("source", ["actor:drawer", "deepmimic:humanoid3d_walk"])
@pytest.mark.parametrize("axes", ["z up", "y up"])
def test_a_known_motion_through_the_parameters_and_back(tmp_path, source, axes):
    """Left is left and front is front: every segment turns relative to the trunk as in the known motion."""
    known = read_motion(source)
    poses = parameters_of(known)
    if axes == "y up":
        to_y = Rotation.from_euler("x", -90, degrees=True)
        poses[:, :3] = (to_y * Rotation.from_rotvec(poses[:, :3])).as_rotvec()
    rate = (len(known.time) - 1) / known.time[-1]
    content = {"poses": poses, "trans": np.zeros((len(poses), 3)), "mocap_framerate": rate}
    found = read_motion(write(tmp_path / "known.npz", content))
    for name in known.segments:
        expected, relative = (
            motion.segments["trunk"][:, :3, :3].swapaxes(-1, -2) @ motion.segments[name][:, :3, :3]
            for motion in (known, found)
        )
        np.testing.assert_allclose(relative, expected, atol=1e-6)
    np.testing.assert_allclose(found.segments["trunk"][:, 2, 2], known.segments["trunk"][:, 2, 2], atol=1e-6)
    # The arms of the average skeleton lie along their segments.
    for side in ("left", "right"):
        for segment, ends in (("upper_arm", ("shoulder", "elbow")), ("forearm", ("elbow", "wrist"))):
            bone = found.joints[f"{side}_{ends[1]}"] - found.joints[f"{side}_{ends[0]}"]
            along = known.segments[f"{side}_{segment}"][:, :3, 0]
            turned = found.segments["trunk"][:, :3, :3] @ known.segments["trunk"][:, :3, :3].swapaxes(-1, -2)
            expected = np.linalg.norm(bone, axis=1, keepdims=True) * (turned @ along[..., None])[..., 0]
            np.testing.assert_allclose(bone, expected, atol=1e-6)
    left = found.joints["left_shoulder"] - found.joints["right_shoulder"]
    assert np.all((left * found.segments["trunk"][:, :3, 1]).sum(axis=1) > 0.3)


@pytest.mark.parametrize("key", ["mocap_framerate", "mocap_frame_rate"])
def test_both_spellings_of_the_rate(tmp_path, key):
    content = {**amass_archive("SMPL-H", rate_key=key), key: 100}
    assert np.diff(read(write(tmp_path / "a.npz", content)).time) == pytest.approx(0.01)
    assert np.diff(read(tmp_path / "a.npz", fps=50.0).time) == pytest.approx(0.02)


def test_a_missing_rate_is_assumed_and_doubted(tmp_path):
    content = amass_archive("SMPL")
    del content["mocap_framerate"]
    found = read(write(tmp_path / "a.npz", content))
    assert np.diff(found.time) == pytest.approx(1 / 30)
    assert any("30 frames a second assumed" in doubt for doubt in found.doubts)
    with pytest.raises(MotionError):
        read(tmp_path / "a.npz", strict=True)


FORMS = {
    "axis-angle": lambda poses: poses,
    "matrices": lambda poses: Rotation.from_rotvec(poses.reshape(-1, 3)).as_matrix().reshape(*poses.shape, 3),
}


def _six(poses, arrange):
    matrices = Rotation.from_rotvec(poses.reshape(-1, 3)).as_matrix()
    return arrange(matrices).reshape(len(poses), -1)


FORMS |= {
    "rows": lambda poses: _six(poses, lambda m: m[:, :2]),
    "columns": lambda poses: _six(poses, lambda m: m[:, :, :2].swapaxes(1, 2)),
    "pairs": lambda poses: _six(poses, lambda m: m[:, :, :2]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rotations_gives_the_same_joints(tmp_path, form):
    poses = random_poses("SMPL", 20, np.random.default_rng(5))
    poses[:, 4:6] = [0.6, 0.0, 0.0]  # the knees are bent
    trans = np.zeros((20, 3))
    reference = read(write(tmp_path / "a.npz", {"poses": poses.reshape(20, 72), "trans": trans, "fps": 30}))
    other = read(write(tmp_path / "b.npz", {"poses": FORMS[form](poses), "trans": trans, "fps": 30}))
    np.testing.assert_allclose(other.positions, reference.positions, atol=1e-9)
    np.testing.assert_allclose(other.rotations, reference.rotations, atol=1e-9)


def test_parts_of_a_pose_are_put_together(tmp_path):
    archive = amass_archive("SMPL-X")
    whole = read(write(tmp_path / "whole.npz", archive))
    poses = archive.pop("poses")
    parts = {
        "root_orient": poses[:, :3],
        "pose_body": poses[:, 3:66],
        "pose_jaw": poses[:, 66:69],
        "pose_eye": poses[:, 69:75],
        "pose_hand": poses[:, 75:],
    }
    dicts = {
        "global_orient": poses[:, :3],
        "body_pose": poses[:, 3:66],
        "jaw_pose": poses[:, 66:69],
        "leye_pose": poses[:, 69:72],
        "reye_pose": poses[:, 72:75],
        "left_hand_pose": poses[:, 75:120],
        "right_hand_pose": poses[:, 120:],
        "transl": archive["trans"],
    }
    for name, content in (("stage.npz", parts), ("dict.pkl", dicts)):
        found = read(write(tmp_path / name, {**archive, **content}))
        assert found.names == whole.names
        np.testing.assert_allclose(found.positions, whole.positions, atol=1e-12)


def _body(frames=30, seed=3):
    poses = random_poses("SMPL", frames, np.random.default_rng(seed))
    return poses, {
        "global_orient": poses[:, 0],
        "body_pose": poses[:, 1:22].reshape(frames, 63),
        "transl": np.ones((frames, 3)) * np.arange(frames)[:, None] * 0.01,
        "betas": np.zeros((frames, 10)),
    }


def test_global_parameters_are_preferred_to_those_of_the_camera(tmp_path):
    _, body = _body()
    camera = {**body, "transl": np.zeros((30, 3))}
    for name in ("a.npz", "a.pkl"):
        content = {"smpl_params_incam": camera, "smpl_params_global": body, "K_fullimg": np.eye(3)}
        found = read(write(tmp_path / name, content))
        np.testing.assert_allclose(found.positions[:, 0], body["transl"], atol=1e-12)
        assert found.names[-2:] == ("left_hand", "right_hand")
    only = read(write(tmp_path / "b.pkl", {"smpl_params_incam": camera}))
    assert any("a camera's, in which y usually points down" in note for note in only.notes)
    assert only.up is None


def test_the_longest_of_several_persons_is_taken_and_said(tmp_path):
    poses, _ = _body(40)
    rows = poses[:, :24].reshape(40, 72)
    people = {
        k: {
            "pose_world": rows[:n],
            "trans_world": np.full((n, 3), k),
            "pose": rows[:n] * 0,
            "trans": np.zeros((n, 3)),
        }
        for k, n in ((3, 20), (7, 40))
    }
    found = read(write(tmp_path / "wham.pkl", people))
    assert len(found.time) == 40
    np.testing.assert_allclose(found.positions[:, 0], 7.0, atol=1e-12)
    assert any("2 persons: 7 taken" in note for note in found.notes)
    # 3DPW: lists with one item for each person, written by Python 2.
    stream = io.BytesIO()
    lists = {
        "poses": [rows[:30], rows[:30] * 0.5],
        "trans": [np.full((30, 3), 2.0), np.full((30, 3), 4.0)],
        "betas": [np.zeros(10), np.ones(10)],
        "genders": ["m", "f"],
        "sequence": "walk",
        "cam_poses": np.tile(np.eye(4), (30, 1, 1)),
    }
    Python2Pickler(stream, 2).dump(lists)
    assert b"csingle" not in stream.getvalue()
    (tmp_path / "3dpw.pkl").write_bytes(stream.getvalue())
    found = read(tmp_path / "3dpw.pkl")
    np.testing.assert_allclose(found.positions[:, 0], 2.0, atol=1e-12)
    assert found.actor.sex == "male"


def test_translations_of_aist_are_divided_by_their_scaling(tmp_path):
    poses, _ = _body()
    content = {
        "smpl_poses": poses.reshape(30, 72),
        "smpl_trans": np.full((30, 3), 93.0),
        "smpl_scaling": np.array([93.0]),
    }
    found = read(write(tmp_path / "dance.pkl", content, 5))
    np.testing.assert_allclose(found.positions[:, 0], 1.0, atol=1e-12)
    assert np.diff(found.time) == pytest.approx(1 / 60)


def test_the_body_contradicts_the_convention_of_amass(tmp_path):
    archive = amass_archive("SMPL")
    poses = archive["poses"].reshape(30, 24, 3)
    tilt = Rotation.from_euler("x", -90, degrees=True)
    poses[:, 0] = (tilt * Rotation.from_rotvec(poses[:, 0])).as_rotvec()
    found = read(write(tmp_path / "a.npz", archive))
    assert found.up is None
    assert any("yet the trunk points along y" in doubt for doubt in found.doubts)


def spoilt(**changed):
    return {**amass_archive("SMPL"), **changed}


NAN = amass_archive("SMPL")["poses"].copy()
NAN[4, 5] = np.nan


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (spoilt(poses=np.zeros((30, 70))), "known: SMPL, SMPL-H or SMPL-X parameters"),
        (spoilt(poses=np.zeros((30, 75))), r"poses: shape \(30, 75\); allowed: .* 66, 72, 156, 165 numbers"),
        (spoilt(trans=np.zeros((29, 3))), r"trans: shape \(29, 3\); it must be \(30, 3\)"),
        (spoilt(poses=NAN), "poses: a number at frame 4 is NaN"),
        (spoilt(poses=np.full((30, 72), 40.0)), "seem to be degrees"),
        (spoilt(mocap_framerate=np.array(0.0)), "mocap_framerate: 0; allowed: one number"),
        (spoilt(poses=np.full((30, 24, 3, 3), 0.2)), "a matrix at frame 0 is not a rotation"),
        ({"dof_pos": np.zeros((5, 29)), "root_pos": np.zeros((5, 3)), "fps": 30}, "run .*--robot NAME"),
        ({"points": np.zeros((5, 3))}, r"holds points \(5, 3\); known: "),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, content, words):
    with pytest.raises(MotionError, match=words) as raised:
        read(write(tmp_path / "a.npz", content))
    assert "\n" not in str(raised.value)


def test_a_body_model_of_another_layout_is_refused(tmp_path):
    path = write(tmp_path / "a.npz", amass_archive("SMPL-H"))
    rng = np.random.default_rng(0)
    model = body_model("SMPL", rng)
    options = {"body_model": str(tmp_path / "model.npz")}
    write(tmp_path / "model.npz", model)
    with pytest.raises(MotionError):
        read(path, **options)
    lacking = {name: array for name, array in model.items() if name != "shapedirs"}
    write(tmp_path / "model.npz", lacking)
    with pytest.raises(MotionError):
        read(path, **options)
    crossed = body_model("SMPL-H", rng)
    crossed["kintree_table"][0, 20] = 3
    write(tmp_path / "model.npz", crossed)
    with pytest.raises(MotionError):
        read(path, **options)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda model: {**model, "v_template": 100 * model["v_template"]}, "m tall along y"),
        (lambda model: {**model, "v_template": model["v_template"][:, [0, 2, 1]]}, "m tall along y"),
        (lambda model: {**model, "v_template": model["v_template"][:-1]}, r"they must be \(V, 3\)"),
        (lambda model: {**model, "J_regressor": np.full((24, 6890), np.nan)}, "J_regressor has a number"),
        (lambda model: {**model, "J_regressor": np.zeros((30, 6890))}, "a body model with 30 joints"),
        (lambda model: {**model, "J_regressor": scipy.sparse.csc_matrix((24, 7))}, r"must be \(J, 6890\)"),
    ],
)
def test_a_body_model_that_cannot_be_is_refused(tmp_path, spoil, words):
    path = write(tmp_path / "a.npz", amass_archive("SMPL"))
    model = write(tmp_path / "model.pkl", spoil(body_model("SMPL", np.random.default_rng(0))))
    with pytest.raises(MotionError, match=words) as raised:
        read(path, body_model=str(model))
    assert "\n" not in str(raised.value)


def test_a_body_without_hands_takes_a_model_of_any_layout(tmp_path):
    _, body = _body()
    model = body_model("SMPL-X", np.random.default_rng(2), 20)
    found = read(
        write(tmp_path / "a.npz", {**body, "fps": 30}), body_model=str(write(tmp_path / "m.npz", model))
    )
    rest = model["J_regressor"] @ model["v_template"]
    np.testing.assert_allclose(found.offsets[18], rest[18] - rest[16], atol=1e-9)


def test_a_long_recording_leaves_out_fingers(tmp_path, monkeypatch):
    frames = 100
    monkeypatch.setattr(smpl, "MAX_POSES_WITH_FINGERS", 52 * frames - 1)
    content = {"poses": np.zeros((frames, 156), dtype=np.float32), "trans": np.zeros((frames, 3)), "fps": 120}
    found = read(write(tmp_path / "a.npz", content))
    assert len(found.names) == 22
    assert any("without fingers and face" in note for note in found.notes)


def test_retargeting_reads_the_file_and_the_body_model(tmp_path):
    archive = amass_archive("SMPL-H")
    path = write(tmp_path / "a.npz", archive)
    model = write(tmp_path / "m.npz", body_model("SMPL-H", np.random.default_rng(4), 16))
    bare, shaped = read_motion(path), read_motion(path, replace(ReadOptions(), body_model=str(model)))
    # The random poses have doubts of their own, of hands that bend too far.
    assert any("joint places approximate" in doubt for doubt in bare.doubts)
    assert not any("joint places approximate" in doubt for doubt in shaped.doubts)
    assert bare.joints["left_wrist"].shape == shaped.joints["left_wrist"].shape
