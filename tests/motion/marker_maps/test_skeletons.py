"""Skeletons: whatever the rest pose, the same posture gives the same frames."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import ARM_SEGMENTS
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.recordings import SkeletonRecording
from simbench.motion.writers import write_motion

# Our axes (forward, left, up) in those of an animation file: x left, y up, z forward.
FILE = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
CMU = {
    "Hips": None,
    "Chest": "Hips",
    "Neck": "Chest",
    **{f"{side}{joint}": parent.format(side) for side in ("Left", "Right") for joint, parent in (
        ("Shoulder", "Chest"), ("Elbow", "{}Shoulder"), ("Wrist", "{}Elbow"),
        ("Hip", "Hips"), ("Knee", "{}Hip"), ("Ankle", "{}Knee"), ("Toe", "{}Ankle"))},
    "lhand": "LeftWrist",
    "rhand": "RightWrist",
}  # fmt: skip
LAFAN1_NAMES = {"Shoulder": "Arm", "Elbow": "ForeArm", "Wrist": "Hand"}


def parts(person):
    """Positions (T, 3), rotations (T, 3, 3) from upright with hanging arms, by CMU's names."""
    joints, rotations = person.joints, person.rotations
    trunk, pelvis = rotations["trunk"], rotations["pelvis"]
    found = {
        "Hips": (joints["pelvis"], pelvis),
        "Chest": (joints["chest"], trunk),
        "Neck": (joints["chest"] + trunk @ [0, 0, 0.2], trunk),
    }
    hanging = {"Left": [[0, -1, 0], [0, 0, 1], [-1, 0, 0.0]], "Right": [[0, 1, 0], [0, 0, -1], [-1, 0, 0.0]]}
    for side, frame in hanging.items():
        for joint, segment in (("Shoulder", "upper_arm"), ("Elbow", "forearm"), ("Wrist", "hand")):
            turn = rotations[f"{side.lower()}_{segment}"] @ np.array(frame).T
            found[f"{side}{joint}"] = joints[f"{side.lower()}_{joint.lower()}"], turn
        for joint in ("Hip", "Knee", "Ankle", "Toe"):
            found[f"{side}{joint}"] = (
                joints[f"{side.lower()}_{joint.lower()}"],
                np.tile(np.eye(3), (40, 1, 1)),
            )
    return found


def cmu_parts(person):
    """As in a BVH of the database: at `Wrist`, two thirds down, the forearm twists and the hand bends."""
    found = parts(person)
    for side in ("Left", "Right"):
        (elbow, forearm), (wrist, hand) = found[f"{side}Elbow"], found[f"{side}Wrist"]
        place = elbow + (wrist - elbow) / 1.5
        found |= {f"{side}Wrist": (place, forearm), f"{side[0].lower()}hand": (place, hand)}
    return {name: found[name] for name in CMU}


def skeleton(person, rest_turns, unit="cmu", declared=None, rename=str):
    """A recording with another rest pose: limb -> rotation from arms hanging to it, in our axes."""
    found = cmu_parts(person)
    names, positions, rotations, offsets = [], [], [], []
    for name, (position, turn) in found.items():
        turn = turn @ rest_turns.get(name, np.eye(3)).T
        above = CMU[name]
        base, carrier = found[above] if above else (0 * position, np.tile(np.eye(3), (40, 1, 1)))
        carrier = carrier @ rest_turns.get(above, np.eye(3)).T
        offsets.append(np.einsum("tji,tj->ti", carrier, position - base)[0])
        names.append(rename(name))
        positions.append(position @ FILE.T / UNITS[unit])
        rotations.append(FILE @ turn @ FILE.T)
    order = list(CMU)
    return SkeletonRecording(
        time=person.time,
        names=tuple(names),
        parents=np.array([-1 if CMU[name] is None else order.index(CMU[name]) for name in CMU]),
        offsets=np.array(offsets) @ FILE.T / UNITS[unit],
        positions=np.stack(positions, axis=1),
        rotations=np.stack(rotations, axis=1),
        source="clip",
        unit=declared,
    )


def spread(side):
    """From hanging to spread arms: abduction by a right angle, which turns palms down."""
    return Rotation.from_euler("x", 90 if side == "Left" else -90, degrees=True).as_matrix()


HANGING_REST: dict[str, np.ndarray] = {}
SPREAD_REST = {f"{s}{j}": spread(s) for s in ("Left", "Right") for j in ("Shoulder", "Elbow", "Wrist")}
SPREAD_REST |= {"lhand": spread("Left"), "rhand": spread("Right")}


def check(person, motion):
    turn = person.rotations["pelvis"][0].T
    lowest = min(
        person.joints[f"{side}_{part}"][:, 2].min() for side in ("left", "right") for part in ("toe", "ankle")
    )
    origin = np.array([*person.joints["pelvis"][0, :2], lowest])
    for name in ("left_wrist", "right_elbow", "pelvis", "left_toe"):
        np.testing.assert_allclose(motion.joints[name], (person.joints[name] - origin) @ turn.T, atol=1e-9)
    for name in (*ARM_SEGMENTS, "trunk", "pelvis"):
        np.testing.assert_allclose(motion.segments[name][:, :3, :3], turn @ person.rotations[name], atol=1e-9)
    assert motion.missing == ()


@pytest.mark.parametrize("rest", [HANGING_REST, SPREAD_REST], ids=["hanging", "spread"])
def test_cmus_skeleton_in_its_unit_with_either_rest_pose(person, rest):
    motion = to_human_motion(skeleton(person, rest), ReadOptions())
    check(person, motion)
    assert "marker map: cmu" in motion.notes


def test_lafan1_whose_arms_axes_are_distal_and_away_from_the_thumb(person):
    # Arms: x distal, y away from the thumb (backward while it hangs). Body: x up, y forward, z left.
    body = FILE @ np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    arm = FILE @ np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    right = FILE @ np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    right[:, 2] = np.cross(right[:, 0], right[:, 1])
    found = parts(person)
    names = {"Hips": "Hips", "Chest": "Spine2", "Neck": "Neck"}
    for side in ("Left", "Right"):
        names |= {
            f"{side}Shoulder": f"{side}Arm",
            f"{side}Elbow": f"{side}ForeArm",
            f"{side}Wrist": f"{side}Hand",
        }
        names |= {f"{side}Ankle": f"{side}Foot", f"{side}Toe": f"{side}Toe"}
        names |= {f"{side}Hip": f"{side}UpLeg", f"{side}Knee": f"{side}Leg"}
    tracks = {new: found[old] for old, new in names.items()}
    tracks |= {extra: found["Chest"] for extra in ("Spine", "Spine1", "LeftShoulder", "RightShoulder")}
    axes = {
        name: right if name.startswith("Right") else arm if name.startswith("Left") else body
        for name in tracks
    }
    recording = SkeletonRecording(
        time=person.time,
        names=tuple(tracks),
        parents=np.array([-1] + [0] * (len(tracks) - 1)),
        offsets=np.zeros((len(tracks), 3)),
        positions=np.stack([100 * position @ FILE.T for position, _ in tracks.values()], axis=1),
        rotations=np.stack([FILE @ turn @ FILE.T @ axes[name] for name, (_, turn) in tracks.items()], axis=1),
        source="clip",
    )
    motion = to_human_motion(recording, ReadOptions())
    assert "marker map: lafan1" in motion.notes
    check(person, motion)


def test_a_unit_that_does_not_fit_the_body_is_not_the_maps(person):
    in_centimetres = skeleton(person, HANGING_REST, unit="cm")
    with pytest.raises(MotionError, match=r"lengths in cmu; .* 1\.68 m in cm: declare that unit"):
        to_human_motion(in_centimetres, ReadOptions(strict=True))
    found = to_human_motion(in_centimetres, ReadOptions())
    check(person, found)
    assert any(doubt.startswith("unit cm, in which the person is 1.68 m tall") for doubt in found.doubts)
    check(person, to_human_motion(in_centimetres, ReadOptions(unit="cm")))


@pytest.mark.parametrize("suffix", [".bvh", ".c3d"])
def test_what_simbench_exports_comes_back_in_place(tmp_path, person, make_recording, suffix):
    # A heading, a floor and a start that reading would change if it took them for a laboratory's.
    motion = to_human_motion(make_recording(person, "kim2005"), ReadOptions())
    path = tmp_path / f"wave{suffix}"
    write_motion(motion, path)
    back = read_motion(path)
    assert "marker map: simbench" in back.notes
    tolerance = 1e-7 if suffix == ".bvh" else 1e-6
    assert set(back.joints) == set(motion.joints)
    assert set(back.segments) == set(motion.segments)
    for name, track in motion.joints.items():
        np.testing.assert_allclose(back.joints[name], track, atol=tolerance)
    for name, frames in motion.segments.items():
        np.testing.assert_allclose(back.segments[name], frames, atol=10 * tolerance)
    if suffix == ".c3d":
        assert set(back.markers) == set(motion.markers)
        for name, track in motion.markers.items():
            np.testing.assert_allclose(back.markers[name], track, atol=tolerance)
