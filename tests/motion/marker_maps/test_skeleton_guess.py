"""Skeletons in the layouts of many programs against the known body that they were written from."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from skeleton_dialects import (
    FILE_AXES,
    METRES,
    SIDES,
    dialects,
    known_motion,
    places,
    rename,
    true_joint,
    without,
    write_bvh,
)

from simbench.errors import MotionError
from simbench.motion.marker_maps.map_evaluation import RecordedBody
from simbench.motion.marker_maps.map_library import find_aliases
from simbench.motion.marker_maps.skeleton_guess import SkeletonGuess
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.bvh_reader import read_bvh

BODY = known_motion()
DIALECTS = dialects()
# Joints of a person that every layout must give back; chest and neck are where the layout has them.
LIMBS = tuple(
    f"{side}_{joint}"
    for side in SIDES
    for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")
)
# What the guess calls each layout.
NAMES = {
    "mixamo": "mixamo",
    "mixamo, underscores": "mixamo",
    "character1": "MotionBuilder",
    "sim prefix": "MotionBuilder",
    "xsens": "Xsens and 100STYLE",
    "100STYLE": "Xsens and 100STYLE",
    "rokoko": "Rokoko",
    "noitom": "Noitom Axis Neuron",
    "nokov": "MotionBuilder",
    "SOMA 77": "SOMA",
    "biped": "3ds Max biped",
    "motive": "Motive",
    "bandai": "Bandai-Namco",
    "lafan1": "LAFAN1",
    "cmu": "MotionBuilder, from CMU",
    "cmu, acclaim names": "CMU, Acclaim names",
    "daz": "Daz and Poser",
    "makehuman": "MakeHuman",
    "biovision": "Biovision",
    "smpl": "SMPL",
    "smpl, lower case": "SMPL, lower case",
    "vrm": "VRM and Unity",
    "unreal": "Unreal mannequin",
    "iclone": "CC/iClone",
    "rigify": "Rigify",
    "deepmotion": "DeepMotion",
    "kinect": "Kinect",
    "mixamo, palms forward": "mixamo",
    "x up": "VRM and Unity",
    "y down": "MotionBuilder",
    "unnamed": "unknown names",
    "unnamed, hanging": "unknown names",
    "unnamed, along x": "unknown names",
}


def read(folder, dialect, body=BODY):
    path = folder / "motion.bvh"
    path.write_text(write_bvh(dialect, body), encoding="utf-8")
    return read_bvh(path, ReadOptions())


def evaluate(recording, guess, dialect):
    """The guess applied to the recording: points and frames in the world's axes, m."""
    metres, axes = METRES[dialect.unit], FILE_AXES[dialect.up]
    body = RecordedBody(
        guess.marker_map,
        {name: metres * recording.positions[:, k] for k, name in enumerate(recording.names)},
        dialect.rate,
        recording.source,
        {name: recording.rotations[:, k] for k, name in enumerate(recording.names)},
        {name: np.zeros(3) for name in recording.names},
    )
    for known, alias in find_aliases(recording.names, guess.marker_map):
        body.recorded[known] = body.recorded[alias]
    frames = {
        name: axes.T @ body.frame(name)[0]
        for name in guess.marker_map.segments
        if body.frame(name) is not None
    }
    return {name: body.point(name) @ axes for name in guess.roles}, frames


def degrees_between(one, other):
    return np.degrees(np.arccos(np.clip((one * other).sum(axis=-1), -1.0, 1.0)))


def turned(one, other):
    """Angles between rotations, degrees."""
    return np.degrees(Rotation.from_matrix(np.swapaxes(one, -1, -2) @ other).magnitude())


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_gives_back_the_body_it_was_written_from(tmp_path, name):
    dialect = DIALECTS[name]
    recording = read(tmp_path, dialect)
    guess = SkeletonGuess(recording)
    assert guess.dialect == NAMES[name]
    joints, frames = evaluate(recording, guess, dialect)
    for joint in LIMBS:
        # A leg's or an arm's joint is at its own place and at no other: left is left.
        np.testing.assert_allclose(joints[joint], true_joint(BODY, joint), atol=1e-3, err_msg=joint)
    place = dialect.joints[guess.roles["pelvis"]][0]
    np.testing.assert_allclose(joints["pelvis"], true_joint(BODY, place), atol=1e-3)
    # Front is front, up is up.
    for part in ("trunk", "pelvis"):
        assert turned(frames[part], BODY.segments[part]).max() < 3.0
    for side in SIDES:
        for part in ("upper_arm", "forearm"):
            true = BODY.segments[f"{side}_{part}"]
            assert degrees_between(frames[f"{side}_{part}"][..., 0], true[..., 0]).max() < 0.5
            assert turned(frames[f"{side}_{part}"], true).max() < 1.0
        # The direction of the fingers is a mean of those that the layout has.
        assert turned(frames[f"{side}_hand"], BODY.segments[f"{side}_hand"]).max() < 7.0


def test_the_score_says_how_much_was_known(tmp_path):
    scores = {
        name: SkeletonGuess(read(tmp_path, DIALECTS[name])).score for name in ("mixamo", "lafan1", "unnamed")
    }
    assert scores["mixamo"] == 1.0
    assert scores["mixamo"] > scores["lafan1"] > scores["unnamed"]


def test_a_t_pose_frame_is_the_reference_where_the_hierarchy_is_none(tmp_path):
    """The rest pose lies along x; the first frame is a T-pose that the motion jumps away from."""
    straight = known_motion(elbows=False)
    segments = {name: np.array(value) for name, value in straight.segments.items()}
    for side, out in (("left", 1.0), ("right", -1.0)):
        turn = Rotation.from_euler("x", out * np.pi / 2).as_matrix()
        for part in ("upper_arm", "forearm", "hand"):
            hanging = {
                "left": [[0, -1, 0], [0, 0, 1], [-1, 0, 0]],
                "right": [[0, 1, 0], [0, 0, -1], [-1, 0, 0]],
            }[side]
            segments[f"{side}_{part}"][0] = segments["trunk"][0] @ turn @ np.array(hanging, dtype=float)
        for part in ("thigh", "shank", "foot"):
            segments[f"{side}_{part}"][0] = segments["pelvis"][0]
    segments["trunk"][0] = segments["pelvis"][0]
    dialect = DIALECTS["lafan1"]
    body = replace(straight, segments=segments)
    recording = read(tmp_path, dialect, body)
    guess = SkeletonGuess(recording)
    assert guess.posture.startswith("T-pose in ")
    _, frames = evaluate(recording, guess, dialect)
    # The arms never bend, so that only the posture says where the thumbs are.
    start = len(body.time) - len(recording.time)
    for side in SIDES:
        assert turned(frames[f"{side}_upper_arm"], segments[f"{side}_upper_arm"][start:]).max() < 10.0


def test_arms_turned_in_the_rest_pose_are_found_by_the_elbows_and_doubted(tmp_path):
    """A T-pose whose arms are rotated by a quarter turn at the shoulder, and no finger tells it."""
    dialect = replace(DIALECTS["vrm"], rest="T arms turned")
    recording = read(tmp_path, dialect)
    guess = SkeletonGuess(recording)
    assert any("the elbow bends 90°" in doubt for doubt in guess.doubts)
    _, frames = evaluate(recording, guess, dialect)
    for side in SIDES:
        for part in ("upper_arm", "forearm", "hand"):
            assert turned(frames[f"{side}_{part}"], BODY.segments[f"{side}_{part}"]).max() < 2.0


def exchange(name, one, other):
    return name.replace(one, "\0").replace(other, one).replace("\0", other)


@pytest.mark.parametrize("name", ["mixamo", "vrm", "lafan1", "biovision", "biped"])
def test_swapped_sides_are_told(tmp_path, name):
    def other_side(joint):
        return exchange(exchange(joint, "Left", "Right"), " L ", " R ")

    guess = SkeletonGuess(read(tmp_path, rename(DIALECTS[name], other_side)))
    assert any("left and right are swapped" in doubt for doubt in guess.doubts)
    assert guess.score < 0.7


@pytest.mark.parametrize("name", ["mixamo", "unreal", "lafan1"])
def test_mirrored_axes_are_told(tmp_path, name):
    """All positions and rotations reflected at the plane x = 0: no rotation gives that back."""
    recording = read(tmp_path, DIALECTS[name])
    mirror = np.diag([-1.0, 1.0, 1.0])
    guess = SkeletonGuess(
        replace(
            recording,
            offsets=recording.offsets @ mirror,
            positions=recording.positions @ mirror,
            rotations=mirror @ recording.rotations @ mirror,
        )
    )
    assert any("the axes are mirrored" in doubt for doubt in guess.doubts)


@pytest.mark.parametrize("joint", ["LeftHand", "RightLowerArm", "LeftLowerLeg", "RightFoot"])
@pytest.mark.parametrize("factor", [1.6, 0.6])
def test_a_bone_of_another_length_is_doubted(tmp_path, joint, factor):
    guess = SkeletonGuess(read(tmp_path, replace(DIALECTS["vrm"], spoil={joint: factor})))
    # One that no person's limb has is left out.
    assert any("of the right one" in doubt or "limb's lengths" in doubt for doubt in guess.doubts)
    assert guess.score < 0.95


@pytest.mark.parametrize(
    ("one", "other"),
    [("LeftLowerArm", "LeftHand"), ("LeftLowerLeg", "LeftFoot"), ("RightUpperArm", "RightHand")],
)
def test_joints_named_as_others_are_read_by_the_geometry_and_doubted(tmp_path, one, other):
    dialect = rename(DIALECTS["vrm"], lambda joint: exchange(joint, one, other))
    recording = read(tmp_path, dialect)
    guess = SkeletonGuess(recording)
    assert any("have no limb's lengths" in doubt for doubt in guess.doubts)
    joints, _ = evaluate(recording, guess, dialect)
    for joint in set(LIMBS) & set(joints):
        np.testing.assert_allclose(joints[joint], true_joint(BODY, joint), atol=1e-3, err_msg=joint)


def test_a_name_that_the_map_itself_uses_may_mean_another_joint(tmp_path):
    """A file whose `left_elbow` is the wrist, and the reverse."""
    dialect = rename(DIALECTS["smpl, lower case"], lambda joint: exchange(joint, "left_elbow", "left_wrist"))
    recording = read(tmp_path, dialect)
    guess = SkeletonGuess(recording)
    assert guess.doubts
    joints, _ = evaluate(recording, guess, dialect)
    for joint in set(LIMBS) & set(joints):
        np.testing.assert_allclose(joints[joint], true_joint(BODY, joint), atol=1e-3, err_msg=joint)


def test_arms_named_as_legs_are_read_by_the_geometry_and_doubted(tmp_path):
    def change(joint):
        for pair in (("UpperArm", "UpperLeg"), ("LowerArm", "LowerLeg"), ("Hand", "Foot")):
            joint = exchange(joint, *pair)
        return joint

    dialect = rename(DIALECTS["vrm"], change)
    recording = read(tmp_path, dialect)
    guess = SkeletonGuess(recording)
    assert any("contradict the bones' lengths" in doubt for doubt in guess.doubts)
    joints, _ = evaluate(recording, guess, dialect)
    for joint in LIMBS:
        np.testing.assert_allclose(joints[joint], true_joint(BODY, joint), atol=1e-3, err_msg=joint)


@pytest.mark.parametrize(
    ("joint", "limb"),
    [("LeftLowerArm", "left_elbow"), ("RightHand", "right_wrist"), ("RightLowerLeg", "right_knee")],
)
def test_a_dropped_joint_leaves_its_limb_out(tmp_path, joint, limb):
    guess = SkeletonGuess(read(tmp_path, without(DIALECTS["vrm"], joint)))
    assert limb in guess.missing
    assert guess.doubts


@pytest.mark.parametrize("joint", ["Spine", "Neck", "LeftShoulder", "RightToes"])
def test_a_joint_that_no_limb_needs_may_be_missing(tmp_path, joint):
    guess = SkeletonGuess(read(tmp_path, without(DIALECTS["vrm"], joint)))
    whole = SkeletonGuess(read(tmp_path, DIALECTS["vrm"]))
    limbs = [name for name in LIMBS if not name.endswith("toe")]
    assert {name: guess.roles[name] for name in limbs} == {name: whole.roles[name] for name in limbs}


def animal_bvh(names):
    """A four-legged animal: trunk along z, four legs down along y, neck, head and tail; it walks."""

    def limb(parts, offset):
        x, z = offset
        offsets = [(x, 0.0, z), (0.0, -30.0, 2.0), (0.0, -30.0, -2.0), (0.0, -2.0, 6.0)]
        lines = []
        for part, (a, b, c) in zip(parts, offsets, strict=True):
            lines += [f"JOINT {part}", "{", f"OFFSET {a} {b} {c}", "CHANNELS 3 Zrotation Xrotation Yrotation"]
        return [*lines, "End Site", "{", "OFFSET 0 0 4", "}", *["}"] * len(parts)]

    lines = [
        "HIERARCHY",
        f"ROOT {names['root']}",
        "{",
        "OFFSET 0 0 0",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
    ]
    for side, x in (("left", 10.0), ("right", -10.0)):
        lines += limb(names[f"{side} hind"], (x, 0.0))
    lines += [f"JOINT {names['chest']}", "{", "OFFSET 0 5 60", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    for side, x in (("left", 9.0), ("right", -9.0)):
        lines += limb(names[f"{side} front"], (x, 0.0))
    lines += [f"JOINT {names['head']}", "{", "OFFSET 0 25 25", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    lines += ["End Site", "{", "OFFSET 0 0 20", "}", "}", "}", "}"]
    phase = np.linspace(0.0, 6.0, 40)
    rows = []
    for t in phase:
        legs = [30.0 * np.sin(t), 20.0 * (1.0 + np.cos(t))]
        row = [0.0, 60.0, 10.0 * t, 0.0, 0.0, 0.0]
        leg = [0.0, legs[0], 0.0, 0.0, legs[1], 0.0, 0.0, 5.0 * np.cos(t), 0.0, 0.0, 0.0, 0.0]
        row += leg + leg + [0.0, 2.0, 0.0] + leg + leg + [0.0, 5.0 * np.sin(t), 0.0]
        rows.append(" ".join(f"{value:.6f}" for value in row))
    return "\n".join([*lines, "MOTION", f"Frames: {len(rows)}", "Frame Time: 0.033", *rows]) + "\n"


PEOPLES_NAMES = {
    "root": "Hips",
    "chest": "Chest",
    "head": "Head",
    **{f"{s} hind": [f"{s.capitalize()}{p}" for p in ("UpLeg", "Leg", "Foot", "ToeBase")] for s in SIDES},
    **{f"{s} front": [f"{s.capitalize()}{p}" for p in ("Arm", "ForeArm", "Hand", "Finger")] for s in SIDES},
}
NO_NAMES = {
    "root": "j0",
    "chest": "j9",
    "head": "j30",
    **{f"{s} hind": [f"j{10 * k + m}" for m in range(1, 5)] for k, s in enumerate(SIDES)},
    **{f"{s} front": [f"j{10 * k + m}" for m in range(41, 45)] for k, s in enumerate(SIDES)},
}


@pytest.mark.parametrize("names", [PEOPLES_NAMES, NO_NAMES])
def test_an_animal_is_no_person(tmp_path, names):
    path = tmp_path / "elephant.bvh"
    path.write_text(animal_bvh(names), encoding="utf-8")
    with pytest.raises(MotionError, match=r"elephant\.bvh: no human skeleton: .*legs") as caught:
        SkeletonGuess(read_bvh(path, ReadOptions()))
    assert "\n" not in str(caught.value)


def test_a_hand_and_a_chain_are_no_person(tmp_path):
    body, dialect = BODY, DIALECTS["mixamo"]
    hand = {
        name: (place, None if name.endswith("LeftHand") else parent)
        for name, (place, parent) in dialect.joints.items()
        if "LeftHand" in name
    }
    chain = {
        f"link{k}": (place, f"link{k - 1}" if k else None)
        for k, place in enumerate(("pelvis", "spine", "chest", "neck", "head"))
    }
    for joints in (hand, chain):
        recording = read(tmp_path, replace(dialect, joints=joints), body)
        with pytest.raises(MotionError):
            SkeletonGuess(recording)


@pytest.mark.parametrize("name", ["mixamo", "biped", "100STYLE", "unreal", "y down"])
def test_a_skeleton_without_arms_is_a_motion_of_legs(tmp_path, name):
    dialect, joints = DIALECTS[name], {}
    for one, (place, parent) in dialect.joints.items():
        arm = any(word in place for word in ("clavicle", "shoulder", "elbow", "wrist"))
        if not arm and (parent is None or parent in joints):
            joints[one] = place, parent
    read(tmp_path, replace(dialect, joints=joints))
    motion = read_motion(tmp_path / "motion.bvh")
    assert {"left_shoulder", "right_hand", "trunk"} <= {*motion.missing}
    assert any("no arm was recorded" in doubt for doubt in motion.doubts)
    for bone in (("hip", "knee"), ("knee", "ankle")):
        for side in SIDES:
            start, end = (motion.joints[f"{side}_{part}"] for part in bone)
            true = np.subtract(*(true_joint(BODY, f"{side}_{part}") for part in bone))
            length = np.linalg.norm(end - start, axis=1)
            np.testing.assert_allclose(length, np.linalg.norm(true, axis=1), atol=1e-3)
    across = motion.joints["left_hip"] - motion.joints["right_hip"]
    assert (
        np.einsum("ti,ti->t", across, motion.segments["pelvis"][:, :3, 1])
        > 0.9 * np.linalg.norm(across, axis=1)
    ).all()
    assert (motion.segments["pelvis"][:, 2, 2] > 0.7).all()


def test_a_bone_longer_than_a_forearm_is_no_hand(tmp_path):
    dialect = DIALECTS["100STYLE"]
    recording = read(tmp_path, dialect)
    wrists = [k for k, name in enumerate(recording.names) if "Wrist" in name]
    ends = [k for k, parent in enumerate(recording.parents) if parent in wrists]
    assert len(ends) == 2
    offsets, positions = recording.offsets.copy(), recording.positions.copy()
    for end in ends:
        wrist = recording.parents[end]
        offsets[end] = 12.0 * np.array([offsets[end][1], offsets[end][2], offsets[end][0]])
        positions[:, end] = positions[:, wrist] + recording.rotations[:, wrist] @ offsets[end]
    far = SkeletonGuess(replace(recording, offsets=offsets, positions=positions))
    _, frames = evaluate(recording, far, dialect)
    for side in SIDES:
        assert turned(frames[f"{side}_hand"], BODY.segments[f"{side}_hand"]).max() < 30.0


def test_twist_joints_fingers_and_helpers_take_no_role(tmp_path):
    for name in ("unreal", "iclone", "makehuman", "cmu", "SOMA 77"):
        guess = SkeletonGuess(read(tmp_path, DIALECTS[name]))
        used = set(guess.roles.values())
        places_used = {DIALECTS[name].joints[joint][0] for joint in used}
        assert not any(
            word in place for place in places_used for word in ("twist", "thumb", "index", "helper", "eye")
        )
        assert places_used <= set(places())


def test_limbs_that_no_joint_connects_are_refused(tmp_path):
    path = tmp_path / "body.bvh"
    path.write_text(write_bvh(DIALECTS["mixamo"], BODY))
    recording = read_bvh(path, ReadOptions())
    parents = recording.parents.copy()
    for name in ("LeftShoulder", "RightShoulder"):
        parents[next(k for k, each in enumerate(recording.names) if each.endswith(name))] = -1
    with pytest.raises(
        MotionError, match=r"the limbs hang on 3 roots \(.*LeftShoulder, .*RightShoulder, .*Hips\)"
    ):
        SkeletonGuess(replace(recording, parents=parents))
